//! What agents note, each in files of its own, so that it can go on after it was killed, and that others can
//! hold together what all of them did and saw.
//!
//! `acts-N` has a line for what agent N is about to write, and one for what it was answered; `seen-N` has each commit
//! that it was sent by a subscription; `asked-N` has what it was told of conflicts in the end. Agents in other
//! languages note the same.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use amem_client::{Timestamp, v1};
use v1::change::Change as Of;

/// What the last event says, which others than the agents write.
pub const THE_END: &str = "the end";
/// What the text of an event ends with that several agents are to correct.
pub const MEET: &str = " to be met";

/// A file of an agent's.
pub fn file(folder: &Path, what: &str, number: usize) -> PathBuf {
    folder.join(format!("{what}-{number}"))
}

/// The name that an agent says it has.
pub fn name(number: usize) -> String {
    format!("agent-{number}")
}

/// True if agent `number` is one of the four that correct this event, which was made to be met.
pub fn meets(number: usize, event: u64) -> bool {
    number as u64 % 4 == event % 4
}

/// What an agent writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verb {
    /// A new event.
    Add,
    /// What replaces an event, also where another agent has replaced it.
    Correct(u64),
    /// What replaces an event that nothing has replaced; it is refused otherwise.
    Careful(u64),
    /// What replaces all heads of a contested belief.
    Settle(Vec<u64>),
    /// An edge: where it starts, its type, where it ends.
    Link(u64, v1::EdgeType, u64),
}

/// A request of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    /// Its request id.
    pub id: String,
    /// The session that it is written in.
    pub session: u32,
    /// What is to be done.
    pub verb: Verb,
    /// What it says; of an edge, nothing.
    pub text: String,
}

/// What became of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ActOutcome {
    /// The event that it made; 0 of an edge. None if it was not answered, or refused.
    pub answer: Option<u64>,
    /// Why it was refused.
    pub refused: Option<String>,
    /// How often it was begun again and answered so once more.
    pub again: usize,
}

impl Act {
    /// The line that is noted before it is begun.
    pub fn begun(&self) -> String {
        let (verb, ends) = match &self.verb {
            Verb::Add => ("add", String::new()),
            Verb::Correct(target) => ("correct", target.to_string()),
            Verb::Careful(target) => ("careful", target.to_string()),
            Verb::Settle(heads) => {
                let heads: Vec<String> = heads.iter().map(u64::to_string).collect();
                ("settle", heads.join(","))
            }
            Verb::Link(source, edge_type, target) => (
                "link",
                format!(
                    "{source},{},{target}",
                    word(edge_type.as_str_name(), "EDGE_TYPE_")
                ),
            ),
        };
        format!(
            "begin\t{}\t{}\t{verb}\t{ends}\t{}",
            self.id, self.session, self.text
        )
    }

    fn read(parts: &[&str]) -> Option<Self> {
        let [id, session, verb, ends, text] = parts else {
            return None;
        };
        let ids = || {
            ends.split(',')
                .map(|id| id.parse().ok())
                .collect::<Option<Vec<u64>>>()
        };
        let verb = match *verb {
            "add" => Verb::Add,
            "correct" => Verb::Correct(ends.parse().ok()?),
            "careful" => Verb::Careful(ends.parse().ok()?),
            "settle" => Verb::Settle(ids()?),
            "link" => {
                let mut ends = ends.split(',');
                let (source, named, target) = (ends.next()?, ends.next()?, ends.next()?);
                let named = format!("EDGE_TYPE_{}", named.replace('-', "_").to_uppercase());
                Verb::Link(
                    source.parse().ok()?,
                    v1::EdgeType::from_str_name(&named)?,
                    target.parse().ok()?,
                )
            }
            _ => return None,
        };
        Some(Self {
            id: (*id).to_owned(),
            session: session.parse().ok()?,
            verb,
            text: (*text).to_owned(),
        })
    }
}

/// What an agent's `acts` tell, in the order in which it began them.
///
/// # Errors
/// The line that says nothing, or something that can't be.
pub fn acts(noted: &str) -> Result<Vec<(Act, ActOutcome)>, String> {
    let mut acts: Vec<(Act, ActOutcome)> = Vec::new();
    for line in noted.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let wrong = || format!("{line:?} after {:?}", acts.last());
        match parts[..] {
            ["begin", ref rest @ ..] => {
                acts.push((Act::read(rest).ok_or_else(wrong)?, ActOutcome::default()))
            }
            [what, id, told] => {
                let answer = || told.parse().map_err(|_| format!("{line:?}: no number"));
                let (_, fate) = acts
                    .last_mut()
                    .filter(|(act, _)| act.id == id)
                    .ok_or(format!("{line:?}: unknown"))?;
                match (what, fate.answer) {
                    ("done", None) => fate.answer = Some(answer()?),
                    ("again", Some(first)) if first == answer()? => fate.again += 1,
                    ("refused", None) => fate.refused = Some(told.to_owned()),
                    _ => return Err(format!("{line:?} after {fate:?}")),
                }
            }
            _ => return Err(wrong()),
        }
    }
    Ok(acts)
}

/// A commit as a line of `seen`, all but the delay that it came with: LSN, time, kind, agent, principal, what it holds.
pub fn line(commit: &v1::SubscribeResponse) -> String {
    let moment = commit.moment.clone().unwrap_or_default();
    let holds: Vec<String> = commit
        .changes
        .iter()
        .filter_map(|change| change.change.as_ref())
        .map(holds)
        .collect();
    format!(
        "{}\t{}\t{}\t{}\t{}\t{}",
        moment.lsn,
        micros(moment.time),
        word(commit.kind().as_str_name(), "COMMIT_KIND_"),
        commit.agent,
        commit.principal,
        holds.join(" | ")
    )
}

/// Microseconds since 1970.
pub fn micros(time: Option<Timestamp>) -> i64 {
    time.map_or(0, |time| {
        time.seconds * 1_000_000 + i64::from(time.nanos) / 1000
    })
}

fn holds(change: &Of) -> String {
    match change {
        Of::Event(event) => {
            let kind = word(event.r#type().as_str_name(), "EVENT_TYPE_");
            format!(
                "event {} {kind} {} {}",
                event.id, event.session_id, event.text
            )
        }
        Of::Edge(edge) => {
            let kind = word(edge.r#type().as_str_name(), "EDGE_TYPE_");
            format!(
                "edge {} {kind} {} {:.3}",
                edge.source, edge.target, edge.weight
            )
        }
        Of::Belief(belief) => format!("belief {} {:.3}", belief.event_id, belief.confidence),
        Of::Touch(touch) => touch
            .touched
            .iter()
            .fold("touch".to_owned(), |mut said, used| {
                let _ = write!(said, " {}x{}", used.event_id, used.count);
                said
            }),
        Of::SessionOpened(opened) => format!("session-opened {} {}", opened.session_id, opened.key),
        Of::SessionClosed(closed) => {
            format!("session-closed {} {}", closed.session_id, closed.outcome)
        }
        _ => "other".to_owned(),
    }
}

/// The name of an enum's value, as people say it.
fn word(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix)
        .unwrap_or(name)
        .to_lowercase()
        .replace('_', "-")
}

/// The line of a conflict in `asked`.
pub fn conflict(conflict: &v1::Conflict) -> String {
    use v1::conflict::Conflict;
    let id = |event: &Option<v1::Event>| event.as_ref().map_or(u64::MAX, |event| event.id);
    match &conflict.conflict {
        Some(Conflict::Contested(of)) => {
            let heads: Vec<u64> = of.heads.iter().map(|head| head.id).collect();
            format!("contested {} {heads:?}", id(&of.belief))
        }
        Some(Conflict::Contradiction(of)) => {
            format!("contradiction {} {}", id(&of.source), id(&of.target))
        }
        None => "nothing".to_owned(),
    }
}
