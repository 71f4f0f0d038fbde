//! A view as a graph of whole events.

use super::edges::Direction;
use super::snapshot::View;
use crate::error::Result;
use crate::event::{Edge, Event, Graph};
use crate::types::NodeId;

impl Graph for View {
    fn dimension(&self) -> u32 {
        self.vector_dimension()
    }

    fn event_count(&self) -> u64 {
        self.nodes()
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        self.node(NodeId(position))?.to_event()
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let id = NodeId(position);
        self.edges_of(id, Direction::Outgoing)?
            .iter()
            .map(|edge| self.edge(id, Direction::Outgoing, &edge))
            .collect()
    }
}
