//! Applying links and unlinks: each adds a version of its edge; the first version of an edge adds a slot.
//!
//! A version stores the value before it, looked up once in the delta or the base, so that history needs no search.
//! Not here: all other operations (`apply`).

use super::apply::Context;
use super::generation::Brain;
use crate::append::AtomicIndex;
use crate::delta::entry::{END, Slot};
use crate::delta::graph::{EdgeSlot, EdgeVersion};
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::limits;
use crate::types::{EdgeType, Lsn, Micros, NodeId};

type EdgeKey = (NodeId, NodeId, EdgeType);
/// Weight and recorded time; `None` for no edge.
type EdgeValue = Option<(f32, Micros)>;

impl Brain {
    pub(super) fn apply_link(&self, cx: &mut Context<'_>, edge: Edge) -> Result<()> {
        if edge.source == edge.target {
            return Err(cx.bad(format!("event {} is linked to itself", edge.source)));
        }
        let ends = (self.slot(cx, edge.source)?, self.slot(cx, edge.target)?);
        let key = (edge.source, edge.target, edge.edge_type);
        let known = self.delta.edges.find(ends.0.outgoing.get(), key);
        let before = self.edge_now(known, key)?;
        // A new weight does not change the recorded time.
        let created_at = before.map_or(edge.created_at, |(_, created_at)| created_at);
        if before.is_none() {
            cx.edges += 1;
            Error::check_limit("the number of edges", cx.edges, limits::EDGES_MAX)?;
        }
        let value = Some((edge.weight, created_at));
        self.push_edge(cx, ends, (key, known), (value, before));
        Ok(())
    }

    pub(super) fn apply_unlink(
        &self,
        cx: &mut Context<'_>,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Result<()> {
        let ends = (self.slot(cx, source)?, self.slot(cx, target)?);
        let key = (source, target, edge_type);
        let known = self.delta.edges.find(ends.0.outgoing.get(), key);
        let before = self.edge_now(known, key)?;
        if before.is_none() {
            return Err(cx.bad(format!("there is no edge {source} {edge_type} {target}")));
        }
        cx.edges = cx
            .edges
            .checked_sub(1)
            .ok_or_else(|| cx.bad("more edges retracted than there are"))?;
        self.push_edge(cx, ends, (key, known), (None, before));
        Ok(())
    }

    /// The newest value of an edge; `known` is its slot in the delta.
    fn edge_now(
        &self,
        known: Option<u32>,
        (source, target, edge_type): EdgeKey,
    ) -> Result<EdgeValue> {
        let edges = &self.delta.edges;
        if let Some(slot) = known.and_then(|at| edges.slots.get(at))
            && let Some(value) = edges.value(slot, Lsn(u64::MAX))
        {
            return Ok(value);
        }
        Ok(self
            .base_edge(source, target, edge_type)?
            .map(|e| (e.weight, e.created_at)))
    }

    fn push_edge(
        &self,
        cx: &Context<'_>,
        ends: (&Slot, &Slot),
        (key, known): (EdgeKey, Option<u32>),
        (value, before): (EdgeValue, EdgeValue),
    ) {
        let edges = &self.delta.edges;
        if key.2 == EdgeType::SUPERSEDES {
            self.note_replacement(cx);
        }
        let known = known.and_then(|at| Some((at, edges.slots.get(at)?)));
        let version = edges.versions.push(EdgeVersion {
            lsn: cx.commit.lsn,
            time: cx.commit.time,
            actor: cx.commit.actor,
            slot: known.map_or(edges.slots.len(), |(at, _)| at),
            value,
            before,
            previous: known.map_or(END, |(_, slot)| slot.version.get()),
        });
        if let Some((_, slot)) = known {
            return slot.version.set(version);
        }
        let (source, target, edge_type) = key;
        let slot = EdgeSlot {
            source,
            target,
            edge_type,
            in_base: before.is_some(),
            version: AtomicIndex::to(version),
            before: 0,
            next_outgoing: END,
            next_incoming: END,
        };
        edges.push(ends, slot);
    }
}
