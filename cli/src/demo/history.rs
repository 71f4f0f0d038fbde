//! Who made an event, and who changed how far it is believed: from the brain's file alone.

use amem_format::base::history::Before;
use amem_format::base_builder::changes_of;
use amem_format::journal::op::{Commit, Op};
use amem_format::view::View;
use amem_format::{Lsn, NodeId};
use amem_query::time::display;

use super::stage::{DemoError, Result};

/// A commit, as people read it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Act {
    /// Its number.
    pub(super) lsn: u64,
    /// The agent that asked for it.
    pub(super) agent: String,
    /// `15:04:05 UTC, by AGENT (USER), in commit LSN`.
    pub(super) told: String,
}

/// A change of an event's confidence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Doubt {
    /// Who changed it, and when.
    pub(super) act: Act,
    /// The confidence before.
    pub(super) before: f32,
}

/// The commit that made an event. The daemon still holds every commit of a brain as young as ours.
pub(super) fn made(view: &View, event: NodeId) -> Result<Act> {
    let mut lsn = Lsn(0);
    while let Some(committed) = view.commit_after(lsn)? {
        lsn = committed.commit.lsn;
        for op in committed.ops() {
            if matches!(op?, Op::Event(node) if node.id == event) {
                return act(view, &committed.commit);
            }
        }
    }
    Err(DemoError::Wrong(format!(
        "the file has the commit of event {event}"
    )))
}

/// Every change of an event's confidence, the oldest first.
pub(super) fn doubts(view: &View, event: NodeId) -> Result<Vec<Doubt>> {
    let mut doubts = Vec::new();
    for change in changes_of(view, event)? {
        let change = change?;
        let Before::Confidence(before) = change.before else {
            continue;
        };
        let actor = view.actor(change.actor)?;
        doubts.push(Doubt {
            act: told(change.lsn, change.time, actor.agent, actor.principal),
            before,
        });
    }
    Ok(doubts)
}

fn act(view: &View, commit: &Commit) -> Result<Act> {
    let actor = view.actor(commit.actor)?;
    Ok(told(commit.lsn, commit.time, actor.agent, actor.principal))
}

fn told(lsn: Lsn, time: amem_format::Micros, agent: &str, principal: &str) -> Act {
    let time = display(time).to_string();
    // `2026-05-04T15:04:05.123456Z`: the day is today.
    let time = time.get(11..19).unwrap_or(&time);
    Act {
        lsn: lsn.0,
        agent: agent.to_owned(),
        told: format!("by {agent} ({principal}) at {time} UTC, commit {lsn}"),
    }
}
