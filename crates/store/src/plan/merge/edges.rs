//! Edges of the other brain: united with ours, except those that one side has retracted since.

use std::collections::{HashMap, HashSet};

use amem_format::journal::op::Op;
use amem_format::view::Direction;
use amem_format::{Edge, EdgeType, NodeId};

use crate::error::Result;
use crate::merge::budget::entries;
use crate::plan::edge_limit::EdgeKey;
use crate::plan::merge::cycles::components;
use crate::plan::merge::merge_plan::MergePlan;

/// An edge of the other brain that may be added here.
struct EdgeCandidate {
    key: EdgeKey,
    weight: f32,
    /// The edge exists with another weight.
    is_here: bool,
}

impl MergePlan<'_, '_> {
    pub(super) fn edges(&mut self) -> Result<()> {
        let gone = self.retracted()?;
        let mut candidates = Vec::new();
        for id in (0..self.other.nodes()).map(NodeId) {
            let ties = self.other.edges_of(id, Direction::Outgoing)?;
            for tie in ties.iter() {
                let edge = self.other.edge(id, Direction::Outgoing, &tie)?;
                if let Some(edge) = self.candidate(&edge)? {
                    candidates.push(edge);
                    // And its place in the sets of those that are on a cycle.
                    self.check_budget_for(entries(
                        candidates.len() as u64,
                        2 * size_of::<EdgeCandidate>(),
                    ))?;
                }
            }
        }
        let circular = self.circular(&candidates, &gone)?;
        for edge in candidates {
            if circular.contains(&edge.key) {
                self.merged.cycles += 1;
            } else {
                self.set(&edge);
                self.check_budget()?;
            }
        }
        for key in gone {
            self.retract(key);
            self.check_budget()?;
        }
        Ok(())
    }

    /// An edge of the other brain, if it is missing or different here and was set there later. The time when an edge
    /// was set is in the changes; the edge's own time is that of its creation.
    fn candidate(&self, theirs: &Edge) -> Result<Option<EdgeCandidate>> {
        let edge_type = theirs.edge_type;
        let ends = (self.ours(theirs.source), self.ours(theirs.target));
        let (Some(source), Some(target)) = ends else {
            return Ok(None);
        };
        if source == target {
            return Ok(None);
        }
        let mut candidate = EdgeCandidate {
            key: (source, target, edge_type),
            weight: theirs.weight,
            is_here: false,
        };
        let end = self.plan.view.nodes();
        if source.0 >= end || target.0 >= end {
            return Ok(Some(candidate));
        }
        let there = self.theirs.edge(theirs.source, theirs.target, edge_type);
        let there = there.unwrap_or(theirs.created_at);
        let here = self.ours.edge(source, target, edge_type);
        let is_wanted = match self.plan.view.find_edge(source, target, edge_type)? {
            Some(ours) => {
                candidate.is_here = true;
                let here = here.unwrap_or(ours.created_at);
                let differs = ours.weight.to_bits() != theirs.weight.to_bits();
                differs && (there > here || there == here && theirs.weight > ours.weight)
            }
            // It was retracted here, after it was set there.
            None => here.is_none_or(|retracted| retracted <= there),
        };
        Ok(is_wanted.then_some(candidate))
    }

    /// Candidates on a cycle of supersedes edges, among the edges that stay here and all candidates.
    fn circular(&self, candidates: &[EdgeCandidate], gone: &[EdgeKey]) -> Result<HashSet<EdgeKey>> {
        let is_new = |edge: &&EdgeCandidate| edge.key.2 == EdgeType::SUPERSEDES && !edge.is_here;
        let gone: HashSet<&EdgeKey> = gone.iter().collect();
        let mut new: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for edge in candidates.iter().filter(is_new) {
            new.entry(edge.key.0).or_default().push(edge.key.1);
        }
        let held = entries(candidates.len() as u64, 2 * size_of::<EdgeCandidate>());
        let mut met = 0;
        let next = |id: NodeId| {
            met += 1;
            self.check_budget_for(held + entries(met, 2 * size_of::<EdgeCandidate>()))?;
            let mut next = new.get(&id).cloned().unwrap_or_default();
            if id.0 < self.plan.view.nodes() {
                for tie in self.plan.view.edges_of(id, Direction::Outgoing)?.iter() {
                    let is_it = tie.edge_type == EdgeType::SUPERSEDES;
                    if is_it && !gone.contains(&(id, tie.other, tie.edge_type)) {
                        next.push(tie.other);
                    }
                }
            }
            Ok(next)
        };
        let components = components(new.keys().copied(), next)?;
        let keys = candidates.iter().filter(is_new).map(|edge| edge.key);
        let is_circular = |key: &EdgeKey| components.get(&key.0) == components.get(&key.1);
        Ok(keys.filter(is_circular).collect())
    }

    fn set(&mut self, edge: &EdgeCandidate) {
        let (source, target, edge_type) = edge.key;
        if edge_type == EdgeType::SUPERSEDES {
            let of = self.replaced_by.entry(target).or_default();
            of.push((source, Some(edge.weight)));
        }
        let created_at = self.plan.next_time;
        self.plan.push(&Op::Link {
            source,
            target,
            edge_type,
            weight: edge.weight,
            created_at,
        });
        self.merged.edges += 1;
    }

    /// Our edges that were retracted there after they were set here.
    fn retracted(&self) -> Result<Vec<EdgeKey>> {
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
                self.check_budget_for(entries(gone.len() as u64, size_of::<EdgeKey>()))?;
            }
        }
        gone.sort_unstable();
        Ok(gone)
    }

    fn retract(&mut self, (source, target, edge_type): EdgeKey) {
        self.plan.push(&Op::Unlink {
            source,
            target,
            edge_type,
        });
        self.merged.retracted += 1;
        if edge_type == EdgeType::SUPERSEDES {
            let of = self.replaced_by.entry(target).or_default();
            of.push((source, None));
        }
    }
}
