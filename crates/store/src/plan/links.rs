//! Edges, and the confidence of events that they replace.

use amem_format::journal::op::Op;
use amem_format::{EdgeType, NodeId};

use crate::error::{Error, Result};
use crate::mutation::NewEdge;
use crate::plan::belief;
use crate::plan::builder::PlanBuilder;
use crate::plan::values::unit;

impl PlanBuilder<'_> {
    pub(super) fn link(&mut self, edge: &NewEdge) -> Result<()> {
        self.new_link(edge.source, edge.target, edge.edge_type, edge.weight)?;
        self.apply_pending()
    }

    pub(super) fn unlink(
        &mut self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Result<()> {
        self.view.node(source)?;
        self.view.node(target)?;
        if self.view.find_edge(source, target, edge_type)?.is_none() {
            return Err(Error::UnknownEdge {
                source_id: source,
                edge_type: edge_type.to_string(),
                target,
            });
        }
        self.push(&Op::Unlink {
            source,
            target,
            edge_type,
        });
        self.answer.edges = 1;
        if edge_type == EdgeType::SUPERSEDES {
            self.pending.set(source, target, None);
        }
        self.apply_pending()
    }

    pub(super) fn push_link(
        &mut self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
        weight: f32,
    ) {
        let created_at = self.next_time;
        self.push(&Op::Link {
            source,
            target,
            edge_type,
            weight,
            created_at,
        });
        self.answer.edges += 1;
    }

    /// An edge that may end at events of this plan.
    pub(super) fn new_link(
        &mut self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
        weight: f32,
    ) -> Result<()> {
        unit("weight", weight)?;
        if source == target {
            return Err(Error::invalid(
                "link",
                format!("event {source} cannot have an edge to itself"),
            ));
        }
        if !edge_type.is_known() {
            return Err(Error::invalid(
                "edge type",
                format!("{} is not one of the seven", edge_type.0),
            ));
        }
        let end = self.view.nodes() + self.answer.ids.len() as u64;
        for id in [source, target] {
            if id.0 >= end {
                return Err(amem_format::Error::UnknownEvent { id, count: end }.into());
            }
            if id.0 < self.view.nodes() {
                self.visible(id)?;
            }
        }
        if edge_type == EdgeType::SUPERSEDES {
            return self.supersede(source, target, weight);
        }
        self.push_link(source, target, edge_type, weight);
        Ok(())
    }

    /// A supersedes edge. The target's confidence follows once all edges are known (`apply_pending`).
    pub(super) fn supersede(&mut self, source: NodeId, target: NodeId, weight: f32) -> Result<()> {
        if target.0 >= self.view.nodes() {
            let why = format!(
                "event {target} is new in this batch: what is replaced must be there already"
            );
            return Err(Error::invalid("link", why));
        }
        if source.0 < self.view.nodes() {
            belief::refuse_cycle(self.view, &self.pending, source, target)?;
        }
        self.push_link(source, target, EdgeType::SUPERSEDES, weight);
        self.pending.set(source, target, Some(weight));
        Ok(())
    }

    /// Sets the confidence of events whose successors changed.
    pub(super) fn apply_pending(&mut self) -> Result<()> {
        let pending = std::mem::take(&mut self.pending);
        for target in pending.targets() {
            let confidence = belief::effective_confidence(self.view, target, &pending)?;
            self.set_confidence(target, confidence)?;
        }
        Ok(())
    }

    pub(super) fn set_confidence(&mut self, target: NodeId, confidence: f32) -> Result<()> {
        let node = self.view.node(target)?;
        if node.confidence().to_bits() != confidence.to_bits() {
            let (flags, lambda) = (node.flags(), node.lambda());
            self.push(&Op::Belief {
                target,
                confidence,
                flags,
                lambda,
            });
        }
        Ok(())
    }
}
