//! The reference implementation with the report's data: in memory with its indexes, and as its own file.

use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use agentic_memory::{
    AmemWriter, CognitiveEvent, DocLengths, Edge, EdgeType, EventType, MemoryGraph, TermIndex,
    Tokenizer,
};
use amem_format::event::{Event, Graph};

use super::corpus::{Corpus, DIMENSION};
use super::measure::Outcome;

/// All types of edges.
pub(super) const EDGE_TYPES: [EdgeType; 7] = [
    EdgeType::CausedBy,
    EdgeType::Supports,
    EdgeType::Contradicts,
    EdgeType::Supersedes,
    EdgeType::RelatedTo,
    EdgeType::PartOf,
    EdgeType::TemporalNext,
];

/// The graph in memory, with the index of terms and the lengths of texts.
pub(super) fn graph(corpus: &Corpus) -> Outcome<MemoryGraph> {
    let mut graph = bare(corpus)?;
    let tokenizer = Tokenizer::new();
    graph.set_term_index(TermIndex::build(&graph, &tokenizer));
    graph.set_doc_lengths(DocLengths::build(&graph, &tokenizer));
    Ok(graph)
}

/// The graph in memory, without the index of terms.
pub(super) fn bare(corpus: &Corpus) -> Outcome<MemoryGraph> {
    let mut nodes = Vec::with_capacity(corpus.nodes as usize);
    let mut edges = Vec::with_capacity(3 * corpus.nodes as usize);
    for id in 0..corpus.nodes {
        nodes.push(node(corpus.event_at(id)?)?);
        for edge in corpus.edges(id) {
            edges.push(Edge {
                source_id: edge.source.0,
                target_id: edge.target.0,
                edge_type: EdgeType::from_u8(edge.edge_type.0).ok_or("no such type of edge")?,
                weight: edge.weight,
                created_at: edge.created_at.0 as u64,
            });
        }
    }
    Ok(MemoryGraph::from_parts(nodes, edges, DIMENSION as usize)?)
}

/// Its file of a graph.
pub(super) fn write(graph: &MemoryGraph, path: &Path) -> Outcome<()> {
    let mut file = BufWriter::new(File::create(path)?);
    AmemWriter::new(DIMENSION as usize).write_to(graph, &mut file)?;
    Ok(())
}

/// An event in its words.
pub(super) fn node(event: Event) -> Outcome<CognitiveEvent> {
    Ok(CognitiveEvent {
        id: event.id.0,
        event_type: event_type(event.event_type.0)?,
        created_at: event.created_at.0 as u64,
        session_id: event.session.0,
        confidence: event.confidence,
        access_count: event.access_count,
        last_accessed: event.last_accessed.0 as u64,
        decay_score: event.decay_score,
        content: event.text,
        feature_vec: event.vector.unwrap_or_default(),
    })
}

/// A type of events in its words.
pub(super) fn event_type(number: u8) -> Outcome<EventType> {
    Ok(EventType::from_u8(number).ok_or("no such type of event")?)
}
