//! Writes the tables of a new base (nodes, edges, content, vectors) and collects the input of its sections.
//!
//! Unchanged data is copied in long runs; offsets in copied records are adjusted by a constant.

use super::copy_plan::CopyPlan;
use super::edges::{self, EdgeColumns};
use super::embeddings;
use super::source_table;
use crate::base::chunk::Chunk;
use crate::base::header::{Header, LEN, VECTORS_ALIGN};
use crate::base::identity::DecayRun;
use crate::base::image::{Sink, Stream};
use crate::base::node::{self, NodeRecord, RawNode};
use crate::base::source_table::SourceTable;
use crate::base::{Base, content, edge};
use crate::bytes::{align_up, get_u32, get_u64, put_f32, put_u64};
use crate::error::{Error, Result};
use crate::types::{Flags, NodeId};
use crate::view::{Node, strength_after};

/// Records adjusted in one step.
const MOVED: u64 = 2048;

/// The columns that the sections are built from.
pub(super) struct BaseTables {
    /// Position after the vectors.
    pub(super) end: u64,
    /// Checksums of all tables.
    pub(super) chunks: Vec<Chunk>,
    pub(super) edge_columns: EdgeColumns,
    /// 1 / length of each vector.
    pub(super) inverse_lengths: Vec<f32>,
    /// Of every event.
    pub(super) types: Vec<u8>,
    /// Of the events that are not copied, like the lists below.
    pub(super) sessions: Vec<u32>,
    pub(super) recorded: Vec<i64>,
    pub(super) event_times: Vec<(u32, i64)>,
    pub(super) with_attributes: Vec<u32>,
    /// Strengths that differ from the base's: of new and changed events, or of all after a decay run.
    pub(super) strengths: Vec<(u32, f32)>,
    /// All erased events, ascending.
    pub(super) erased: Vec<u32>,
}

pub(super) fn write(plan: &CopyPlan<'_>, sink: &mut dyn Sink) -> Result<BaseTables> {
    let view = plan.view;
    let (n, m) = (view.nodes(), view.edges());
    let node_table = LEN as u64;
    let edge_table = node_table + n * node::LEN as u64;
    let content_at = edge_table + m * edge::LEN as u64;
    let mut edges = Stream::at(edge_table);
    let edge_columns = edges::write(
        plan,
        edges::EdgeOutput {
            stream: &mut edges,
            sink,
        },
    )?;
    if edges.len() != m * edge::LEN as u64 {
        let found = edges.len() / edge::LEN as u64;
        let why = format!("found {found} edges, expected {m}");
        return Err(Error::corrupt("edges", edge_table, why));
    }
    let mut nodes = NodeWriter {
        plan,
        records: Stream::at(node_table),
        texts: Stream::at(content_at),
        edge_columns: &edge_columns,
        types: Vec::with_capacity(n as usize),
        sessions: Vec::new(),
        recorded: Vec::new(),
        event_times: Vec::new(),
        with_attributes: Vec::new(),
        strengths: Vec::new(),
        erased: plan.erased.clone(),
    };
    if let Some(base) = plan.base() {
        nodes.copy_events(base, sink)?;
    }
    nodes.encode_new(sink)?;
    let vectors_at = align_up(nodes.texts.position(), VECTORS_ALIGN)
        .ok_or_else(|| Error::invalid("brain", "the total size of its texts overflows"))?;
    let gap = vectors_at - nodes.texts.position();
    nodes.texts.write(sink, &vec![0; gap as usize])?;
    let header = Header {
        dimension: view.vector_dimension(),
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
    let mut stream = Stream::at(vectors_at);
    let inverse_lengths = embeddings::write(plan, &mut stream, sink)?;
    let end = stream.position();
    let mut chunks = Vec::new();
    for stream in [front, nodes.records, edges, nodes.texts, stream] {
        chunks.extend(stream.finish(sink)?);
    }
    Ok(BaseTables {
        end,
        chunks,
        inverse_lengths,
        types: nodes.types,
        sessions: nodes.sessions,
        recorded: nodes.recorded,
        event_times: nodes.event_times,
        with_attributes: nodes.with_attributes,
        strengths: nodes.strengths,
        erased: nodes.erased,
        edge_columns,
    })
}

/// The node table and the content under construction.
struct NodeWriter<'k> {
    plan: &'k CopyPlan<'k>,
    records: Stream,
    texts: Stream,
    edge_columns: &'k EdgeColumns,
    types: Vec<u8>,
    sessions: Vec<u32>,
    recorded: Vec<i64>,
    event_times: Vec<(u32, i64)>,
    with_attributes: Vec<u32>,
    strengths: Vec<(u32, f32)>,
    erased: Vec<u32>,
}

/// How far the targets of offsets have moved.
#[derive(Clone, Copy, Default)]
struct OffsetShift {
    /// Bytes that edges moved towards the end; modulo 2⁶⁴.
    edges: u64,
    /// Bytes that texts moved towards the start.
    texts: u64,
}

impl NodeWriter<'_> {
    /// Copies records and texts; patches the records that the delta changed.
    fn copy_events(&mut self, base: &Base, sink: &mut dyn Sink) -> Result<()> {
        let (h, view) = (base.header(), self.plan.view);
        let old = source_table::stream(base, "node table", h.node_table, h.edge_table)?;
        let starts = base.adjacency()?.out_starts();
        self.copy_texts(base, &old, sink)?;
        let (mut from, mut moved) = (0, OffsetShift::default());
        for &id in &self.plan.changed {
            let (at, id) = (id as usize, NodeId(id.into()));
            self.run(&old, from..id.0, moved, sink)?;
            let (before, node) = (base.record(id)?, view.node(id)?);
            let (offset, len) = match before.content_len {
                0 => (0, 0),
                _ if node.is_erased() => (0, 0),
                len => (before.content_offset.wrapping_sub(moved.texts), len),
            };
            for byte in [0, node::LEN as u64 - 1] {
                self.records.taint(&old, id.0 * node::LEN as u64 + byte);
            }
            self.record(&node, (offset, len), sink)?;
            from = id.0 + 1;
            let edges = i64::from(self.edge_columns.starts[at + 1]) - i64::from(starts[at + 1]);
            moved.edges = (edges * edge::LEN as i64) as u64;
            moved.texts += u64::from(before.content_len - len);
        }
        self.run(&old, from..self.plan.first, moved, sink)?;
        let records = || old.all().chunks_exact(node::LEN);
        self.types.extend(records().map(|record| record[8]));
        let erased = |record: &[u8]| Flags(record[9]).has(Flags::ERASED);
        self.erased.extend(
            (0u32..)
                .zip(records())
                .filter_map(|(id, r)| erased(r).then_some(id)),
        );
        self.erased.sort_unstable();
        Ok(())
    }

    /// Copies all texts except newly erased ones.
    fn copy_texts(
        &mut self,
        base: &Base,
        records: &SourceTable<'_>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let h = base.header();
        let old = source_table::stream(base, "content", h.content, h.vectors)?;
        let mut from = 0;
        for &id in &self.plan.erased {
            let record = base.record(NodeId(id.into()))?;
            if record.content_len > 0 {
                self.texts.copy(sink, &old, from..record.content_offset)?;
                from = record
                    .content_offset
                    .saturating_add(record.content_len.into());
            }
        }
        // The zeros between the last text and the vectors are padding, not content.
        let last = records.all().chunks_exact(node::LEN).rev();
        let end = last
            .map(|r| (get_u64(r, 44), u64::from(get_u32(r, 52))))
            .find(|(_, len)| *len > 0)
            .map_or(0, |(at, len)| at.saturating_add(len));
        self.texts.copy(sink, &old, from..end)
    }

    /// Copies unchanged records, and adjusts their offsets.
    fn run(
        &mut self,
        old: &SourceTable<'_>,
        ids: std::ops::Range<u64>,
        moved: OffsetShift,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let len = node::LEN as u64;
        let decay = self.plan.is_decayed.then(|| self.plan.view.decay_run());
        if decay.is_none() && moved.edges == 0 && moved.texts == 0 {
            return self.records.copy(sink, old, ids.start * len..ids.end * len);
        }
        let mut from = ids.start;
        while from < ids.end {
            let to = ids.end.min(from + MOVED);
            let mut bytes = old.bytes(from * len..to * len)?.to_vec();
            self.records.taint(old, from * len);
            self.records.taint(old, to * len - 1);
            for (id, record) in (from..).zip(bytes.chunks_exact_mut(node::LEN)) {
                put_u64(record, 56, get_u64(record, 56).wrapping_add(moved.edges));
                if get_u32(record, 52) > 0 {
                    put_u64(record, 44, get_u64(record, 44).wrapping_sub(moved.texts));
                }
                if let Some(Some(run)) = &decay {
                    self.fade(id, record, run)?;
                }
            }
            self.records.write(sink, &bytes)?;
            from = to;
        }
        Ok(())
    }

    /// Sets the strength in a copied record to that of a decay run.
    fn fade(&mut self, id: u64, bytes: &mut [u8], run: &DecayRun) -> Result<()> {
        if let Some(record) = bytes.first_chunk() {
            let position = LEN as u64 + id * node::LEN as u64;
            let record = RawNode::check(record, NodeId(id), position)?;
            let strength = strength_after(record, run.at, &run.rates);
            put_f32(bytes, 40, strength);
            self.strengths.push((id as u32, strength));
        }
        Ok(())
    }

    /// Encodes the records and texts of new events.
    fn encode_new(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let mut block = Vec::new();
        for id in self.plan.new_events() {
            let node = self.plan.view.node(id)?;
            block.clear();
            content::encode(&mut block, &node.text()?);
            let offset = match block.len() {
                0 => 0,
                _ => self.texts.len(),
            };
            self.texts.write(sink, &block)?;
            self.record(&node, (offset, block.len() as u32), sink)?;
            self.types.push(node.event_type().0);
            self.sessions.push(node.session().0);
            self.recorded.push(node.created_at().0);
            if let Some(time) = node.event_time()? {
                self.event_times.push((id.0 as u32, time.0));
            }
            let flags = node.flags();
            if flags.has(Flags::ATTRIBUTES) {
                self.with_attributes.push(id.0 as u32);
            }
            if flags.has(Flags::ERASED) {
                self.erased.push(id.0 as u32);
            }
        }
        Ok(())
    }

    /// Writes one event's record; its text and edges are already written.
    fn record(&mut self, node: &Node<'_>, text: (u64, u32), sink: &mut dyn Sink) -> Result<()> {
        let (id, strength) = (node.id(), node.strength());
        let at = id.0 as usize;
        let (from, to) = (
            self.edge_columns.starts[at],
            self.edge_columns.starts[at + 1],
        );
        let record = NodeRecord {
            id,
            event_type: node.event_type(),
            flags: node.flags(),
            created_at: node.created_at(),
            session: node.session(),
            confidence: node.confidence(),
            access_count: node.access_count(),
            last_accessed: node.last_accessed(),
            decay_score: strength,
            content_offset: text.0,
            content_len: text.1,
            edge_offset: u64::from(from) * edge::LEN as u64,
            edge_count: to.wrapping_sub(from),
            lambda: node.lambda(),
        };
        self.strengths.push((id.0 as u32, strength));
        self.records.write(sink, &record.encode())
    }
}
