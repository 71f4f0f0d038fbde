//! What another brain has and this one has not: events, edges, changes, uses, sessions.
//!
//! The rules, which leave both sides the same once each has taken what the other has:
//! - an event that is new here keeps its type, text, confidence, attributes, flags and uses; it is recorded now,
//!   happened
//!   when it did, and says where it comes from (`ORIGIN`);
//! - edges are united; one that was retracted after it was last set on the other side is retracted;
//! - of attributes, vectors, decay rates, being pinned or forgotten, what was set later is kept, and of what was set at
//!   the same time the greater; what is compressed or erased on one side stays so there, and compressed is compressed
//!   here, too;
//! - uses: the larger count, the later time;
//! - a session that is closed on one side is closed; of two outcomes the one that was set later is kept;
//! - both corrections of a belief stay, and it is contested; confidences follow from all that replaces them.

mod beliefs;
mod cycles;
mod edges;
mod events;
mod sessions;

use std::collections::HashMap;
use std::sync::Arc;

use amem_format::journal::op::Op;
use amem_format::view::View;
use amem_format::{Flags, NodeId, SessionId};

use super::Planning;
use crate::error::{Error, Result};
use crate::merge::changes::Changes;
use crate::merge::matching::Matching;
use crate::merge::room::{Room, entries};
use crate::merge::{Merged, Other};

/// Bytes of a new event beside its operation: what the brain holds of it until the next checkpoint.
const NEW_EVENT: u64 = 512;
/// The same of a new edge.
const NEW_EDGE: u64 = 256;
/// Bytes of the operation that changes a belief.
const BELIEF_OP: u64 = 32;

/// A merge being planned.
struct Merging<'p, 'v> {
    plan: &'p mut Planning<'v>,
    other: &'v View,
    /// Both descend from one brain, so what they recorded at one moment was recorded once.
    is_one_lineage: bool,
    matching: Matching,
    ours: Changes,
    theirs: Changes,
    sessions: HashMap<SessionId, SessionId>,
    /// Sessions that this merge opens.
    opened: u32,
    /// Bytes of memory that it may take.
    room: Room,
    /// Bytes of its commit.
    commit_bytes_max: u64,
    /// The other's ids of the events that are new here, in the order of the ids that they get.
    new: Vec<NodeId>,
    /// Supersedes edges that are new or have another weight, by target; no weight: retracted.
    replaced_by: HashMap<NodeId, Vec<(NodeId, Option<f32>)>>,
    /// What events here are from now on.
    beliefs: HashMap<NodeId, Belief>,
    merged: Merged,
}

#[derive(Clone, Copy)]
struct Belief {
    confidence: f32,
    flags: Flags,
    lambda: f32,
}

impl<'v> Planning<'v> {
    pub(super) fn merge(&mut self, other: &'v Other) -> Result<()> {
        let (view, commit_bytes_max) = (self.view, other.commit_bytes_max);
        let mut room = Room::new(other.bytes_max);
        let other = &*other.view;
        // A copy of this brain is an earlier moment of it, or has gone on by itself: it is another.
        if Arc::ptr_eq(view.brain(), other.brain()) {
            let why = format!("the other brain is this one, instance {}", view.instance());
            return Err(Error::invalid("merge", why));
        }
        // So many are new at the least.
        room.has(other.nodes().saturating_sub(view.nodes()) * NEW_EVENT)?;
        let matching = Matching::of(view, other, &mut room)?;
        let withheld = matching.withheld();
        let mut merging = Merging {
            matching,
            ours: Changes::of(view, &mut room)?,
            theirs: Changes::of(other, &mut room)?,
            is_one_lineage: view.identity().lineage == other.identity().lineage,
            other,
            sessions: HashMap::new(),
            opened: 0,
            new: Vec::new(),
            replaced_by: HashMap::new(),
            room,
            commit_bytes_max,
            beliefs: HashMap::new(),
            merged: Merged {
                withheld,
                ..Merged::default()
            },
            plan: self,
        };
        merging.sessions()?;
        merging.events()?;
        merging.fields()?;
        merging.edges()?;
        merging.confidences()?;
        let merged = merging.finish();
        self.answer.edges = merged.edges;
        self.answer.merged = Some(merged);
        Ok(())
    }
}

impl Merging<'_, '_> {
    /// Our event that another brain's is, or becomes.
    fn ours(&self, theirs: NodeId) -> Option<NodeId> {
        self.matching.ours(theirs).or_else(|| {
            let at = self.new.binary_search(&theirs).ok()?;
            Some(NodeId(self.plan.view.nodes() + at as u64))
        })
    }

    /// A merge is held in memory until it is written, and is one commit: one that is too large ends here.
    fn room(&self) -> Result<()> {
        self.room_for(0)
    }

    /// The same before more memory is taken.
    fn room_for(&self, more: u64) -> Result<()> {
        let commit = self.plan.bytes() + self.beliefs.len() as u64 * BELIEF_OP;
        if commit > self.commit_bytes_max {
            return Err(Error::MergeTooLarge {
                of: "its commit",
                bytes: commit,
                max: self.commit_bytes_max,
            });
        }
        let held = self.new.len() as u64 * NEW_EVENT
            + self.merged.edges * NEW_EDGE
            + entries(self.beliefs.len() as u64, size_of::<(NodeId, Belief)>());
        self.room.has(commit + held + more)
    }

    fn finish(self) -> Merged {
        let mut beliefs: Vec<_> = self.beliefs.into_iter().collect();
        beliefs.sort_unstable_by_key(|(id, _)| *id);
        for (target, belief) in beliefs {
            self.plan.push(&Op::Belief {
                target,
                confidence: belief.confidence,
                flags: belief.flags,
                lambda: belief.lambda,
            });
        }
        self.merged
    }
}
