//! A small graph for the tests of both exports: every known type, odd texts, sparse vectors.

use amem_format::event::{Attributes, Edge, Event, MemoryGraph};
use amem_format::types::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

/// The dimension of the sample's vectors.
pub(crate) const DIMENSION: u32 = 3;

/// An event that every layout can hold whole.
pub(crate) fn event(id: u64) -> Event {
    let texts = [
        "plain words here",
        "",
        "ünïcode ΣΑΣ",
        "NUL\0 inside",
        "the of and",
    ];
    let created_at = Micros(1_700_000_000_000_000 + id as i64 * 60_000_000);
    let confidence = 1.0 / (1.0 + id as f32);
    let vector = (id % 3 != 1).then(|| vec![id as f32 + 0.5, -1.0, 0.25]);
    Event {
        id: NodeId(id),
        event_type: EventType((id % 6) as u8),
        flags: Flags::default().set(Flags::VECTOR, vector.is_some()),
        created_at,
        event_time: None,
        session: SessionId([1, 1, 7, 1, 2][id as usize % 5]),
        confidence,
        access_count: 0,
        last_accessed: created_at,
        decay_score: confidence,
        lambda: 0.0,
        text: texts[id as usize % texts.len()].to_owned(),
        vector,
        attributes: None,
    }
}

/// An edge as old as the younger of its events.
pub(crate) fn edge(source: u64, target: u64, edge_type: u8) -> Edge {
    Edge {
        source: NodeId(source),
        target: NodeId(target),
        edge_type: EdgeType(edge_type),
        weight: 0.5,
        created_at: event(source.max(target)).created_at,
    }
}

/// `count` events, at least one, tied in a ring by edges of all types, and twice.
pub(crate) fn graph(count: u64) -> MemoryGraph {
    let mut edges: Vec<Edge> = (0..count)
        .flat_map(|id| {
            let next = (id + 1) % count;
            [
                edge(id, next, (id % 7) as u8),
                edge(id, next, 6 - (id % 3) as u8),
            ]
        })
        .filter(|e| e.source != e.target)
        .collect();
    edges.sort_by_key(Edge::key);
    edges.dedup_by_key(|e| e.key());
    MemoryGraph {
        dimension: DIMENSION,
        events: (0..count).map(event).collect(),
        edges,
    }
}

/// An attribute, set.
pub(crate) fn set_attribute(event: &mut Event, key: &str, value: serde_json::Value) {
    let attributes = event.attributes.get_or_insert_with(Attributes::new);
    attributes.insert(key.to_owned(), value);
    event.flags = event.flags.with(Flags::ATTRIBUTES);
}

/// Any graph, in memory.
pub(crate) fn collect(graph: &dyn amem_format::event::Graph) -> MemoryGraph {
    let positions = 0..graph.event_count();
    MemoryGraph {
        dimension: graph.dimension(),
        events: positions
            .clone()
            .map(|p| graph.event_at(p).unwrap())
            .collect(),
        edges: positions.flat_map(|p| graph.edges_at(p).unwrap()).collect(),
    }
}
