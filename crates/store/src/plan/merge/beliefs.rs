//! The confidence of events whose successors change with a merge.

use std::collections::{HashMap, HashSet};

use amem_format::view::{Direction, Node};
use amem_format::{EdgeType, Flags, NodeId};

use crate::error::Result;
use crate::plan::belief;
use crate::plan::merge::merge_plan::{MergePlan, MergedBelief};

impl<'v> MergePlan<'_, 'v> {
    /// Sets the confidence of every event whose successors changed.
    pub(super) fn confidences(&mut self) -> Result<()> {
        let mut targets: HashSet<NodeId> = self.replaced_by.keys().copied().collect();
        for (&id, belief) in &self.beliefs {
            let hidden = |flags: Flags| flags.has(Flags::FORGOTTEN);
            if hidden(belief.flags) != self.plan.view.node(id)?.is_forgotten() {
                let ties = self.plan.view.edges_of(id, Direction::Outgoing)?;
                let replaced = ties
                    .iter()
                    .filter(|tie| tie.edge_type == EdgeType::SUPERSEDES);
                targets.extend(replaced.map(|tie| tie.other));
            }
        }
        for target in targets {
            let own = self.own(target)?;
            let mut left = 1.0f32;
            for (source, weight) in self.successors(target)? {
                if !self.is_hidden(source)? {
                    left = left.min(1.0 - weight);
                }
            }
            let confidence = own * left;
            let belief = self.belief(target)?;
            if belief.confidence.to_bits() != confidence.to_bits() {
                self.beliefs.insert(
                    target,
                    MergedBelief {
                        confidence,
                        ..belief
                    },
                );
                self.check_budget()?;
            }
        }
        Ok(())
    }

    /// The supersedes edges that end at an event once the merge is done.
    fn successors(&self, target: NodeId) -> Result<HashMap<NodeId, f32>> {
        let mut found = HashMap::new();
        if target.0 < self.plan.view.nodes() {
            for tie in self.plan.view.edges_of(target, Direction::Incoming)?.iter() {
                if tie.edge_type == EdgeType::SUPERSEDES {
                    let edge = self.plan.view.edge(target, Direction::Incoming, &tie)?;
                    found.insert(tie.other, edge.weight);
                }
            }
        }
        for &(source, weight) in self.replaced_by.get(&target).into_iter().flatten() {
            match weight {
                Some(weight) => found.insert(source, weight),
                None => found.remove(&source),
            };
        }
        Ok(found)
    }

    /// The other brain's event that is new here under this id.
    fn new_one(&self, id: NodeId) -> Result<Node<'v>> {
        let theirs = self
            .new
            .get((id.0 - self.plan.view.nodes()) as usize)
            .copied();
        let unknown = amem_format::Error::UnknownEvent {
            id,
            count: self.plan.view.nodes() + self.merged.events,
        };
        Ok(self.other.node(theirs.ok_or(unknown)?)?)
    }

    fn own(&self, id: NodeId) -> Result<f32> {
        if id.0 < self.plan.view.nodes() {
            belief::own_confidence(self.plan.view, id)
        } else {
            belief::own_confidence(self.other, self.new_one(id)?.id())
        }
    }

    fn is_hidden(&self, id: NodeId) -> Result<bool> {
        Ok(self.belief(id)?.flags.has(Flags::FORGOTTEN))
    }

    /// The belief of an event in the current state of the merge.
    fn belief(&self, id: NodeId) -> Result<MergedBelief> {
        if let Some(&belief) = self.beliefs.get(&id) {
            return Ok(belief);
        }
        if id.0 < self.plan.view.nodes() {
            let node = self.plan.view.node(id)?;
            return Ok(MergedBelief {
                confidence: node.confidence(),
                flags: node.flags(),
                lambda: node.lambda(),
            });
        }
        let node = self.new_one(id)?;
        Ok(MergedBelief {
            confidence: self.own(id)?,
            flags: node.flags(),
            lambda: node.lambda(),
        })
    }
}
