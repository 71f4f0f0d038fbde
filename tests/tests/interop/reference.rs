//! The reference implementation as a peer: graphs go in and out through its own reader and writer.

use std::io::Cursor;
use std::path::Path;

use agentic_memory as reference;
use amem_format::event::{Edge, Event, MemoryGraph};
use amem_format::{EdgeType, EventType, Flags, Micros, NodeId, SessionId};

/// The bytes that the reference writes for a graph whose types it knows.
pub(crate) fn write(graph: &MemoryGraph) -> Vec<u8> {
    let dimension = graph.dimension as usize;
    let nodes = graph.events.iter().map(|e| node(e, dimension)).collect();
    let edges = graph.edges.iter().map(edge).collect();
    let graph = reference::MemoryGraph::from_parts(nodes, edges, dimension).unwrap();
    let mut bytes = Vec::new();
    reference::AmemWriter::new(dimension)
        .write_to(&graph, &mut bytes)
        .unwrap();
    bytes
}

/// What the reference reads from the bytes of a file, term index and lengths included.
pub(crate) fn read(bytes: &[u8]) -> reference::MemoryGraph {
    reference::AmemReader::read_from(&mut Cursor::new(bytes)).unwrap()
}

/// The same in our words, edges in the order of our files.
pub(crate) fn read_sorted(bytes: &[u8]) -> MemoryGraph {
    let mut graph = collect(&read(bytes));
    amem_tests::graphs::sort_edges(&mut graph);
    graph
}

/// What its other reader, the mapped one, reads from a file, event by event.
pub(crate) fn read_mapped(path: &Path) -> MemoryGraph {
    let reader = reference::MmapReader::open(path).unwrap();
    let count = reader.header().node_count;
    let mut graph = MemoryGraph {
        dimension: reader.header().dimension,
        ..MemoryGraph::default()
    };
    for id in 0..count {
        graph.events.push(from_node(&reader.read_node(id).unwrap()));
        let edges = reader.read_edges(id).unwrap();
        graph.edges.extend(edges.iter().map(from_edge));
    }
    graph
}

/// A graph of the reference in our words.
pub(crate) fn collect(graph: &reference::MemoryGraph) -> MemoryGraph {
    MemoryGraph {
        dimension: graph.dimension() as u32,
        events: graph.nodes().iter().map(from_node).collect(),
        edges: graph.edges().iter().map(from_edge).collect(),
    }
}

fn node(event: &Event, dimension: usize) -> reference::CognitiveEvent {
    reference::CognitiveEvent {
        id: event.id.0,
        event_type: reference::EventType::from_u8(event.event_type.0).unwrap(),
        created_at: event.created_at.0 as u64,
        session_id: event.session.0,
        confidence: event.confidence,
        access_count: event.access_count,
        last_accessed: event.last_accessed.0 as u64,
        decay_score: event.decay_score,
        content: event.text.clone(),
        feature_vec: event.vector.clone().unwrap_or(vec![0.0; dimension]),
    }
}

fn edge(edge: &Edge) -> reference::Edge {
    reference::Edge {
        source_id: edge.source.0,
        target_id: edge.target.0,
        edge_type: reference::EdgeType::from_u8(edge.edge_type.0).unwrap(),
        weight: edge.weight,
        created_at: edge.created_at.0 as u64,
    }
}

fn from_node(node: &reference::CognitiveEvent) -> Event {
    let has_vector = node.feature_vec.iter().any(|&n| n != 0.0);
    Event {
        id: NodeId(node.id),
        event_type: EventType(node.event_type as u8),
        flags: Flags::default().set(Flags::VECTOR, has_vector),
        created_at: Micros(node.created_at as i64),
        event_time: None,
        session: SessionId(node.session_id),
        confidence: node.confidence,
        access_count: node.access_count,
        last_accessed: Micros(node.last_accessed as i64),
        decay_score: node.decay_score,
        lambda: 0.0,
        text: node.content.clone(),
        vector: has_vector.then(|| node.feature_vec.clone()),
        attributes: None,
    }
}

fn from_edge(edge: &reference::Edge) -> Edge {
    Edge {
        source: NodeId(edge.source_id),
        target: NodeId(edge.target_id),
        edge_type: EdgeType(edge.edge_type as u8),
        weight: edge.weight,
        created_at: Micros(edge.created_at as i64),
    }
}
