//! Events to be written, and their edges by number.

use amem_format::EdgeType;
use amem_proto::v1;

/// An edge to another entry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EntryEdge {
    /// The number of the target, which may come later.
    pub to: u64,
    /// Its type.
    pub edge_type: EdgeType,
    /// From 0 to 1.
    pub weight: f32,
}

/// An event whose session is open.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchEntry {
    /// Of the text that it is from, from 1; 0 if there is none.
    pub line: u64,
    /// The number by which edges name it.
    pub number: Option<u64>,
    /// The event.
    pub event: v1::NewEvent,
    /// Its outgoing edges.
    pub edges: Vec<EntryEdge>,
}
