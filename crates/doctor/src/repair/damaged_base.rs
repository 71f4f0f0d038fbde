//! Reads a damaged base record by record.
//!
//! Promises: every event keeps its id; an event with a time out of order loses its time only; erased events stay
//! erased. Not here: building the new base (`rebuild`), choosing valid times (`times`).

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::report::{LOST, RepairReport, lose};
use super::times;
use crate::verify::{self, Finding};
use amem_format::attributes;
use amem_format::base::header::{Header, VECTORS_ALIGN};
use amem_format::base::node;
use amem_format::base::node::NodeRecord;
use amem_format::base::section::tag;
use amem_format::base::{Base, edge};
use amem_format::bytes::{get_f32, get_i64, put_i64};
use amem_format::event::{Attributes, Edge, Event};
use amem_format::types::{EventType, Flags, Micros, NodeId, SessionId};

/// Offset of the recorded time in a node record (FORMAT.md, "Node record").
const CREATED_AT: usize = 12;

/// A damaged base.
pub(super) struct DamagedBase<'b> {
    base: &'b Base,
    header: &'b Header,
    /// Ranges that do not match their checksum; everything if there are no checksums.
    unproven: Vec<Range<u64>>,
}

impl<'b> DamagedBase<'b> {
    /// Reports every range that does not match its checksum.
    pub(super) fn new(base: &'b Base, report: &mut RepairReport) -> Self {
        let mut unproven = Vec::new();
        match base.checksums() {
            Ok(checksums) => {
                for chunk in checksums.iter() {
                    let bytes = base.map().slice(chunk.offset, chunk.len);
                    if chunk.check(bytes, "range").is_err() {
                        unproven.push(chunk.offset..chunk.offset.saturating_add(chunk.len));
                        report.doubtful.push(Finding {
                            part: "base".into(),
                            offset: Some(chunk.offset),
                            why: format!("{} bytes do not match their checksum", chunk.len),
                        });
                    }
                }
            }
            Err(e) => {
                unproven.push(0..u64::MAX);
                let mut finding = Finding::from(e);
                finding.why = format!("the whole base, without usable checksums: {}", finding.why);
                report.doubtful.push(finding);
            }
        }
        Self {
            base,
            header: base.header(),
            unproven,
        }
    }

    /// One event per node record, in order; empty ones for lost records.
    pub(super) fn events(&self, report: &mut RepairReport) -> Vec<Event> {
        let ids = || (0..self.base.nodes()).map(NodeId);
        let records: Vec<Option<NodeRecord>> = ids().map(|id| self.record(id)).collect();
        let read: Vec<_> = records.iter().map(|r| r.map(|r| r.created_at)).collect();
        let times = times::in_order(&read, self.base.identity().base_time);
        let placed = self.placed_texts(&records);
        let happened = self.event_times(report);
        let mut out = Vec::with_capacity(records.len());
        for (((id, record), created_at), is_placed) in ids().zip(&records).zip(times).zip(placed) {
            let Some(record) = record else {
                let why = format!("event {id}: everything but its id");
                lose(report, "node record", self.record_at(id), why);
                out.push(empty(id, created_at, happened.get(&id).copied()));
                continue;
            };
            let record = self.erased_or_not(*record, is_placed, report);
            let event_time = happened.get(&id).copied();
            out.push(Event {
                event_time,
                ..self.event(&record, created_at, report)
            });
        }
        out
    }

    fn record_at(&self, id: NodeId) -> u64 {
        self.header.node_table + id.0 * node::LEN as u64
    }

    /// The record, if it is readable. If only its time is invalid (before 1970), it gets a time that no event can have,
    /// which `times` corrects.
    fn record(&self, id: NodeId) -> Option<NodeRecord> {
        if let Ok(record) = self.base.record(id) {
            return Some(record);
        }
        let at = self.record_at(id);
        let bytes = self.base.map().slice(at, node::LEN as u64)?;
        let mut bytes: [u8; node::LEN] = bytes.try_into().ok()?;
        if get_i64(&bytes, CREATED_AT) >= 0 {
            return None;
        }
        put_i64(&mut bytes, CREATED_AT, Micros::MAX.0);
        let record = NodeRecord::decode(&bytes, at).ok()?;
        (record.id == id).then_some(record)
    }

    /// For each event, whether its text is in its place: it begins where the previous one ends, and ends where the next
    /// one begins, so that none overlap.
    fn placed_texts(&self, records: &[Option<NodeRecord>]) -> Vec<bool> {
        let mut out = vec![false; records.len()];
        // The event of the previous text, and whether that text begins in its place.
        let mut before: Option<(usize, bool)> = None;
        let mut end = 0u64;
        for (at, record) in records.iter().enumerate() {
            let Some(record) = record.filter(|r| r.content_len > 0) else {
                continue;
            };
            let follows = record.content_offset == end;
            if let Some((last, begins)) = before.replace((at, follows)) {
                out[last] = begins && follows;
            }
            end = record
                .content_offset
                .saturating_add(record.content_len.into());
        }
        // The last text is followed by padding up to the vectors.
        let end = self.header.content.saturating_add(end);
        let gap = self.header.vectors.checked_sub(end);
        if let Some((last, begins)) = before {
            out[last] = begins && gap.is_some_and(|gap| gap < VECTORS_ALIGN);
        }
        out
    }

    /// Resolves a record that is marked as erased but has values. No base contains the text of an erased event, so a
    /// complete text in its place, with a record that does not match its checksum, proves that the mark is damage. In
    /// any other case the event stays erased and loses its values.
    fn erased_or_not(
        &self,
        record: NodeRecord,
        is_placed: bool,
        report: &mut RepairReport,
    ) -> NodeRecord {
        let (id, at) = (record.id, self.record_at(record.id));
        if !record.flags.has(Flags::ERASED) || !self.has_values(&record) {
            return record;
        }
        let text = self.base.text(&record);
        let is_whole = is_placed && text.is_ok_and(|text| !text.is_empty());
        if is_whole && self.is_unproven(at..at + node::LEN as u64) {
            report.doubtful.push(Finding {
                part: "node record".into(),
                offset: Some(at),
                why: format!(
                    "event {id} is marked as erased, but its text is complete: the mark is damage and was removed"
                ),
            });
            let flags = record.flags.without(Flags::ERASED);
            return NodeRecord { flags, ..record };
        }
        let why = format!(
            "the values of event {id}: it is marked as erased, and nothing proves the opposite"
        );
        lose(report, "node record", at, why);
        NodeRecord {
            content_offset: 0,
            content_len: 0,
            flags: record.flags.without(Flags::VECTOR),
            ..record
        }
    }

    /// True if the event has values that an erased event cannot have. The origin of a merge may stay.
    fn has_values(&self, record: &NodeRecord) -> bool {
        let json = || self.base.attributes().and_then(|all| all.get(record.id));
        let more = || {
            let json = json().ok().flatten();
            json.is_some_and(|json| !attributes::is_only_origin(json))
        };
        record.content_len > 0
            || record.flags.has(Flags::VECTOR)
            || record.flags.has(Flags::ATTRIBUTES) && more()
    }

    /// True if part of the range does not match its checksum.
    pub(super) fn is_unproven(&self, range: Range<u64>) -> bool {
        let touches = |r: &Range<u64>| r.start < range.end && range.start < r.end;
        self.unproven.iter().any(touches)
    }

    fn event(&self, record: &NodeRecord, created_at: Micros, report: &mut RepairReport) -> Event {
        let id = record.id;
        let mut gone = Vec::new();
        if record.created_at != created_at {
            gone.push("time");
            let why = format!(
                "the recorded time of event {id}: it was out of order and is now the nearest valid one"
            );
            lose(report, "node record", self.record_at(id), why);
        }
        let text = match self.base.text(record) {
            Ok(text) => text.into_owned(),
            Err(e) => {
                gone.push("text");
                let mut lost = Finding::from(e);
                lost.why = format!("text of event {id}: {}", lost.why);
                report.lost.push(lost);
                String::new()
            }
        };
        let vector = self.vector(record, &mut gone, report);
        let mut attributes = self.attributes(record, &mut gone, report);
        if record.flags.has(Flags::ERASED) {
            // Only the origin stays: later merges need it to leave the event out.
            if let Some(of) = &mut attributes {
                of.retain(|key, _| key == attributes::ORIGIN);
            }
        } else if !gone.is_empty() {
            let of = attributes.get_or_insert_with(Attributes::new);
            of.insert(LOST.into(), gone.into());
        }
        Event {
            id,
            event_type: record.event_type,
            flags: Flags(record.flags.0 & Flags::KNOWN.0),
            created_at,
            event_time: None,
            session: record.session,
            confidence: record.confidence,
            access_count: record.access_count,
            last_accessed: record.last_accessed,
            decay_score: record.decay_score,
            lambda: record.lambda.max(0.0),
            text,
            vector,
            attributes,
        }
    }

    /// Event times. The section has each twice; if its checksum fails, only times that agree in both places are used.
    fn event_times(&self, report: &mut RepairReport) -> HashMap<NodeId, Micros> {
        let index = match self.base.event_times() {
            Ok(index) => index,
            Err(e) => {
                report.lost.push(e.into());
                return HashMap::new();
            }
        };
        let ids = (0..self.base.nodes()).map(NodeId);
        let mut times: HashMap<_, _> = ids.filter_map(|id| Some((id, index.get(id)?))).collect();
        let place = self.base.table().find(tag::EVENT_TIMES);
        let place = place.filter(|place| self.is_unproven(place.offset..place.offset + place.len));
        let Some(place) = place else {
            return times;
        };
        let pairs = index.happened().iter().zip(index.order());
        let pairs: HashSet<_> = pairs.map(|(when, id)| (*when, u64::from(*id))).collect();
        let found = times.len();
        // A lost page reads as zeros, which agree with each other.
        times.retain(|id, time| *time != Micros(0) && pairs.contains(&(time.0, id.0)));
        let whole = verify::indexes::event_times(self.base);
        // A section without times ends after its two counts.
        let lacks_all = index.is_empty() && place.len > 16;
        if whole.is_err() || lacks_all || times.len() < found {
            let why = whole.err().map_or_else(
                || "wrong number of times".to_owned(),
                |e| Finding::from(e).why,
            );
            let left = times.len();
            let why = format!(
                "{why}: {left} events keep theirs, which is the same in both places; the others have none"
            );
            lose(report, "event times", place.offset, why);
        }
        times
    }

    fn vector(
        &self,
        record: &NodeRecord,
        gone: &mut Vec<&'static str>,
        report: &mut RepairReport,
    ) -> Option<Vec<f32>> {
        if !record.flags.has(Flags::VECTOR) {
            return None;
        }
        let len = u64::from(self.header.dimension) * 4;
        let at = self.header.vectors + record.id.0 * len;
        let bytes = self.base.map().slice(at, len).unwrap_or_default();
        let vector: Vec<f32> = bytes.chunks_exact(4).map(|b| get_f32(b, 0)).collect();
        // Zeros in a range that does not match its checksum are a lost page.
        let is_lost = self.is_unproven(at..at + len) && vector.iter().all(|x| *x == 0.0);
        if !is_lost && vector.iter().all(|x| x.is_finite()) {
            return Some(vector);
        }
        gone.push("vector");
        lose(
            report,
            "vectors",
            at,
            format!("vector of event {}", record.id),
        );
        None
    }

    fn attributes(
        &self,
        record: &NodeRecord,
        gone: &mut Vec<&'static str>,
        report: &mut RepairReport,
    ) -> Option<Attributes> {
        if !record.flags.has(Flags::ATTRIBUTES) {
            return None;
        }
        let json = self.base.attributes().and_then(|all| all.get(record.id));
        let parsed = json.ok().flatten().map(attributes::parse);
        if let Some(Ok(attributes)) = parsed {
            return Some(attributes);
        }
        gone.push("attributes");
        let at = self.base.table().find(tag::ATTRIBUTES);
        let at = at.map_or(self.header.sections(), |place| place.offset);
        lose(
            report,
            "attributes",
            at,
            format!("attributes of event {}", record.id),
        );
        None
    }

    /// The readable edges, sorted and without duplicates.
    pub(super) fn edges(&self, report: &mut RepairReport) -> Vec<Edge> {
        let mut out = Vec::new();
        for position in 0..self.header.edges {
            let at = self.header.edge_table + position * edge::LEN as u64;
            match self.base.edge(position) {
                Ok(edge) if edge.source != edge.target => out.push(Edge {
                    weight: edge.weight.clamp(0.0, 1.0),
                    ..edge
                }),
                Ok(edge) => lose(
                    report,
                    "edge record",
                    at,
                    format!("an edge from event {} to itself", edge.source),
                ),
                Err(e) => report.lost.push(e.into()),
            }
        }
        out.sort_by_key(Edge::key);
        out.dedup_by_key(|e| e.key());
        out
    }
}

/// The replacement of an event with a lost record.
fn empty(id: NodeId, created_at: Micros, event_time: Option<Micros>) -> Event {
    Event {
        id,
        event_type: EventType::FACT,
        flags: Flags::FORGOTTEN,
        created_at,
        event_time,
        session: SessionId(0),
        confidence: 0.0,
        access_count: 0,
        last_accessed: created_at,
        decay_score: 0.0,
        lambda: 0.0,
        text: String::new(),
        vector: None,
        attributes: Some(Attributes::from_iter([(
            LOST.to_owned(),
            vec!["record"].into(),
        )])),
    }
}
