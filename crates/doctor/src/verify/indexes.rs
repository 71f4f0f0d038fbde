//! The check of the indexes of a base: each agrees with the tables.

use super::codes;
use super::finding::bad;
use super::tables::type_of;
use super::values;
use amem_format::analyzer::{Analyzer, TermCounts};
use amem_format::base::Base;
use amem_format::base::section::tag;
use amem_format::base::spans::SessionSpan;
use amem_format::base::vectors::inverse_length;
use amem_format::error::{Error, Result};
use amem_format::event::Edge;
use amem_format::types::{EdgeType, EventType, Flags, NodeId, SessionId};

/// The check of a section against the tables; `None` for a section that repeats nothing of them.
pub(super) fn of(tag: u8) -> Option<fn(&Base) -> Result<()>> {
    Some(match tag {
        tag::ADJACENCY => adjacency,
        tag::KINDS => kinds,
        tag::SESSIONS => sessions,
        tag::SPANS => spans,
        tag::EVENT_TIMES => event_times,
        tag::STRENGTHS => strengths,
        tag::CONFLICTS => conflicts,
        tag::VECTORS => vector_lengths,
        tag::CODES => codes::check,
        tag::TERMS => terms,
        tag::VALUES => values::check,
        _ => return None,
    })
}

fn adjacency(base: &Base) -> Result<()> {
    let section = base.section(tag::ADJACENCY)?;
    let index = base.adjacency()?;
    let (mut outgoing, mut incoming) = (0u64, 0u64);
    for id in (0..base.nodes()).map(NodeId) {
        let out = index.outgoing(id)?;
        let record = base.record(id)?;
        if out.others.len() as u64 != u64::from(record.edge_count) {
            return bad(
                section,
                format!("the edges from event {id} disagree with its record"),
            );
        }
        for i in 0..out.others.len() {
            let edge = base.edge(outgoing)?;
            let expected = (id.0, u64::from(out.others[i]), out.types[i]);
            if out.first.map(|first| u64::from(first) + i as u64) != Some(outgoing)
                || edge.key() != expected
            {
                return bad(
                    section,
                    format!("an edge from event {id} that does not exist"),
                );
            }
            outgoing += 1;
        }
        let list = index.incoming(id)?;
        let mut last = None;
        for i in 0..list.others.len() {
            let source = NodeId(list.others[i].into());
            let expected = (source.0, id.0, list.types[i]);
            let at = index.position(source, id.0 as u32, list.types[i])?;
            let Some(edge) = at.map(|at| base.edge(at)).transpose()? else {
                return bad(
                    section,
                    format!("an edge to event {id} that does not exist"),
                );
            };
            if edge.key() != expected || last.replace(edge.key()) >= Some(edge.key()) {
                return bad(
                    section,
                    format!("an edge to event {id} that does not exist"),
                );
            }
            incoming += 1;
        }
    }
    if (outgoing, incoming) != (base.header().edges, base.header().edges) {
        return bad(
            section,
            format!("{outgoing} outgoing edges, {incoming} incoming"),
        );
    }
    Ok(())
}

fn kinds(base: &Base) -> Result<()> {
    let section = base.section(tag::KINDS)?;
    let index = base.kinds()?;
    let mut count = 0;
    for kind in (0..=255).map(EventType) {
        let members = index.members(kind)?;
        let right = members.iter().all(|&id| type_of(base, id) == Some(kind));
        if !right || !members.is_sorted_by(|a, b| a < b) {
            return bad(
                section,
                format!("events of type {kind}: wrong members, or unsorted"),
            );
        }
        count += members.len() as u64;
    }
    if count != base.nodes() {
        return bad(
            section,
            format!("{count} events, the brain has {}", base.nodes()),
        );
    }
    Ok(())
}

fn sessions(base: &Base) -> Result<()> {
    let section = base.section(tag::SESSIONS)?;
    let index = base.sessions()?;
    let (mut last, mut count) = (None, 0);
    for position in 0..index.len() {
        let session = index.at(position)?;
        if last.replace(session.id) >= Some(session.id) {
            return bad(section, format!("session {} out of order", session.id));
        }
        let by_key = match session.key {
            "" => Some(position),
            key => index.find_key(key)?,
        };
        if by_key.map(|at| index.at(at).map(|s| s.key)).transpose()? != Some(session.key) {
            return bad(
                section,
                format!("session {} is not found by its key", session.id),
            );
        }
        let members = index.members(position)?;
        for &id in members {
            if base.record(NodeId(id.into()))?.session != session.id {
                return bad(
                    section,
                    format!("event {id} is not of session {}", session.id),
                );
            }
        }
        if !members.is_sorted_by(|a, b| a < b) {
            return bad(
                section,
                format!("events of session {} unsorted", session.id),
            );
        }
        count += members.len() as u64;
    }
    if count != base.nodes() {
        return bad(
            section,
            format!("{count} events, the brain has {}", base.nodes()),
        );
    }
    Ok(())
}

/// Each earlier span belongs to a session, follows the one before it, and was closed before the next one.
fn spans(base: &Base) -> Result<()> {
    // Files of earlier versions, and new brains, have no spans.
    let Some(index) = base.spans()? else {
        return Ok(());
    };
    let (section, sessions) = (base.section(tag::SPANS)?, base.sessions()?);
    let mut before: Option<(SessionId, SessionSpan<'_>)> = None;
    for position in 0..index.len() {
        let (id, span) = index.at(position)?;
        if before.is_some_and(|(last, _)| last > id) {
            return bad(section, format!("a span of session {id} out of order"));
        }
        let Some(at) = sessions.find(id)? else {
            let why = format!("a span of session {id}, which does not exist");
            return bad(section, why);
        };
        let latest = SessionSpan::from(&sessions.at(at)?);
        let previous = before.filter(|(last, _)| *last == id);
        let is_after = |next: &SessionSpan<'_>, span: &SessionSpan<'_>| {
            next.explicit && span.closed <= Some(next.opened)
        };
        if !previous.is_none_or(|(_, previous)| is_after(&span, &previous))
            || !is_after(&latest, &span)
        {
            let why = format!("a span of session {id} that was not closed before the next one");
            return bad(section, why);
        }
        before = Some((id, span));
    }
    Ok(())
}

pub(crate) fn event_times(base: &Base) -> Result<()> {
    let section = base.section(tag::EVENT_TIMES)?;
    let index = base.event_times()?;
    let pairs = || index.happened().iter().zip(index.order());
    if !pairs().is_sorted_by(|a, b| a < b) {
        return bad(section, "events out of order of event time");
    }
    // The pairs are distinct and as many as events: if each time is right, every event is listed once.
    for (&when, &id) in pairs() {
        let id = NodeId(id.into());
        let recorded = base.record(id)?.created_at;
        if index.get(id).unwrap_or(recorded).0 != when {
            return bad(section, format!("wrong event time of event {id}"));
        }
    }
    Ok(())
}

fn strengths(base: &Base) -> Result<()> {
    let section = base.section(tag::STRENGTHS)?;
    let mut last: Option<(f32, u32)> = None;
    for &id in base.strengths()? {
        let now = (base.record(NodeId(id.into()))?.decay_score, id);
        let follows =
            last.is_none_or(|last| now.0.total_cmp(&last.0).then(now.1.cmp(&last.1)).is_lt());
        if !follows {
            return bad(section, format!("event {id} out of order"));
        }
        last = Some(now);
    }
    Ok(())
}

fn conflicts(base: &Base) -> Result<()> {
    let section = base.section(tag::CONFLICTS)?;
    let index = base.conflicts()?;
    let (mut contradicts, mut supersedes) = (Vec::new(), Vec::new());
    for position in 0..base.header().edges {
        let Edge {
            source,
            target,
            edge_type,
            ..
        } = base.edge(position)?;
        // Event ids fit 32 bits: they are below the number of events.
        let (source, target) = (source.0 as u32, target.0 as u32);
        match edge_type {
            EdgeType::CONTRADICTS => contradicts.push([source, target]),
            EdgeType::SUPERSEDES => supersedes.push([target, source]),
            _ => {}
        }
    }
    supersedes.sort_unstable();
    if index.contradicts != contradicts || index.supersedes != supersedes {
        return bad(section, "it disagrees with the edge table");
    }
    Ok(())
}

fn vector_lengths(base: &Base) -> Result<()> {
    let section = base.section(tag::VECTORS)?;
    for (id, &inverse) in (0..).map(NodeId).zip(base.inverse_lengths()?) {
        let expected = if base.record(id)?.flags.has(Flags::VECTOR) {
            inverse_length(base.vector(id)?)
        } else {
            0.0
        };
        if inverse.to_bits() != expected.to_bits() {
            return bad(
                section,
                format!("the length of the vector of event {id} is wrong"),
            );
        }
    }
    Ok(())
}

fn terms(base: &Base) -> Result<()> {
    let section = base.section(tag::TERMS)?;
    let Some(index) = base.terms()? else {
        return Ok(());
    };
    if u64::from(index.events()) != base.nodes() {
        return bad(section, format!("it covers {} events", index.events()));
    }
    index.verify()?;
    let analyzer = Analyzer::of_version(index.version()).unwrap_or_default();
    let mut counts = TermCounts::new();
    for id in 0..index.events() {
        let record = base.record(NodeId(id.into()))?;
        let text = base.text(&record)?;
        let len = counts.count(&analyzer, &text).min(u16::MAX.into());
        if index.length_of(id) != len {
            let why = format!("event {id} has {len} terms, not {}", index.length_of(id));
            return Err(Error::corrupt("terms", section.offset, why));
        }
    }
    Ok(())
}
