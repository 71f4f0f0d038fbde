//! A base made anew from the records that can be read, with the journal behind it as it was.
//!
//! Ids, LSNs, history and the chain of frames stay, so that the old journal goes on from the new base.

use std::sync::Arc;

use super::{LOST, Report, base_of, names};
use crate::base::checksums::Checksums;
use crate::base::header::Header;
use crate::base::node::{self, Record};
use crate::base::section::tag;
use crate::base::{Base, edge};
use crate::brain::Brain;
use crate::bytes::get_f32;
use crate::error::Result;
use crate::event::{Attributes, Edge, Event};
use crate::fold::build::Build;
use crate::fold::image::Sections;
use crate::fold::{self, fold};
use crate::journal::head::{Head, PAGE};
use crate::journal::op::Op;
use crate::mapping::Map;
use crate::query::attributes;
use crate::types::{EventType, Flags, Lsn, Micros, NodeId, SessionId};
use crate::verify::{Finding, log};

/// The bytes of a brain whose base is whole, made of one whose base is not.
pub(super) fn rebuild(bytes: &mut [u8], now: Micros, report: &mut Report) -> Result<Vec<u8>> {
    names::restore(bytes, report);
    let base = base_of(bytes)?;
    let journal = find_journal(bytes, &base, report);
    let reading = Reading::new(&base, report);
    let events = reading.events(report);
    let edges = reading.edges(report);

    let mut identity = *base.identity();
    let newest = events.last().map_or(now, |e| e.created_at.max(now));
    // In the build the events are new: it counts from 0, and its time is not before theirs.
    (identity.base_lsn, identity.base_time) = (Lsn(0), newest);
    let mut build = Build::new(&identity, base.header().dimension, base.settings())?;
    events
        .iter()
        .try_for_each(|event| build.push_event(event))?;
    for edge in &edges {
        build.push(&Op::Link {
            source: edge.source,
            target: edge.target,
            edge_type: edge.edge_type,
            weight: edge.weight,
            created_at: edge.created_at,
        })?;
    }
    push_sessions(&base, &mut build, report)?;
    let view = build.finish()?;
    let mut folded = Vec::new();
    fold(&view, &Build::options(&view, &identity), &mut folded)?;
    let mut out = graft(&base, &folded, report)?;
    if let Some((head, frames)) = journal {
        out.extend_from_slice(&head.encode());
        out.resize(out.len() + PAGE as usize, 0);
        out.extend_from_slice(frames);
    } else {
        let end = out.len() as u64;
        fold::journal(base.identity(), 0, end, &mut out)?;
    }
    // What comes of it must open, or it was no repair.
    Brain::open(Map::owned(&out))?;
    Ok(out)
}

fn lose(report: &mut Report, part: &str, offset: u64, why: impl Into<String>) {
    report.lost.push(Finding {
        part: part.to_owned(),
        offset: Some(offset),
        why: why.into(),
    });
}

/// The head and the frames of the journal, if its head can be read.
fn find_journal<'b>(bytes: &'b [u8], base: &Base, report: &mut Report) -> Option<(Head, &'b [u8])> {
    let at = base.journal()?;
    let page = bytes.get(at as usize..)?;
    let head = match Head::decode(page, at) {
        Ok(head) => head,
        Err(e) => {
            report.lost.push(e.into());
            return None;
        }
    };
    let identity = base.identity();
    if (head.instance, head.generation, head.base_lsn)
        != (identity.instance, identity.generation, identity.base_lsn)
    {
        lose(
            report,
            "journal",
            at,
            "all of it: it belongs to another base",
        );
        return None;
    }
    let frames = bytes.get((at + 2 * PAGE) as usize..);
    if frames.is_none() {
        lose(
            report,
            "journal",
            at,
            "all of it: the file ends in front of its first frame",
        );
    }
    Some((head, frames?))
}

/// A damaged base while it is read.
struct Reading<'b> {
    base: &'b Base,
    header: &'b Header,
}

impl<'b> Reading<'b> {
    /// Tells of every range whose checksum does not hold: what reads well there may still have changed.
    fn new(base: &'b Base, report: &mut Report) -> Self {
        match base.checksums() {
            Ok(checksums) => {
                for chunk in checksums.iter() {
                    let bytes = base.map().slice(chunk.offset, chunk.len);
                    if Checksums::check(chunk, bytes, "range").is_err() {
                        report.doubtful.push(Finding {
                            part: "base".into(),
                            offset: Some(chunk.offset),
                            why: format!("{} bytes do not match their checksum", chunk.len),
                        });
                    }
                }
            }
            Err(e) => {
                let mut finding = Finding::from(e);
                finding.why = format!("all of the base is unproven: {}", finding.why);
                report.doubtful.push(finding);
            }
        }
        Self {
            base,
            header: base.header(),
        }
    }

    fn events(&self, report: &mut Report) -> Vec<Event> {
        let mut last = Micros(0);
        let mut out = Vec::new();
        for id in (0..self.base.nodes()).map(NodeId) {
            let event = self.event(id, last, report);
            last = event.created_at;
            out.push(event);
        }
        out
    }

    fn event(&self, id: NodeId, last: Micros, report: &mut Report) -> Event {
        let at = self.header.node_table + id.0 * node::LEN as u64;
        let newest = self.base.identity().base_time;
        let sound = |r: &Record| r.created_at >= last && r.created_at <= newest.max(last);
        let Some(record) = self.base.record(id).ok().filter(sound) else {
            lose(
                report,
                "node record",
                at,
                format!("event {id}, all but its place"),
            );
            return empty(id, last, self.event_time(id));
        };
        let mut gone = Vec::new();
        let text = match self.base.text(&record) {
            Ok(text) => text.into_owned(),
            Err(e) => {
                gone.push("text");
                let mut lost = Finding::from(e);
                lost.why = format!("that of event {id}: {}", lost.why);
                report.lost.push(lost);
                String::new()
            }
        };
        let vector = self.vector(&record, &mut gone, report);
        let mut attributes = self.attributes(&record, &mut gone, report);
        if !gone.is_empty() {
            let of = attributes.get_or_insert_with(Attributes::new);
            of.insert(LOST.into(), gone.into());
        }
        Event {
            id,
            event_type: record.event_type,
            flags: Flags(record.flags.0 & Flags::KNOWN.0),
            created_at: record.created_at,
            event_time: self.event_time(id),
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

    fn event_time(&self, id: NodeId) -> Option<Micros> {
        self.base.event_times().ok()?.get(id)
    }

    fn vector(
        &self,
        record: &Record,
        gone: &mut Vec<&'static str>,
        report: &mut Report,
    ) -> Option<Vec<f32>> {
        if !record.flags.has(Flags::VECTOR) {
            return None;
        }
        let len = u64::from(self.header.dimension) * 4;
        let at = self.header.vectors + record.id.0 * len;
        let bytes = self.base.map().slice(at, len).unwrap_or_default();
        let vector: Vec<f32> = bytes.chunks_exact(4).map(|b| get_f32(b, 0)).collect();
        if vector.iter().all(|x| x.is_finite()) {
            return Some(vector);
        }
        gone.push("vector");
        lose(
            report,
            "vectors",
            at,
            format!("that of event {}", record.id),
        );
        None
    }

    fn attributes(
        &self,
        record: &Record,
        gone: &mut Vec<&'static str>,
        report: &mut Report,
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
            format!("those of event {}", record.id),
        );
        None
    }

    fn edges(&self, report: &mut Report) -> Vec<Edge> {
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

/// What stands in the place of an event whose record is lost.
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

/// What clients said of their sessions.
fn push_sessions(base: &Base, build: &mut Build, report: &mut Report) -> Result<()> {
    let index = match base.sessions() {
        Ok(index) => index,
        Err(e) => {
            report.lost.push(e.into());
            return Ok(());
        }
    };
    let mut last = None;
    for position in 0..index.len() {
        let session = match index.at(position) {
            Ok(session) if last.replace(session.id) < Some(session.id) => session,
            Ok(session) => {
                lose(
                    report,
                    "sessions",
                    0,
                    format!("session {} again", session.id),
                );
                continue;
            }
            Err(e) => {
                report.lost.push(e.into());
                continue;
            }
        };
        if session.explicit {
            build.push(&Op::OpenSession {
                session: session.id,
                key: session.key,
                agent: session.agent,
                at: session.opened,
            })?;
        }
        if let Some(at) = session.closed {
            build.push(&Op::CloseSession {
                session: session.id,
                outcome: session.outcome,
                at,
            })?;
        }
    }
    Ok(())
}

/// The new tables and indexes, with the old identity, log and names.
fn graft(old: &Base, folded: &[u8], report: &mut Report) -> Result<Vec<u8>> {
    let new = Base::open(Arc::new(Map::owned(folded)))?;
    let start = new.header().sections();
    let mut out = folded[..start as usize].to_vec();
    let front = new.checksums()?.iter().filter(|c| c.offset < start);
    let mut sections = Sections::at(start, front.collect(), &mut out);
    for place in &new.table().places {
        let fresh = &folded[place.offset as usize..(place.offset + place.len) as usize];
        match place.tag {
            tag::CHECKSUMS => {}
            tag::IDENTITY => sections.write(place.tag, |out| old.identity().write(out))?,
            tag => {
                let body = carried(old, tag, report)?.unwrap_or(fresh);
                sections.write(tag, |out| out.bytes(body))?;
            }
        }
    }
    fold::finish(sections)?;
    Ok(out)
}

/// A section that nothing else in the file could replace, if what it says holds together.
fn carried<'b>(old: &'b Base, tag: u8, report: &mut Report) -> Result<Option<&'b [u8]>> {
    let Some(check) = log::of(tag) else {
        return Ok(None);
    };
    match check(old).and_then(|()| old.section(tag)) {
        Ok(section) => Ok(Some(section.bytes)),
        Err(e) => {
            report.lost.push(e.into());
            Ok(None)
        }
    }
}
