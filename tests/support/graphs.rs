//! Graphs of any layout, in memory, for comparison.

use amem_format::event::{Edge, Graph, MemoryGraph};

/// The whole of a graph.
///
/// # Panics
/// If a part of it cannot be read.
pub fn collect(graph: &dyn Graph) -> MemoryGraph {
    let mut out = MemoryGraph {
        dimension: graph.dimension(),
        ..MemoryGraph::default()
    };
    for position in 0..graph.event_count() {
        let event = graph.event_at(position);
        out.events
            .push(event.unwrap_or_else(|e| panic!("event {position}: {e}")));
        let edges = graph.edges_at(position);
        out.edges
            .extend(edges.unwrap_or_else(|e| panic!("edges of event {position}: {e}")));
    }
    out
}

/// Fails with the first difference, as graphs are too large to print.
///
/// # Panics
/// If the graphs differ.
pub fn assert_same(found: &MemoryGraph, expected: &MemoryGraph, what: &str) {
    assert_eq!(found.dimension, expected.dimension, "{what}: dimension");
    assert_eq!(found.events.len(), expected.events.len(), "{what}: events");
    for (found, expected) in found.events.iter().zip(&expected.events) {
        assert_eq!(found, expected, "{what}");
    }
    assert_eq!(found.edges.len(), expected.edges.len(), "{what}: edges");
    for (found, expected) in found.edges.iter().zip(&expected.edges) {
        assert_eq!(found, expected, "{what}");
    }
}

/// Puts edges in the order of a file.
pub fn sort_edges(graph: &mut MemoryGraph) {
    graph.edges.sort_by_key(Edge::key);
}
