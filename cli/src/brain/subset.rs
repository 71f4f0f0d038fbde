//! The part of a view to export: some events, and the edges between them.

use amem_format::event::{Edge, Event, Graph, MemoryGraph};
use amem_format::view::View;
use amem_format::{NodeId, Result};

#[derive(Debug)]
pub(crate) struct Subset<'v> {
    view: &'v View,
    ids: Vec<NodeId>,
    is_all: bool,
}

impl<'v> Subset<'v> {
    pub(crate) fn of(view: &'v View, include_forgotten: bool) -> Result<Self> {
        let mut ids = Vec::with_capacity(view.nodes() as usize);
        for id in (0..view.nodes()).map(NodeId) {
            if include_forgotten || !view.node(id)?.is_forgotten() {
                ids.push(id);
            }
        }
        Ok(Self {
            is_all: ids.len() as u64 == view.nodes(),
            view,
            ids,
        })
    }

    pub(crate) fn view(&self) -> &'v View {
        self.view
    }

    pub(crate) fn ids(&self) -> &[NodeId] {
        &self.ids
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.view.nodes() - self.ids.len() as u64
    }

    /// With positions as ids.
    pub(crate) fn renumbered(&self) -> Result<MemoryGraph> {
        let mut out = MemoryGraph {
            dimension: self.dimension(),
            ..MemoryGraph::default()
        };
        let position = |id| NodeId(self.ids.partition_point(|&other| other < id) as u64);
        for at in 0..self.event_count() {
            let event = self.event_at(at)?;
            out.events.push(Event {
                id: NodeId(at),
                ..event
            });
            let edges = self.edges_at(at)?;
            out.edges.extend(edges.into_iter().map(|edge| Edge {
                source: position(edge.source),
                target: position(edge.target),
                ..edge
            }));
        }
        Ok(out)
    }
}

impl Graph for Subset<'_> {
    fn dimension(&self) -> u32 {
        self.view.vector_dimension()
    }

    fn event_count(&self) -> u64 {
        self.ids.len() as u64
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        self.view.node(self.ids[position as usize])?.to_event()
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let mut edges = self.view.edges_at(self.ids[position as usize].0)?;
        if !self.is_all {
            edges.retain(|edge| self.ids.binary_search(&edge.target).is_ok());
        }
        Ok(edges)
    }
}
