//! Edges of the other brain: united with ours, except those that one side has retracted since.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use amem_format::journal::op::Op;
use amem_format::stamp::StampTarget;
use amem_format::view::Direction;
use amem_format::{Edge, EdgeType, Micros, NodeId};

use crate::error::Result;
use crate::merge::budget::entries;
use crate::plan::edge_limit::EdgeKey;
use crate::plan::merge::cycles::components;
use crate::plan::merge::merge_plan::MergePlan;

/// An edge of the other brain that may be added here.
struct EdgeCandidate {
    key: EdgeKey,
    weight: f32,
    /// The edge exists, with another weight or an older stamp.
    is_here: bool,
    /// It has the same weight: only its stamp is new.
    is_same: bool,
    /// When it was set there.
    stamp: Micros,
}

/// An edge that was retracted there after everything that is known of it here.
struct RetractedEdge {
    key: EdgeKey,
    is_here: bool,
    /// When it was retracted there.
    stamp: Micros,
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
        for edge in gone {
            self.retract(&edge);
            self.check_budget()?;
        }
        Ok(())
    }

    /// An edge of the other brain, if it is missing, different or older here. The time when an edge was set is in the
    /// changes; the edge's own time is that of its creation.
    fn candidate(&self, theirs: &Edge) -> Result<Option<EdgeCandidate>> {
        let edge_type = theirs.edge_type;
        let ends = (self.ours(theirs.source), self.ours(theirs.target));
        let (Some(source), Some(target)) = ends else {
            return Ok(None);
        };
        if source == target {
            return Ok(None);
        }
        let key = (theirs.source, theirs.target, edge_type);
        let there = self.theirs.edge(key, Some(theirs.created_at));
        let key = (source, target, edge_type);
        let ours = self.here(key)?;
        let here = self.ours.edge(key, ours.map(|edge| edge.created_at));
        let order = ours.map_or(Ordering::Greater, |ours| {
            theirs.weight.total_cmp(&ours.weight)
        });
        // At the same time, an edge counts more than its retraction, and the greater weight.
        Ok(there.cmp(&here).then(order).is_gt().then(|| EdgeCandidate {
            key,
            weight: theirs.weight,
            is_here: ours.is_some(),
            is_same: order.is_eq(),
            stamp: there.unwrap_or(theirs.created_at),
        }))
    }

    /// Our edge, unless an end of it is new here.
    fn here(&self, (source, target, edge_type): EdgeKey) -> Result<Option<Edge>> {
        if source.max(target).0 >= self.plan.view.nodes() {
            return Ok(None);
        }
        Ok(self.plan.view.find_edge(source, target, edge_type)?)
    }

    /// Candidates on a cycle of supersedes edges, among the edges that stay here and all candidates.
    fn circular(
        &self,
        candidates: &[EdgeCandidate],
        gone: &[RetractedEdge],
    ) -> Result<HashSet<EdgeKey>> {
        let is_new = |edge: &&EdgeCandidate| edge.key.2 == EdgeType::SUPERSEDES && !edge.is_here;
        let gone: HashSet<&EdgeKey> = gone.iter().map(|edge| &edge.key).collect();
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
        if edge.is_same {
            return self.stamp(StampTarget::Edge(source, target, edge_type), edge.stamp);
        }
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
        self.stamp(StampTarget::Edge(source, target, edge_type), edge.stamp);
        self.merged.edges += 1;
    }

    /// Edges that were retracted there after they were set here, or were never here: another brain may bring them.
    fn retracted(&self) -> Result<Vec<RetractedEdge>> {
        let mut gone = Vec::new();
        for theirs in self.theirs.edges() {
            let (Some(a), Some(b)) = (self.ours(theirs.0), self.ours(theirs.1)) else {
                continue;
            };
            if self
                .other
                .find_edge(theirs.0, theirs.1, theirs.2)?
                .is_some()
                || a == b
            {
                continue;
            }
            let (key, there) = ((a, b, theirs.2), self.theirs.edge(theirs, None));
            let ours = self.here(key)?;
            let here = self.ours.edge(key, ours.map(|edge| edge.created_at));
            if let Some(stamp) = there.filter(|_| there > here) {
                let is_here = ours.is_some();
                gone.push(RetractedEdge {
                    key,
                    is_here,
                    stamp,
                });
                self.check_budget_for(entries(gone.len() as u64, size_of::<RetractedEdge>()))?;
            }
        }
        gone.sort_unstable_by_key(|edge| edge.key);
        Ok(gone)
    }

    fn retract(&mut self, edge: &RetractedEdge) {
        let (source, target, edge_type) = edge.key;
        let of = StampTarget::Edge(source, target, edge_type);
        if !edge.is_here {
            return self.stamp(of, edge.stamp);
        }
        self.plan.push(&Op::Unlink {
            source,
            target,
            edge_type,
        });
        self.stamp(of, edge.stamp);
        self.merged.retracted += 1;
        if edge_type == EdgeType::SUPERSEDES {
            let of = self.replaced_by.entry(target).or_default();
            of.push((source, None));
        }
    }
}
