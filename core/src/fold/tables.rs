//! The tables of a new base: nodes, edges, content, vectors; and what the sections need of them.

use super::image::{Chunk, Sink, Stream};
use crate::base::adjacency::Builder;
use crate::base::header::{Header, LEN, VECTORS_ALIGN};
use crate::base::node::{self, Record};
use crate::base::{content, edge};
use crate::bytes::align_up;
use crate::error::{Error, Result};
use crate::types::{EdgeType, Flags, NodeId};
use crate::view::{Direction, View};

/// What was written, and what the sections need.
pub(super) struct Tables {
    /// Where the vectors end.
    pub(super) end: u64,
    /// Checksums of all of it.
    pub(super) chunks: Vec<Chunk>,
    pub(super) types: Vec<u8>,
    pub(super) sessions: Vec<u32>,
    pub(super) recorded: Vec<i64>,
    pub(super) event_times: Vec<(u32, i64)>,
    pub(super) strengths: Vec<f32>,
    pub(super) with_attributes: Vec<u32>,
    /// Ascending.
    pub(super) erased: Vec<u32>,
    pub(super) adjacency: Builder,
    pub(super) contradicts: Vec<[u32; 2]>,
    pub(super) supersedes: Vec<[u32; 2]>,
    pub(super) vector_count: u64,
    pub(super) vector_sum: Vec<f64>,
    pub(super) inverse_lengths: Vec<f32>,
}

pub(super) fn write(view: &View, sink: &mut dyn Sink) -> Result<Tables> {
    let (n, m, dimension) = (view.nodes(), view.edges(), view.vector_dimension());
    let node_table = LEN as u64;
    let edge_table = node_table + n * node::LEN as u64;
    let content_at = edge_table + m * edge::LEN as u64;
    let mut t = Tables {
        end: 0,
        chunks: Vec::new(),
        types: Vec::with_capacity(n as usize),
        sessions: Vec::with_capacity(n as usize),
        recorded: Vec::with_capacity(n as usize),
        event_times: Vec::new(),
        strengths: Vec::with_capacity(n as usize),
        with_attributes: Vec::new(),
        erased: Vec::new(),
        adjacency: Builder::new(n),
        contradicts: Vec::new(),
        supersedes: Vec::new(),
        vector_count: 0,
        vector_sum: vec![0.0; dimension as usize],
        inverse_lengths: Vec::with_capacity(n as usize),
    };
    let mut nodes = Stream::at(node_table);
    let mut edges = Stream::at(edge_table);
    let mut texts = Stream::at(content_at);
    let mut block = Vec::new();
    for id in (0..n).map(NodeId) {
        let edge_offset = edges.len();
        let edge_count = write_edges(view, id, &mut t, &mut edges, sink)?;
        let node = view.node(id)?;
        block.clear();
        content::encode(&mut block, &node.text()?);
        let content_offset = texts.len();
        texts.write(sink, &block)?;
        let strength = node.strength();
        let flags = node.flags();
        let record = Record {
            id,
            event_type: node.event_type(),
            flags,
            created_at: node.created_at(),
            session: node.session(),
            confidence: node.confidence(),
            access_count: node.access_count(),
            last_accessed: node.last_accessed(),
            decay_score: strength,
            content_offset: if block.is_empty() { 0 } else { content_offset },
            content_len: block.len() as u32,
            edge_offset,
            edge_count,
            lambda: node.lambda(),
        };
        nodes.write(sink, &record.encode())?;
        t.types.push(record.event_type.0);
        t.sessions.push(record.session.0);
        t.recorded.push(record.created_at.0);
        t.strengths.push(strength);
        if let Some(time) = node.event_time()? {
            t.event_times.push((id.0 as u32, time.0));
        }
        if flags.has(Flags::ATTRIBUTES) {
            t.with_attributes.push(id.0 as u32);
        }
        if flags.has(Flags::ERASED) {
            t.erased.push(id.0 as u32);
        }
    }
    if edges.len() != m * edge::LEN as u64 {
        let why = format!(
            "{} edges were found where {m} were counted",
            edges.len() / edge::LEN as u64
        );
        return Err(Error::corrupt("edges", edge_table, why));
    }
    let vectors_at = align_up(texts.position(), VECTORS_ALIGN)
        .ok_or_else(|| Error::invalid("brain", "its texts are too long for a file"))?;
    let gap = vectors_at - texts.position();
    texts.write(sink, &vec![0; gap as usize])?;
    let header = Header {
        dimension,
        flags: 0,
        nodes: n,
        edges: m,
        node_table,
        edge_table,
        content: content_at,
        vectors: vectors_at,
    };
    let mut front = Stream::at(0);
    front.write(sink, &header.encode())?;
    let mut vectors = Stream::at(vectors_at);
    write_vectors(view, &mut t, &mut vectors, sink)?;
    t.end = vectors.position();
    for stream in [front, nodes, edges, texts, vectors] {
        t.chunks.extend(stream.finish(sink)?);
    }
    Ok(t)
}

/// Writes the edges of one event and returns their number.
fn write_edges(
    view: &View,
    id: NodeId,
    t: &mut Tables,
    edges: &mut Stream,
    sink: &mut dyn Sink,
) -> Result<u32> {
    t.adjacency.begin();
    let ties = view.ties(id, Direction::Outgoing)?;
    for tie in ties.iter() {
        let edge = view.edge(id, Direction::Outgoing, &tie)?;
        edges.write(sink, &edge::encode(&edge))?;
        let (source, target) = (edge.source.0 as u32, edge.target.0 as u32);
        t.adjacency.push(target, edge.edge_type.0);
        match edge.edge_type {
            EdgeType::CONTRADICTS => t.contradicts.push([source, target]),
            EdgeType::SUPERSEDES => t.supersedes.push([target, source]),
            _ => {}
        }
    }
    Ok(ties.len() as u32)
}

fn write_vectors(
    view: &View,
    t: &mut Tables,
    vectors: &mut Stream,
    sink: &mut dyn Sink,
) -> Result<()> {
    let none = vec![0.0f32; view.vector_dimension() as usize];
    for id in (0..view.nodes()).map(NodeId) {
        let node = view.node(id)?;
        let vector = node.vector()?;
        vectors.write(sink, bytemuck::cast_slice(vector.unwrap_or(&none)))?;
        t.inverse_lengths.push(vector.map_or(0.0, inverse_length));
        if let Some(vector) = vector {
            t.vector_count += 1;
            t.vector_sum
                .iter_mut()
                .zip(vector)
                .for_each(|(sum, &x)| *sum += f64::from(x));
        }
    }
    Ok(())
}

/// 1 / length of a vector, 0 for one of zeros. Summed in f64, so that no vector overflows, in eight lanes, so that no
/// addition waits for the one before.
pub(crate) fn inverse_length(vector: &[f32]) -> f32 {
    let (chunks, rest) = vector.as_chunks::<8>();
    let mut lanes = [0.0f64; 8];
    for chunk in chunks {
        for i in 0..8 {
            lanes[i] += f64::from(chunk[i]) * f64::from(chunk[i]);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane += f64::from(x) * f64::from(x);
    }
    let square: f64 = lanes.iter().sum();
    if square > 0.0 {
        (1.0 / square.sqrt()) as f32
    } else {
        0.0
    }
}
