//! Automatic summaries of sessions that ended a while ago.
//!
//! A session of many events is summarised a portion at a time: the first one makes the episode, further ones join it.
//! Promises: what an earlier run left undone when the daemon ended joins the episode that was made for it.

use std::fmt;
use std::sync::Arc;

use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, Micros, NodeId, SessionId};
use amem_store::mutation::{Episode, Part};
use amem_store::{Error as StoreError, Mutation};

use super::report;
use super::requests::{PRINCIPAL, commit, request};
use crate::blocking_pool::{BlockingPool, CallerPool};
use crate::error::{Error, Result};
use crate::limits::{COMPRESSED_MIN, SUMMARY_PORTION};
use crate::open_brain::OpenBrain;

/// Makes the summary of what no episode of a session covers, on a thread that may wait; nothing if there is no
/// sentence.
pub(super) type SummaryText =
    dyn Fn(&View, SessionId) -> amem_format::Result<Option<String>> + Send + Sync;

/// What makes summaries, and the threads on which it may wait: a model may take minutes, and nothing else must.
#[derive(Clone)]
pub(super) struct Summaries {
    pub(super) text: Arc<SummaryText>,
    pub(super) pool: BlockingPool,
}

impl fmt::Debug for Summaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summaries").finish_non_exhaustive()
    }
}

/// What to do about a session.
#[derive(Debug)]
struct SummaryPlan {
    /// An episode, and events that it summarises and that have not joined it yet.
    left: Option<(NodeId, Vec<NodeId>)>,
    /// A new summary, and the events that it summarises.
    new: Option<(String, Vec<NodeId>)>,
}

/// Summarises sessions that ended a while ago.
pub(super) async fn compress(
    brain: &Arc<OpenBrain>,
    scans: CallerPool<'_>,
    now: Micros,
    summaries: &Summaries,
) -> Result<Option<String>> {
    let view = brain.view();
    let seconds = view.settings()?.jobs.compress_after_seconds()?;
    let before = Micros(now.0.saturating_sub(seconds as i64 * 1_000_000));
    let ended = scans.run(move || ended(&view, before)).await??;
    let (mut sessions, mut events) = (0, 0);
    for session in ended {
        let view = brain.view();
        let text = summaries.text.clone();
        let pool = summaries.pool.of(PRINCIPAL);
        let due = pool.run(move || due(&view, session, &*text)).await??;
        let mut covered = 0;
        if let Some((episode, members)) = due.left {
            covered += cover(brain, session, Episode::At(episode), &members).await?;
        }
        if let Some((text, members)) = due.new {
            covered += match cover(brain, session, Episode::New(text), &members).await {
                // A text of it was erased meanwhile: the next run makes another summary.
                Err(Error::Store(error)) if matches!(*error, StoreError::Aborted { .. }) => 0,
                covered => covered?,
            };
        }
        sessions += u64::from(covered > 0);
        events += covered;
    }
    Ok(report::summarised(sessions, events))
}

/// Makes events part of an episode, in portions, so that other requests have their turn.
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
        let mut request = request(Mutation::CompressPart(part), "compression");
        if matches!(episode, Episode::New(_)) {
            request.unless_erased = members.to_vec();
        }
        let answer = commit(brain, request).await?.answer;
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

/// The events of a session that no summary covers, by what to do about them.
#[derive(Debug, Default)]
struct UncoveredEvents {
    left: Option<(NodeId, Vec<NodeId>)>,
    new: Vec<NodeId>,
}

impl UncoveredEvents {
    fn is_empty(&self) -> bool {
        self.left.is_none() && self.new.len() < COMPRESSED_MIN
    }
}

fn look(view: &View, session: SessionId) -> Result<UncoveredEvents> {
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
    // An earlier run has rarely left something.
    let begun = match (episodes.last(), open.last()) {
        (Some(&newest), Some(_)) if compressed => last_covered(view, newest)?.zip(Some(newest)),
        _ => None,
    };
    let Some((covered, episode)) = begun else {
        return Ok(UncoveredEvents {
            left: None,
            new: open,
        });
    };
    // Portions come in order: what lies between the last event that is covered and the episode was meant by it. What
    // lies before was hidden when the episode was made, and was shown again since.
    let (left, new): (Vec<_>, Vec<_>) = open
        .into_iter()
        .partition(|&id| id > covered && id < episode);
    Ok(UncoveredEvents {
        left: (!left.is_empty()).then_some((episode, left)),
        new,
    })
}

/// The last event that left default listings for an episode; none if the episode was written directly.
fn last_covered(view: &View, episode: NodeId) -> Result<Option<NodeId>> {
    let mut last = None;
    for edge in view.edges_of(episode, Direction::Incoming)?.iter() {
        if edge.edge_type == EdgeType::PART_OF && view.node(edge.other)?.is_compressed() {
            last = last.max(Some(edge.other));
        }
    }
    Ok(last)
}

fn due(view: &View, session: SessionId, text: &SummaryText) -> Result<SummaryPlan> {
    let open = look(view, session)?;
    let text = if open.new.len() >= COMPRESSED_MIN {
        text(view, session)?
    } else {
        None
    };
    Ok(SummaryPlan {
        left: open.left,
        new: text.map(|text| (text, open.new)),
    })
}
