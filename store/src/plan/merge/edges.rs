//! Edges of the other brain: united with ours, but for what one side has retracted since.

use std::collections::{HashSet, VecDeque};

use amem_core::journal::op::Op;
use amem_core::view::Direction;
use amem_core::{Edge, EdgeType, NodeId};

use super::Merging;
use crate::error::Result;

impl Merging<'_, '_> {
    pub(super) fn edges(&mut self) -> Result<()> {
        for id in (0..self.other.nodes()).map(NodeId) {
            let ties = self.other.ties(id, Direction::Outgoing)?;
            for tie in ties.iter() {
                let edge = self.other.edge(id, Direction::Outgoing, &tie)?;
                self.edge(&edge)?;
            }
        }
        self.retracted()
    }

    /// An edge of the other brain.
    fn edge(&mut self, theirs: &Edge) -> Result<()> {
        let (Some(source), Some(target)) = (self.ours(theirs.source), self.ours(theirs.target))
        else {
            return Ok(());
        };
        let edge_type = theirs.edge_type;
        let end = self.plan.view.nodes();
        if source.0 < end && target.0 < end {
            let set_here = self.ours.edge(source, target, edge_type);
            match self.plan.view.find_edge(source, target, edge_type)? {
                Some(ours) => {
                    let later = theirs.created_at > set_here.unwrap_or(ours.created_at);
                    if ours.weight.to_bits() == theirs.weight.to_bits() || !later {
                        return Ok(());
                    }
                }
                // It was retracted here, after it was set there.
                None if set_here.is_some_and(|time| time > theirs.created_at) => return Ok(()),
                None => {}
            }
        }
        if source == target {
            return Ok(());
        }
        if edge_type == EdgeType::SUPERSEDES {
            if self.closes_cycle(source, target)? {
                self.merged.cycles += 1;
                return Ok(());
            }
            self.replaced_by
                .entry(target)
                .or_default()
                .push((source, Some(theirs.weight)));
            self.replaces.entry(source).or_default().push(target);
        }
        let created_at = self.plan.next_time;
        self.plan.push(&Op::Link {
            source,
            target,
            edge_type,
            weight: theirs.weight,
            created_at,
        });
        self.merged.edges += 1;
        Ok(())
    }

    /// Retracts edges that were retracted there after they were set here.
    fn retracted(&mut self) -> Result<()> {
        let mut gone = Vec::new();
        for ((source, target, edge_type), time) in self.theirs.edges() {
            let (Some(a), Some(b)) = (self.matching.ours(source), self.matching.ours(target))
            else {
                continue;
            };
            if self.other.find_edge(source, target, edge_type)?.is_some() {
                continue;
            }
            if let Some(ours) = self.plan.view.find_edge(a, b, edge_type)?
                && self.ours.edge(a, b, edge_type).unwrap_or(ours.created_at) < time
            {
                gone.push((a, b, edge_type));
            }
        }
        gone.sort_unstable();
        for (source, target, edge_type) in gone {
            self.plan.push(&Op::Unlink {
                source,
                target,
                edge_type,
            });
            self.merged.retracted += 1;
            if edge_type == EdgeType::SUPERSEDES {
                self.replaced_by
                    .entry(target)
                    .or_default()
                    .push((source, None));
            }
        }
        Ok(())
    }

    /// True if the target replaces the source already, by edges that are here or come with this merge.
    fn closes_cycle(&self, source: NodeId, target: NodeId) -> Result<bool> {
        let (mut seen, mut queue) = (HashSet::from([target]), VecDeque::from([target]));
        while let Some(id) = queue.pop_front() {
            if id == source {
                return Ok(true);
            }
            let mut next = self.replaces.get(&id).cloned().unwrap_or_default();
            if id.0 < self.plan.view.nodes() {
                let ties = self.plan.view.ties(id, Direction::Outgoing)?;
                let replaced = ties
                    .iter()
                    .filter(|tie| tie.edge_type == EdgeType::SUPERSEDES);
                next.extend(replaced.map(|tie| tie.other));
            }
            queue.extend(next.into_iter().filter(|id| seen.insert(*id)));
        }
        Ok(false)
    }
}
