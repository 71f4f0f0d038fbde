//! A merge while it is planned: both brains, what was decided so far, and the budget.

use std::collections::HashMap;

use amem_format::journal::op::Op;
use amem_format::stamp::{EventFields, StampTarget};
use amem_format::view::View;
use amem_format::{ActorId, Flags, Micros, NodeId};

use crate::error::{Error, Result};
use crate::merge::budget::{
    BELIEF_OP_BYTES, MemoryBudget, NEW_EDGE_BYTES, NEW_EVENT_BYTES, entries,
};
use crate::merge::changes::Changes;
use crate::merge::matching::Matching;
use crate::mutation::MergeReport;
use crate::plan::builder::PlanBuilder;
use crate::plan::merge::spans::MergedSessions;

/// A merge being planned.
pub(super) struct MergePlan<'p, 'v> {
    pub(super) plan: &'p mut PlanBuilder<'v>,
    pub(super) other: &'v View,
    /// Both descend from one brain: events with the same recorded time were recorded once.
    pub(super) is_one_lineage: bool,
    pub(super) matching: Matching,
    pub(super) ours: Changes,
    pub(super) theirs: Changes,
    pub(super) sessions: MergedSessions<'v>,
    /// Actors of this brain, by those of the other.
    pub(super) authors: HashMap<ActorId, ActorId>,
    /// The author of the event that was added last.
    pub(super) author: Option<ActorId>,
    /// Bytes of memory that it may take.
    pub(super) budget: MemoryBudget,
    /// Bytes of its commit.
    pub(super) commit_bytes_max: u64,
    /// Ids, in the other brain, of the new events, in the order of their new ids.
    pub(super) new: Vec<NodeId>,
    /// Supersedes edges that are new or have another weight, by target; no weight: retracted.
    pub(super) replaced_by: HashMap<NodeId, Vec<(NodeId, Option<f32>)>>,
    /// New beliefs of events in this brain.
    pub(super) beliefs: HashMap<NodeId, MergedBelief>,
    /// Fields of the event that is compared whose stamps are later there, and those.
    pub(super) stamps: Vec<(EventFields, Micros)>,
    pub(super) merged: MergeReport,
}

/// Confidence, flags and decay rate of an event.
#[derive(Clone, Copy)]
pub(super) struct MergedBelief {
    pub(super) confidence: f32,
    pub(super) flags: Flags,
    pub(super) lambda: f32,
}

impl MergePlan<'_, '_> {
    /// The event of this brain that an event of the other brain is or becomes.
    pub(super) fn ours(&self, theirs: NodeId) -> Option<NodeId> {
        self.matching.ours(theirs).or_else(|| {
            let at = self.new.binary_search(&theirs).ok()?;
            Some(NodeId(self.plan.view.nodes() + at as u64))
        })
    }

    /// Refuses a merge that has become too large: it is held in memory until it is written, as one commit.
    pub(super) fn check_budget(&self) -> Result<()> {
        self.check_budget_for(0)
    }

    /// The same before more memory is taken.
    pub(super) fn check_budget_for(&self, more: u64) -> Result<()> {
        let commit = self.plan.bytes() + self.beliefs.len() as u64 * BELIEF_OP_BYTES;
        if commit > self.commit_bytes_max {
            return Err(Error::MergeTooLarge {
                of: "its commit",
                bytes: commit,
                max: self.commit_bytes_max,
            });
        }
        let held = self.new.len() as u64 * NEW_EVENT_BYTES
            + self.merged.edges * NEW_EDGE_BYTES
            + entries(
                self.beliefs.len() as u64,
                size_of::<(NodeId, MergedBelief)>(),
            );
        self.budget.check(commit + held + more)
    }

    /// Says when a value was changed in the brain where it was changed: its commit here is later.
    pub(super) fn stamp(&mut self, of: StampTarget, at: Micros) {
        self.plan.push(&match of {
            StampTarget::Field(target, fields) => Op::Stamp { target, fields, at },
            StampTarget::Edge(source, target, edge_type) => Op::StampEdge {
                source,
                target,
                edge_type,
                at,
            },
            StampTarget::Session(session) => Op::StampSession { session, at },
        });
    }

    pub(super) fn finish(self) -> MergeReport {
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
