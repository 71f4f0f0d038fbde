//! Writes a graph byte for byte as the reference implementation does.
//!
//! Promises: a graph that the reference can represent becomes the file that it would write. Types unknown to it are an
//! error before the first byte, or mapped on request; other lossy conversions are counted. Records, edges, compressed
//! texts and indexes are held in memory, vectors are streamed.
//! Not here: which events are exported. The caller leaves out forgotten events and their edges.

use std::io::Write;

use super::compat_index::Indexes;
use super::export::{self, Numbering};
use super::layout::{EDGE_BYTES, HEADER_BYTES, MAGIC, NODE_BYTES, VERSION};
use super::text;
use amem_format::error::{Error, Result};
use amem_format::event::{Edge, Event, Graph};
use amem_format::limits;
use amem_format::types::{EdgeType, EventType, Flags, NodeId};

/// Maximum of the edge count in the reference's node record.
const OUT_EDGES_MAX: usize = u16::MAX as usize;
/// Header flags of the reference: the file has a term index and document lengths.
const HAS_TEXT_INDEXES: u32 = 3;

/// How to export.
#[derive(Debug, Clone, Copy, Default)]
pub struct CompatOptions {
    /// Write unknown event types as fact and unknown edge types as related-to, instead of failing.
    pub map_unknown: bool,
}

/// What an export wrote, and its lossy conversions. Ids are those of the graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CompatReport {
    /// Events written.
    pub events: u64,
    /// Edges written.
    pub edges: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Events with a new id.
    pub renumbered: u64,
    /// Events written as facts, with their original types.
    pub mapped_events: Vec<(NodeId, EventType)>,
    /// Edges written as related-to.
    pub mapped_edges: Vec<Edge>,
    /// Events whose attributes were lost.
    pub attributes: u64,
    /// Events whose event time was lost.
    pub event_times: u64,
    /// Events whose own decay rate was lost.
    pub lambdas: u64,
    /// Events that lost a flag: pinned, forgotten, compressed or erased.
    pub flags: u64,
    /// Events with a vector of zeros, which reads as no vector.
    pub zero_vectors: u64,
    /// Events recorded before 1970, which the reference reads as a time far in the future.
    pub times_before_1970: u64,
    /// Words longer than 65,535 bytes, which its term index cannot hold.
    pub words_left_out: u64,
}

/// Writes a graph as the reference does. Ids become positions.
///
/// # Errors Event types above 5 and edge types above 6 (unless mapped), more than 65,535 outgoing edges on an event
/// (the reference would lose the rest), edges to events outside the graph.
pub fn write_compatible(
    graph: &dyn Graph,
    options: CompatOptions,
    out: &mut impl Write,
) -> Result<CompatReport> {
    Error::check_limit("number of events", graph.event_count(), limits::NODES_MAX)?;
    let mut body = CompatBody::default();
    let mut numbering = Numbering::default();
    for position in 0..graph.event_count() {
        let event = export::event(graph, position)?;
        numbering.push(event.id)?;
        body.push_event(event, options)?;
    }
    for position in 0..graph.event_count() {
        let edges = graph.edges_at(position)?;
        let numbered = numbering.edges(&edges, position)?;
        body.push_edges(position, edges, numbered, options)?;
    }
    body.report.renumbered = numbering.renumbered();

    let mut out = CountingWriter { out, bytes: 0 };
    out.write(&body.header(graph.dimension()))?;
    out.write(&body.nodes)?;
    out.write(&body.edges)?;
    out.write(&body.content)?;
    let none = vec![0; graph.dimension() as usize * 4];
    for position in 0..graph.event_count() {
        match graph.event_at(position)?.vector {
            Some(vector) => out.write(&floats(&vector))?,
            None => out.write(&none)?,
        }
    }
    for (tag, section) in body.indexes.sections(graph.dimension()) {
        out.write(&[tag])?;
        out.write(&(section.len() as u64).to_le_bytes())?;
        out.write(&section)?;
    }
    out.out.flush().map_err(export::write_error)?;
    body.report.bytes = out.bytes;
    body.report.words_left_out = body.indexes.words_left_out();
    Ok(body.report)
}

/// The tables under construction, and the report.
#[derive(Default)]
struct CompatBody {
    nodes: Vec<u8>,
    edges: Vec<u8>,
    content: Vec<u8>,
    indexes: Indexes,
    report: CompatReport,
}

impl CompatBody {
    fn push_event(&mut self, event: Event, options: CompatOptions) -> Result<()> {
        let event_type = self.known_event_type(&event, options)?;
        self.count_losses(&event);
        let block = text::encode(&event.text);
        let mut record = Vec::with_capacity(NODE_BYTES);
        record.extend_from_slice(&self.report.events.to_le_bytes());
        record.extend_from_slice(&[event_type.0, 0, 0, 0]);
        record.extend_from_slice(&event.created_at.0.to_le_bytes());
        record.extend_from_slice(&event.session.0.to_le_bytes());
        record.extend_from_slice(&event.confidence.to_le_bytes());
        record.extend_from_slice(&event.access_count.to_le_bytes());
        record.extend_from_slice(&event.last_accessed.0.to_le_bytes());
        record.extend_from_slice(&event.decay_score.to_le_bytes());
        record.extend_from_slice(&(self.content.len() as u64).to_le_bytes());
        record.extend_from_slice(&(block.len() as u32).to_le_bytes());
        record.resize(NODE_BYTES, 0);
        self.nodes.append(&mut record);
        self.content.extend_from_slice(&block);
        self.indexes.push(event_type, &event);
        self.report.events += 1;
        Ok(())
    }

    /// `edges` have the ids of the graph, `numbered` are the same edges with positions.
    fn push_edges(
        &mut self,
        position: u64,
        edges: Vec<Edge>,
        numbered: Vec<Edge>,
        options: CompatOptions,
    ) -> Result<()> {
        if edges.len() > OUT_EDGES_MAX {
            return Err(Error::invalid(
                "export --format compatible",
                format!(
                    "event {} has {} outgoing edges; the reference counts at most {OUT_EDGES_MAX} \
                     and would lose the rest: unlink some, or export as spec-1",
                    edges[0].source,
                    edges.len()
                ),
            ));
        }
        let record = &mut self.nodes[position as usize * NODE_BYTES..][..NODE_BYTES];
        record[56..64].copy_from_slice(&(self.edges.len() as u64).to_le_bytes());
        record[64..66].copy_from_slice(&(edges.len() as u16).to_le_bytes());
        let mut pairs: Vec<_> = edges.into_iter().zip(numbered).collect();
        // The reference sorts by source and target only, with a stable sort.
        pairs.sort_by_key(|(_, numbered)| numbered.target);
        for (edge, numbered) in pairs {
            let edge_type = self.known_edge_type(&edge, options)?;
            self.edges
                .extend_from_slice(&numbered.source.0.to_le_bytes());
            self.edges
                .extend_from_slice(&numbered.target.0.to_le_bytes());
            self.edges.extend_from_slice(&[edge_type.0, 0, 0, 0]);
            self.edges.extend_from_slice(&edge.weight.to_le_bytes());
            self.edges
                .extend_from_slice(&edge.created_at.0.to_le_bytes());
            self.report.edges += 1;
        }
        Ok(())
    }

    fn known_event_type(&mut self, event: &Event, options: CompatOptions) -> Result<EventType> {
        if event.event_type.is_known() {
            return Ok(event.event_type);
        }
        if !options.map_unknown {
            return Err(unknown(format!(
                "event {} is a {}",
                event.id, event.event_type
            )));
        }
        self.report.mapped_events.push((event.id, event.event_type));
        Ok(EventType::FACT)
    }

    fn known_edge_type(&mut self, edge: &Edge, options: CompatOptions) -> Result<EdgeType> {
        if edge.edge_type.is_known() {
            return Ok(edge.edge_type);
        }
        if !options.map_unknown {
            return Err(unknown(format!(
                "the edge from event {} to event {} is a {}",
                edge.source, edge.target, edge.edge_type
            )));
        }
        self.report.mapped_edges.push(*edge);
        Ok(EdgeType::RELATED_TO)
    }

    fn count_losses(&mut self, event: &Event) {
        let ours = event
            .flags
            .without(Flags::VECTOR)
            .without(Flags::ATTRIBUTES);
        let report = &mut self.report;
        report.attributes += u64::from(event.attributes.is_some());
        report.event_times += u64::from(event.event_time.is_some());
        report.lambdas += u64::from(event.lambda != 0.0);
        report.flags += u64::from(ours != Flags::default());
        report.times_before_1970 += u64::from(event.created_at.0 < 0);
        let vector = event.vector.as_ref();
        report.zero_vectors += u64::from(vector.is_some_and(|v| v.iter().all(|&n| n == 0.0)));
    }

    fn header(&self, dimension: u32) -> Vec<u8> {
        let flags = if self.report.events > 0 {
            HAS_TEXT_INDEXES
        } else {
            0
        };
        let mut header = Vec::with_capacity(HEADER_BYTES);
        header.extend_from_slice(&MAGIC);
        for field in [VERSION, dimension, flags] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        for field in [self.report.events, self.report.edges] {
            header.extend_from_slice(&field.to_le_bytes());
        }
        let mut at = HEADER_BYTES as u64;
        for table in [&self.nodes, &self.edges, &self.content] {
            header.extend_from_slice(&at.to_le_bytes());
            at += table.len() as u64;
        }
        header.extend_from_slice(&at.to_le_bytes());
        header
    }
}

fn unknown(what: String) -> Error {
    Error::invalid(
        "export --format compatible",
        format!(
            "{what}, which the reference does not support: pass --map-unknown to map such types"
        ),
    )
}

fn floats(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Counts written bytes.
struct CountingWriter<'w, W> {
    out: &'w mut W,
    bytes: u64,
}

impl<W: Write> CountingWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(export::write_error)
    }
}

const _: () = assert!(HEADER_BYTES == 64 && NODE_BYTES == 72 && EDGE_BYTES == 32);

#[cfg(test)]
mod tests {
    use super::super::{Foreign, sample};
    use super::*;
    use amem_format::event::MemoryGraph;
    use amem_format::types::{Micros, SessionId};

    fn write(graph: &MemoryGraph) -> (Vec<u8>, CompatReport) {
        let mut bytes = Vec::new();
        let report = write_compatible(graph, CompatOptions::default(), &mut bytes).unwrap();
        assert_eq!(report.bytes, bytes.len() as u64);
        (bytes, report)
    }

    fn refused(graph: &MemoryGraph, expected: &str) {
        let mut bytes = Vec::new();
        let error = write_compatible(graph, CompatOptions::default(), &mut bytes).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(bytes.is_empty(), "nothing is written of what is refused");
    }

    #[test]
    fn what_is_written_reads_back_whole() {
        for count in [1, 2, 5, 40] {
            let graph = sample::graph(count);
            let (bytes, report) = write(&graph);
            let foreign = Foreign::open(&bytes).unwrap();
            assert_eq!(sample::collect(&foreign), graph);
            assert_eq!((report.events, report.renumbered), (count, 0));
        }
    }

    #[test]
    fn an_empty_graph_is_four_sections_and_no_flags() {
        let empty = MemoryGraph {
            dimension: 128,
            ..MemoryGraph::default()
        };
        let (bytes, _) = write(&empty);
        assert_eq!((bytes.len(), bytes[12]), (120, 0));
        assert_eq!(sample::collect(&Foreign::open(&bytes).unwrap()), empty);
    }

    #[test]
    fn ids_become_positions() {
        let mut graph = sample::graph(3);
        let new = [2, 5, 9];
        for event in &mut graph.events {
            event.id = NodeId(new[event.id.0 as usize]);
        }
        for edge in &mut graph.edges {
            edge.source = NodeId(new[edge.source.0 as usize]);
            edge.target = NodeId(new[edge.target.0 as usize]);
        }
        let (bytes, report) = write(&graph);
        assert_eq!(report.renumbered, 3);
        assert_eq!(bytes, write(&sample::graph(3)).0);
    }

    #[test]
    fn unknown_types_are_refused_by_name_or_mapped_and_listed() {
        let mut graph = sample::graph(3);
        graph.events[1].event_type = EventType(9);
        refused(&graph, "event 1 is a type-9");
        let mut edges_too = sample::graph(3);
        edges_too.edges[0].edge_type = EdgeType(77);
        refused(&edges_too, "from event 0 to event 1 is a type-77");

        edges_too.events[1].event_type = EventType(9);
        let mut bytes = Vec::new();
        let options = CompatOptions { map_unknown: true };
        let report = write_compatible(&edges_too, options, &mut bytes).unwrap();
        assert_eq!(report.mapped_events, [(NodeId(1), EventType(9))]);
        assert_eq!(report.mapped_edges, [edges_too.edges[0]]);
        let foreign = Foreign::open(&bytes).unwrap();
        assert_eq!(foreign.event_at(1).unwrap().event_type, EventType::FACT);
        let types = foreign.edges_at(0).unwrap();
        assert!(types.iter().any(|e| e.edge_type == EdgeType::RELATED_TO));
    }

    #[test]
    fn what_the_layout_cannot_hold_is_counted() {
        let mut graph = sample::graph(6);
        graph.events[0].event_time = Some(Micros(1));
        graph.events[1].lambda = 0.1;
        graph.events[2].flags = graph.events[2].flags.with(Flags::PINNED);
        graph.events[3].vector = Some(vec![0.0; 3]);
        graph.events[4].created_at = Micros(-1);
        graph.events[5].text = "x".repeat(70_000);
        sample::set_attribute(&mut graph.events[5], "key", 1.into());
        let (bytes, report) = write(&graph);
        let lost = [
            report.attributes,
            report.event_times,
            report.lambdas,
            report.flags,
            report.zero_vectors,
            report.times_before_1970,
            report.words_left_out,
        ];
        assert_eq!(lost, [1; 7]);
        let foreign = Foreign::open(&bytes).unwrap();
        assert_eq!(foreign.event_at(4).unwrap().created_at, Micros(-1));
        assert_eq!(foreign.event_at(3).unwrap().vector, None);
    }

    #[test]
    fn graphs_that_would_be_damaged_are_refused() {
        let change = |change: fn(&mut MemoryGraph), expected: &str| {
            let mut graph = sample::graph(3);
            change(&mut graph);
            refused(&graph, expected);
        };
        change(
            |g| g.edges[0].target = NodeId(8),
            "from event 0 to 8 points to an event",
        );
        change(
            |g| g.edges[0].weight = f32::NAN,
            "weight that is not finite",
        );
        change(|g| g.events[0].confidence = f32::INFINITY, "not finite");
        change(
            |g| g.events[0].vector = Some(vec![1.0]),
            "the vector has 1 dimensions",
        );
        change(|g| g.events[1].id = NodeId(0), "event 0 follows event 0");
        change(
            |g| g.events[1].text = "x".repeat((1 << 20) + 1),
            "text in bytes",
        );
    }

    #[test]
    fn the_65536th_outgoing_edge_is_refused() {
        let mut graph = MemoryGraph {
            dimension: 0,
            events: (0..=65_536)
                .map(|id| Event {
                    vector: None,
                    flags: Flags::default(),
                    text: String::new(),
                    session: SessionId(0),
                    ..sample::event(id)
                })
                .collect(),
            edges: (1..=65_536)
                .map(|target| sample::edge(0, target, 0))
                .collect(),
        };
        refused(&graph, "event 0 has 65536 outgoing edges");
        graph.edges.pop();
        let (bytes, _) = write(&graph);
        let foreign = Foreign::open(&bytes).unwrap();
        assert_eq!(foreign.edges_at(0).unwrap().len(), 65_535);
    }
}
