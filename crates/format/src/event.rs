//! Events and edges as owned values, independent of any file.
//!
//! Used by imports, exports and tests. Queries hand out borrowed `view::Node`s instead.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::types::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

/// The attributes of an event: a JSON object.
pub type Attributes = serde_json::Map<String, serde_json::Value>;

/// One event with all its fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// In a brain's file, the event's position.
    pub id: NodeId,
    /// Its type.
    pub event_type: EventType,
    /// Its flags; `VECTOR` and `ATTRIBUTES` agree with the fields below.
    pub flags: Flags,
    /// Recorded time.
    pub created_at: Micros,
    /// When it happened, if the writer gave a time.
    pub event_time: Option<Micros>,
    /// Its session.
    pub session: SessionId,
    /// Effective confidence, 0..=1.
    pub confidence: f32,
    /// How often it was touched.
    pub access_count: u32,
    /// When it was last touched.
    pub last_accessed: Micros,
    /// Strength at the last decay run.
    pub decay_score: f32,
    /// Decay rate per day; 0 is the type's default.
    pub lambda: f32,
    /// The text.
    pub text: String,
    /// The vector, of the brain's dimension.
    pub vector: Option<Vec<f32>>,
    /// The attributes.
    pub attributes: Option<Attributes>,
}

/// One edge.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// Where it starts.
    pub source: NodeId,
    /// Where it ends.
    pub target: NodeId,
    /// What it means.
    pub edge_type: EdgeType,
    /// Its weight, 0..=1.
    pub weight: f32,
    /// Recorded time.
    pub created_at: Micros,
}

impl Edge {
    /// The key of an edge: source, target, type. Files store edges in this order.
    pub fn key(&self) -> (u64, u64, u8) {
        (self.source.0, self.target.0, self.edge_type.0)
    }
}

/// A graph of whole events in order of id.
pub trait Graph {
    /// Numbers in a vector; 0 if there are none.
    fn dimension(&self) -> u32;
    /// The number of events.
    fn event_count(&self) -> u64;
    /// The event at a position below `event_count`.
    fn event_at(&self, position: u64) -> Result<Event>;
    /// The edges whose source is the event at a position, by target, then type.
    fn edges_at(&self, position: u64) -> Result<Vec<Edge>>;
    /// Edges whose source is not an event, which `edges_at` cannot return; only foreign files have such edges.
    fn stray_edges(&self) -> Result<Vec<Edge>> {
        Ok(Vec::new())
    }
}

/// A graph in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemoryGraph {
    /// Numbers in a vector; 0 if there are none.
    pub dimension: u32,
    /// The events, ascending by id.
    pub events: Vec<Event>,
    /// The edges, ascending by source, target, type.
    pub edges: Vec<Edge>,
}

impl Graph for MemoryGraph {
    fn dimension(&self) -> u32 {
        self.dimension
    }

    fn event_count(&self) -> u64 {
        self.events.len() as u64
    }

    fn event_at(&self, position: u64) -> Result<Event> {
        Ok(self.events[position as usize].clone())
    }

    fn edges_at(&self, position: u64) -> Result<Vec<Edge>> {
        let id = self.events[position as usize].id;
        let from = self.edges.partition_point(|e| e.source < id);
        let to = self.edges.partition_point(|e| e.source <= id);
        Ok(self.edges[from..to].to_vec())
    }

    fn stray_edges(&self) -> Result<Vec<Edge>> {
        let is_event = |id| self.events.binary_search_by_key(&id, |e| e.id).is_ok();
        Ok(self
            .edges
            .iter()
            .filter(|e| !is_event(e.source))
            .copied()
            .collect())
    }
}
