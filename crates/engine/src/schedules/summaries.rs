//! Summaries of sessions that ended a while ago, by themselves.
//!
//! A session of many events is summarised a portion at a time: the first one makes the episode, further ones join it.
//! Promises: what an earlier run has left undone, as the daemon ended, is joined to the episode that was made for it.

use std::sync::Arc;

use amem_format::summary::{SUMMARY_BYTES, summary};
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, Micros, NodeId, SessionId};
use amem_store::Mutation;
use amem_store::mutation::{Episode, Part};

use super::told;
use super::work::{request, write};
use crate::heavy::HeavyOf;
use crate::limits::{COMPRESSED_MIN, SUMMARY_PORTION};
use crate::open_brain::OpenBrain;
use crate::refusal::Result;

/// What is to be done about a session.
#[derive(Debug)]
struct Due {
    /// Events whose summary was made, and that were not joined to it.
    left: Option<(NodeId, Vec<NodeId>)>,
    /// A summary of what has none, and what it is of.
    new: Option<(String, Vec<NodeId>)>,
}

/// Summarises sessions that ended a while ago.
pub(super) async fn compress(
    brain: &Arc<OpenBrain>,
    scans: HeavyOf<'_>,
    now: Micros,
) -> Result<Option<String>> {
    let view = brain.view();
    let seconds = view.settings()?.jobs.compress_after_seconds()?;
    let before = Micros(now.0.saturating_sub(seconds as i64 * 1_000_000));
    let ended = scans.run(move || ended(&view, before)).await?;
    let (mut sessions, mut events) = (0, 0);
    for session in ended {
        let view = brain.view();
        let due = scans.run(move || due(&view, session)).await?;
        let mut covered = 0;
        if let Some((episode, members)) = due.left {
            covered += cover(brain, session, Episode::At(episode), &members).await?;
        }
        if let Some((text, members)) = due.new {
            covered += cover(brain, session, Episode::New(text), &members).await?;
        }
        sessions += u64::from(covered > 0);
        events += covered;
    }
    Ok(told::summarised(sessions, events))
}

/// Has events be part of an episode, in portions: between two of them others have their turn.
async fn cover(
    brain: &OpenBrain,
    session: SessionId,
    mut episode: Episode,
    members: &[NodeId],
) -> Result<u64> {
    let mut covered = 0;
    for portion in members.chunks(SUMMARY_PORTION) {
        let part = Part {
            session,
            episode: episode.clone(),
            events: portion.to_vec(),
        };
        let request = request(Mutation::CompressPart(part), "compression");
        let answer = write(brain, request).await?.answer;
        covered += answer.edges;
        if let Some(&made) = answer.ids.first() {
            episode = Episode::At(made);
        }
    }
    Ok(covered)
}

/// Sessions that ended a while ago, with events that nothing summarises.
fn ended(view: &View, before: Micros) -> Result<Vec<SessionId>> {
    let mut found = Vec::new();
    for session in view.sessions()? {
        let has_ended = session.closed.is_some_and(|closed| closed <= before);
        if has_ended && !look(view, session.id)?.is_empty() {
            found.push(session.id);
        }
    }
    Ok(found)
}

/// The events of a session that no summary covers, by what is to be done.
#[derive(Debug, Default)]
struct Open {
    left: Option<(NodeId, Vec<NodeId>)>,
    new: Vec<NodeId>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.left.is_none() && self.new.len() < COMPRESSED_MIN
    }
}

fn look(view: &View, session: SessionId) -> Result<Open> {
    let mut open = Vec::new();
    let mut episodes = Vec::new();
    let mut compressed = false;
    for id in view.of_session(session)?.iter() {
        let node = view.node(id)?;
        if node.is_forgotten() {
            continue;
        }
        if node.event_type() == EventType::EPISODE {
            episodes.push(id);
        } else if node.is_compressed() {
            compressed = true;
        } else {
            open.push(id);
        }
    }
    // Mostly there is nothing that was begun.
    let begun = match (episodes.last(), open.last()) {
        (Some(&newest), Some(_)) if compressed => last_covered(view, newest)?.zip(Some(newest)),
        _ => None,
    };
    let Some((covered, episode)) = begun else {
        return Ok(Open {
            left: None,
            new: open,
        });
    };
    // Portions come in order: what lies between the last event that is covered and the episode was meant by it. What
    // lies before was hidden when the episode was made, and was shown again since.
    let (left, new): (Vec<_>, Vec<_>) = open
        .into_iter()
        .partition(|&id| id > covered && id < episode);
    Ok(Open {
        left: (!left.is_empty()).then_some((episode, left)),
        new,
    })
}

/// The last event that left default listings for an episode; none if it is one that somebody wrote down.
fn last_covered(view: &View, episode: NodeId) -> Result<Option<NodeId>> {
    let mut last = None;
    for tie in view.ties(episode, Direction::Incoming)?.iter() {
        if tie.edge_type == EdgeType::PART_OF && view.node(tie.other)?.is_compressed() {
            last = last.max(Some(tie.other));
        }
    }
    Ok(last)
}

fn due(view: &View, session: SessionId) -> Result<Due> {
    let open = look(view, session)?;
    let text = match open.new.len() >= COMPRESSED_MIN {
        true => summary(view, session, SUMMARY_BYTES)?,
        false => None,
    };
    Ok(Due {
        left: open.left,
        new: text.map(|text| (text, open.new)),
    })
}
