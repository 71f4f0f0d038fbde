//! The check of the tables of a base: records, texts and vectors decode and agree with each other.

use super::finding::Findings;
use amem_format::attributes;
use amem_format::base::header::VECTORS_ALIGN;
use amem_format::base::node::NodeRecord;
use amem_format::base::{Base, edge, node};
use amem_format::error::{Error, Result};
use amem_format::event::{Attributes, Edge};
use amem_format::types::{EventType, Flags, Micros, NodeId};

/// Checks the node table with its texts, vectors and attributes, and the edge table.
pub(super) fn check(base: &Base, findings: &mut Findings) {
    let mut nodes = NodeChecks {
        created_at: None,
        content: Some(0),
    };
    let mut edges = EdgeChecks { position: Some(0) };
    for id in (0..base.nodes()).map(NodeId) {
        let Some(record) = findings.take(base.record(id)) else {
            // The next offsets cannot be predicted without this record.
            nodes.content = None;
            edges.position = None;
            continue;
        };
        findings.take(nodes.check(base, &record));
        findings.take(check_values(base, &record));
        edges.check_record(base, &record, findings);
    }
    check_content_end(base, nodes.content, findings);
    edges.check_all(base, findings);
}

/// Checks records in order, each against the previous ones.
struct NodeChecks {
    /// Recorded time of the previous record.
    created_at: Option<Micros>,
    /// Expected offset of the next text in the content block; `None` if unknown.
    content: Option<u64>,
}

impl NodeChecks {
    fn check(&mut self, base: &Base, record: &NodeRecord) -> Result<()> {
        let at = base.header().node_table + record.id.0 * node::LEN as u64;
        let bad = |why: String| Err(Error::corrupt("node record", at, why));
        if self.created_at.replace(record.created_at) > Some(record.created_at) {
            return bad("its recorded time is before that of the previous event".into());
        }
        let expected = self.content;
        if record.content_len > 0 {
            let end = record
                .content_offset
                .saturating_add(record.content_len.into());
            self.content = Some(end);
            if expected.is_some_and(|expected| expected != record.content_offset) {
                return bad(format!("its text begins at {}", record.content_offset));
            }
        } else if record.content_offset != 0 {
            return bad("an empty text with an offset".into());
        }
        let raw = base.map().slice(at, node::LEN as u64).unwrap_or_default();
        if raw.get(10..12) != Some(&[0, 0]) || !Flags::KNOWN.has(record.flags) {
            return bad("an unknown flag, or a reserved byte that is not zero".into());
        }
        let unit = 0.0..=1.0;
        let floats = unit.contains(&record.confidence) && unit.contains(&record.decay_score);
        if !floats || record.lambda < 0.0 {
            return bad("a confidence, strength or decay rate out of range".into());
        }
        Ok(())
    }
}

/// Checks text, vector and attributes of one event against its flags.
fn check_values(base: &Base, record: &NodeRecord) -> Result<()> {
    let (id, flags) = (record.id, record.flags);
    let text = base.text(record)?;
    let at = base.header().vectors + id.0 * u64::from(base.header().dimension) * 4;
    let vector = base.vector(id)?;
    let bad = |why: &str| Err(Error::corrupt("vectors", at, format!("event {id}: {why}")));
    if !vector.iter().all(|x| x.is_finite()) {
        return bad("a number that is not finite");
    }
    if !flags.has(Flags::VECTOR) && vector.iter().any(|x| x.to_bits() != 0) {
        return bad("it has no vector, but its slot is not zero");
    }
    let section = base.attributes()?;
    let json = section.get(id)?;
    let at = base
        .section(amem_format::base::section::tag::ATTRIBUTES)?
        .offset;
    let bad = |why: String| {
        Err(Error::corrupt(
            "attributes",
            at,
            format!("event {id}: {why}"),
        ))
    };
    if json.is_some() != flags.has(Flags::ATTRIBUTES) {
        return bad("the event's flags disagree with them".into());
    }
    let values = match json.map(attributes::parse) {
        Some(Err(e)) => return bad(e.to_string()),
        Some(Ok(values)) => values,
        None => Attributes::new(),
    };
    // The origin of a merge stays, so that later merges leave the event out.
    let has_attributes = values.keys().any(|key| key != attributes::ORIGIN);
    let has_values = !text.is_empty() || flags.has(Flags::VECTOR) || has_attributes;
    if flags.has(Flags::ERASED) && has_values {
        return bad("it is marked as erased, but has content".into());
    }
    Ok(())
}

/// Only padding lies between the texts and the vectors.
fn check_content_end(base: &Base, content: Option<u64>, findings: &mut Findings) {
    let header = base.header();
    let Some(end) = content.and_then(|end| header.content.checked_add(end)) else {
        return;
    };
    let gap = header.vectors.checked_sub(end);
    let rest = gap.and_then(|gap| base.map().slice(end, gap));
    if gap.is_none_or(|gap| gap >= VECTORS_ALIGN)
        || !rest.is_some_and(|rest| rest.iter().all(|&b| b == 0))
    {
        findings.add(
            "texts",
            end,
            "the bytes after the last text are not padding",
        );
    }
}

/// Checks the edge table against the records.
struct EdgeChecks {
    /// Expected position of the next event's edges; `None` if unknown.
    position: Option<u64>,
}

impl EdgeChecks {
    /// Checks that the event's edges begin where those of the previous event end.
    fn check_record(&mut self, base: &Base, record: &NodeRecord, findings: &mut Findings) {
        let offset = record.edge_offset / edge::LEN as u64;
        if !record.edge_offset.is_multiple_of(edge::LEN as u64)
            || self.position.is_some_and(|position| position != offset)
        {
            let at = base.header().node_table + record.id.0 * node::LEN as u64;
            findings.add(
                "node record",
                at,
                "its edges do not follow those of the previous event",
            );
        }
        let end = offset.saturating_add(record.edge_count.into());
        self.position = Some(end);
        for position in [offset, end.saturating_sub(1)] {
            let there = position < base.header().edges && record.edge_count > 0;
            if there && base.edge(position).is_ok_and(|e| e.source != record.id) {
                let at = base.header().edge_table + position * edge::LEN as u64;
                findings.add(
                    "edge record",
                    at,
                    format!("its source is not event {}", record.id),
                );
            }
        }
    }

    fn check_all(&self, base: &Base, findings: &mut Findings) {
        let (table, count) = (base.header().edge_table, base.header().edges);
        if self.position.is_some_and(|counted| counted != count) {
            findings.add(
                "edge table",
                table,
                format!("{count} edges, which is not the sum over the events"),
            );
        }
        let mut last: Option<Edge> = None;
        for position in 0..count {
            let at = table + position * edge::LEN as u64;
            let Some(edge) = findings.take(base.edge(position)) else {
                continue;
            };
            let raw = base.map().slice(at, edge::LEN as u64).unwrap_or_default();
            if raw.get(17..20) != Some(&[0; 3]) || !(0.0..=1.0).contains(&edge.weight) {
                findings.add(
                    "edge record",
                    at,
                    "a weight or a reserved byte out of range",
                );
            }
            if edge.source == edge.target {
                findings.add("edge record", at, "an edge from an event to itself");
            }
            if last.is_some_and(|last| last.key() >= edge.key()) {
                findings.add("edge record", at, "out of order, or a duplicate");
            }
            last = Some(edge);
        }
    }
}

/// The type of an event, if its record can be read.
pub(super) fn type_of(base: &Base, id: u32) -> Option<EventType> {
    base.record(NodeId(id.into())).ok().map(|r| r.event_type)
}
