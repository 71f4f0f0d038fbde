//! Writes a graph as a spec-1 file.
//!
//! Promises: `Spec1::open` accepts the file, and the report counts lossy conversions. Counts beyond the layout's fields
//! and edges to events outside the graph are errors before the first byte. Records, compressed content and metadata are
//! held in memory, vectors are streamed.
//! Not here: which events are exported.

use std::io::Write;

use serde_json::Value;

use super::cluster::ClusterMap;
use super::content::ContentEncoder;
use super::header::{EDGE_BYTES, HAS_INDEXES, HAS_VECTORS, IS_COMPRESSED, NODE_BYTES, Spec1Header};
use super::index;
use super::node::{MICROS_PER_SECOND, NONE};
use super::verify::SESSION_COUNT_FULL;
use crate::foreign::export::{self, Numbering};
use crate::foreign::layout::HEADER_BYTES;
use amem_format::bytes::{get_u64, put_u64};
use amem_format::error::{Error, Result};
use amem_format::event::{Attributes, Event, Graph};
use amem_format::types::Flags;

/// The dimension in the header of a file without vectors: the specification requires a positive number and names this
/// default.
const DIMENSION_DEFAULT: u16 = 128;

/// What an export wrote, and its lossy conversions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spec1Report {
    /// Events written.
    pub events: u64,
    /// Edges written, without their times.
    pub edges: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Distinct sessions; the header counts at most 65,535.
    pub sessions: u64,
    /// Events with a new id.
    pub renumbered: u64,
    /// Events whose recorded time was rounded down to a second.
    pub sub_second_times: u64,
    /// Events whose event time was lost.
    pub event_times: u64,
    /// Events whose access count or time of last access was lost.
    pub accesses: u64,
    /// Events whose decay score was lost.
    pub decay_scores: u64,
    /// Events whose own decay rate was lost.
    pub lambdas: u64,
    /// Events that lost a flag: pinned, forgotten, compressed or erased.
    pub flags: u64,
    /// Attribute values that were not strings, now written as their JSON text.
    pub non_string_attributes: u64,
}

/// Writes a graph as a spec-1 file. Ids become positions.
pub fn write(graph: &dyn Graph, out: &mut impl Write) -> Result<Spec1Report> {
    let (nodes, dimension) = (graph.event_count(), graph.dimension());
    Error::check_limit("number of events", nodes, u32::MAX.into())?;
    Error::check_limit("dimension", dimension.into(), u16::MAX.into())?;
    let body = Spec1Body::gather(graph)?;
    let sessions = index::session_count(&body.nodes);
    let content_at = (HEADER_BYTES + body.nodes.len() + body.edges.len()) as u64;
    let vectors_at = content_at + body.content.len() as u64;
    let header = Spec1Header {
        flags: HAS_INDEXES | IS_COMPRESSED | if dimension > 0 { HAS_VECTORS } else { 0 },
        node_count: nodes as u32,
        edge_count: body.report.edges as u32,
        dimension: if dimension > 0 {
            dimension as u16
        } else {
            DIMENSION_DEFAULT
        },
        session_count: sessions.min(SESSION_COUNT_FULL.into()) as u16,
        content_offset: content_at,
        content_length: body.content.len() as u64,
        vector_offset: vectors_at,
        index_offset: vectors_at + nodes * u64::from(dimension) * 4,
        content_uncompressed: body.content_uncompressed as u32,
    };
    let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(export::write_error);
    put(&header.encode())?;
    put(&body.nodes)?;
    put(&body.edges)?;
    put(&body.content)?;
    let mut clusters = ClusterMap::choose(graph, &body.with_vector())?;
    for position in 0..nodes {
        let vector = graph.event_at(position)?.vector;
        put(&slot(vector.as_deref(), dimension))?;
        clusters.push(vector.as_deref());
    }
    let indexes = [
        index::types(&body.nodes),
        index::sessions(&body.nodes),
        index::times(&body.nodes),
        clusters.encode(header.dimension),
    ]
    .concat();
    put(&indexes)?;
    out.flush().map_err(export::write_error)?;
    Ok(Spec1Report {
        bytes: header.index_offset + indexes.len() as u64,
        sessions: sessions as u64,
        ..body.report
    })
}

/// The vector slot of an event; zeros if it has no vector.
fn slot(vector: Option<&[f32]>, dimension: u32) -> Vec<u8> {
    match vector {
        Some(vector) => vector.iter().flat_map(|n| n.to_le_bytes()).collect(),
        None => vec![0; dimension as usize * 4],
    }
}

/// Everything before the vectors.
struct Spec1Body {
    nodes: Vec<u8>,
    edges: Vec<u8>,
    content: Vec<u8>,
    content_uncompressed: u64,
    report: Spec1Report,
}

impl Spec1Body {
    fn gather(graph: &dyn Graph) -> Result<Self> {
        let mut report = Spec1Report::default();
        let mut numbering = Numbering::default();
        let mut packer = ContentEncoder::new();
        let mut nodes = Vec::new();
        let mut metadata = Vec::new();
        for position in 0..graph.event_count() {
            let event = export::event(graph, position)?;
            numbering.push(event.id)?;
            count_losses(&event, &mut report);
            let text_at = packer.push(event.text.as_bytes())?;
            let metadata_at = metadata.len() as u64;
            if let Some(attributes) = event.attributes.as_ref() {
                push_metadata(&mut metadata, attributes, &mut report)?;
            }
            let metadata_len = metadata.len() as u64 - metadata_at;
            nodes.extend(record(&event, position, text_at, metadata_at, metadata_len));
        }
        // The metadata follows all texts, which end here.
        let texts_end = packer.push(&metadata)?;
        for node in nodes.chunks_exact_mut(NODE_BYTES) {
            let at = get_u64(node, 40);
            if at != NONE {
                put_u64(node, 40, texts_end + at);
            }
        }
        let mut edges = Vec::new();
        for position in 0..graph.event_count() {
            for edge in numbering.edges(&graph.edges_at(position)?, position)? {
                edges.extend_from_slice(&(edge.source.0 as u32).to_le_bytes());
                edges.extend_from_slice(&(edge.target.0 as u32).to_le_bytes());
                edges.push(edge.edge_type.0);
                edges.extend_from_slice(&edge.weight.to_le_bytes());
            }
        }
        report.events = graph.event_count();
        report.edges = (edges.len() / EDGE_BYTES) as u64;
        report.renumbered = numbering.renumbered();
        Error::check_limit("number of edges", report.edges, u32::MAX.into())?;
        Ok(Self {
            nodes,
            edges,
            content_uncompressed: packer.bytes(),
            content: packer.finish()?,
            report,
        })
    }

    /// The positions of events with a vector.
    fn with_vector(&self) -> Vec<u64> {
        let nodes = (0..).zip(self.nodes.chunks_exact(NODE_BYTES));
        nodes
            .filter(|(_, node)| get_u64(node, 32) != NONE)
            .map(|(position, _)| position)
            .collect()
    }
}

fn record(
    event: &Event,
    position: u64,
    text_at: u64,
    metadata_at: u64,
    metadata_len: u64,
) -> Vec<u8> {
    let vector_at = match &event.vector {
        Some(vector) => position * vector.len() as u64 * 4,
        None => NONE,
    };
    let metadata_at = if metadata_len > 0 { metadata_at } else { NONE };
    // Rounded down, but not below the first whole second that i64 microseconds can hold.
    let first = i64::MIN / MICROS_PER_SECOND;
    let seconds = event.created_at.0.div_euclid(MICROS_PER_SECOND).max(first);
    let mut record = Vec::with_capacity(NODE_BYTES);
    record.extend_from_slice(&[event.event_type.0, 0, 0, 0]);
    record.extend_from_slice(&event.session.0.to_le_bytes());
    record.extend_from_slice(&event.confidence.to_le_bytes());
    record.extend_from_slice(&seconds.to_le_bytes());
    record.extend_from_slice(&text_at.to_le_bytes());
    record.extend_from_slice(&(event.text.len() as u32).to_le_bytes());
    record.extend_from_slice(&vector_at.to_le_bytes());
    record.extend_from_slice(&metadata_at.to_le_bytes());
    record.extend_from_slice(&(metadata_len as u32).to_le_bytes());
    record.resize(NODE_BYTES, 0);
    record
}

/// Appends a flat JSON object whose values are strings, as the specification requires.
fn push_metadata(
    metadata: &mut Vec<u8>,
    attributes: &Attributes,
    report: &mut Spec1Report,
) -> Result<()> {
    let mut flat = Attributes::new();
    for (key, value) in attributes {
        let value = match value {
            Value::String(_) => value.clone(),
            other => {
                report.non_string_attributes += 1;
                Value::String(other.to_string())
            }
        };
        flat.insert(key.clone(), value);
    }
    serde_json::to_writer(metadata, &flat).map_err(|e| export::write_error(e.into()))
}

fn count_losses(event: &Event, report: &mut Spec1Report) {
    let ours = event
        .flags
        .without(Flags::VECTOR)
        .without(Flags::ATTRIBUTES);
    let whole_second = event.created_at.0.rem_euclid(MICROS_PER_SECOND) == 0;
    let accessed = event.access_count != 0 || event.last_accessed != event.created_at;
    report.sub_second_times += u64::from(!whole_second);
    report.event_times += u64::from(event.event_time.is_some());
    report.accesses += u64::from(accessed);
    report.decay_scores += u64::from(event.decay_score != event.confidence);
    report.lambdas += u64::from(event.lambda != 0.0);
    report.flags += u64::from(ours != Flags::default());
}

#[cfg(test)]
mod tests {
    use super::super::Spec1;
    use super::*;
    use crate::foreign::sample;
    use amem_format::event::MemoryGraph;
    use amem_format::types::{EdgeType, EventType, Micros, NodeId, SessionId};

    fn round(graph: &MemoryGraph) -> (MemoryGraph, Spec1Report) {
        let mut bytes = Vec::new();
        let report = write(graph, &mut bytes).unwrap();
        assert_eq!(report.bytes, bytes.len() as u64);
        (sample::collect(&Spec1::open(&bytes).unwrap()), report)
    }

    #[test]
    fn what_the_layout_can_hold_reads_back_whole() {
        for count in [1, 2, 5, 9, 200] {
            let mut graph = sample::graph(count);
            sample::set_attribute(&mut graph.events[0], "key", "välue \"quoted\"".into());
            graph.events[count as usize - 1].event_type = EventType(200);
            let (back, report) = round(&graph);
            assert_eq!(back, graph);
            let expected = Spec1Report {
                events: count,
                edges: graph.edges.len() as u64,
                bytes: report.bytes,
                sessions: report.sessions,
                ..Spec1Report::default()
            };
            assert_eq!(report, expected);
        }
    }

    #[test]
    fn empty_graphs_and_graphs_without_vectors_read_back() {
        for dimension in [0, 3] {
            let empty = MemoryGraph {
                dimension,
                ..MemoryGraph::default()
            };
            assert_eq!(round(&empty).0, empty);
        }
        let mut graph = sample::graph(5);
        graph.dimension = 0;
        for event in &mut graph.events {
            event.vector = None;
            event.flags = Flags::default();
        }
        assert_eq!(round(&graph).0, graph);
    }

    #[test]
    fn what_the_layout_cannot_hold_is_counted() {
        let mut graph = sample::graph(6);
        graph.events[0].created_at.0 += 1;
        graph.events[0].last_accessed = graph.events[0].created_at;
        graph.events[1].event_time = Some(Micros(1));
        graph.events[2].access_count = 3;
        graph.events[3].decay_score = 0.01;
        graph.events[4].lambda = 0.5;
        graph.events[5].flags = graph.events[5].flags.with(Flags::PINNED);
        sample::set_attribute(&mut graph.events[5], "n", 5.into());
        sample::set_attribute(&mut graph.events[5], "list", vec!["a"].into());
        let (back, report) = round(&graph);
        let lost = [
            report.sub_second_times,
            report.event_times,
            report.accesses,
            report.decay_scores,
            report.lambdas,
            report.flags,
        ];
        assert_eq!(lost, [1; 6]);
        assert_eq!(report.non_string_attributes, 2);
        let attributes = back.events[5].attributes.as_ref().unwrap();
        assert_eq!(attributes["n"], Value::from("5"));
        assert_eq!(attributes["list"], Value::from("[\"a\"]"));
    }

    #[test]
    fn times_before_1970_are_kept_and_rounded_down() {
        let mut graph = sample::graph(3);
        for (event, time) in graph.events.iter_mut().zip([-1, -1_000_000, i64::MIN]) {
            event.created_at = Micros(time);
        }
        let (back, report) = round(&MemoryGraph {
            edges: Vec::new(),
            ..graph
        });
        assert_eq!(back.events[0].created_at, Micros(-1_000_000));
        assert_eq!(back.events[1].created_at, Micros(-1_000_000));
        let first = i64::MIN / MICROS_PER_SECOND * MICROS_PER_SECOND;
        assert_eq!(back.events[2].created_at, Micros(first));
        assert_eq!(report.sub_second_times, 2);
    }

    #[test]
    fn ids_become_positions_and_edges_follow() {
        let mut graph = sample::graph(2);
        graph.events[1].id = NodeId(u64::MAX);
        graph.edges = vec![sample::edge(0, 1, 3)];
        graph.edges[0].target = NodeId(u64::MAX);
        let (back, report) = round(&graph);
        assert_eq!(back.edges, [sample::edge(0, 1, 3)]);
        assert_eq!(report.renumbered, 1);
        graph.edges[0].target = NodeId(7);
        let error = write(&graph, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("not exported"), "{error}");
    }

    #[test]
    fn more_sessions_than_the_header_counts_are_all_there() {
        let mut graph = MemoryGraph::default();
        for id in 0..70_000 {
            graph.events.push(Event {
                session: SessionId(id as u32),
                text: String::new(),
                vector: None,
                flags: Flags::default(),
                ..sample::event(id)
            });
        }
        let (back, report) = round(&graph);
        assert_eq!(report.sessions, 70_000);
        assert_eq!(back.events[69_999].session, SessionId(69_999));
    }

    /// Counts and dimensions that no memory could hold.
    struct Claims(u32, u64);

    impl Graph for Claims {
        fn dimension(&self) -> u32 {
            self.0
        }
        fn event_count(&self) -> u64 {
            self.1
        }
        fn event_at(&self, _: u64) -> Result<Event> {
            unreachable!("refused before the first event")
        }
        fn edges_at(&self, _: u64) -> Result<Vec<amem_format::event::Edge>> {
            unreachable!("refused before the first event")
        }
    }

    #[test]
    fn what_the_header_cannot_count_is_refused() {
        let check = |graph: Claims, expected: &str| {
            let error = write(&graph, &mut Vec::new()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check(
            Claims(65_536, 0),
            "dimension is 65536, more than the limit of 65535",
        );
        check(Claims(1, 1 << 32), "number of events is 4294967296");
    }

    #[test]
    fn opaque_edge_types_are_kept() {
        let mut graph = sample::graph(2);
        graph.edges[1].edge_type = EdgeType(255);
        assert_eq!(round(&graph).0, graph);
    }
}
