//! Builds a new base from the readable records and appends the old journal.
//!
//! Ids, LSNs, history and frame checksums stay, so that the old journal continues the new base.

use std::borrow::Cow;
use std::sync::Arc;

use super::clock;
use super::damaged_base::DamagedBase;
use super::names;
use super::report::{RepairReport, lose};
use crate::verify::{Finding, log};
use amem_format::base::Base;
use amem_format::base::image::SectionWriter;
use amem_format::base::section::{ROWS, SectionRow, tag};
use amem_format::base_builder;
use amem_format::base_builder::build::Build;
use amem_format::base_builder::write_base;
use amem_format::brain::Brain;
use amem_format::error::{Error, Result};
use amem_format::journal::head::{Head, PAGE};
use amem_format::journal::op::Op;
use amem_format::mapping::Map;
use amem_format::types::{Lsn, Micros};

/// The bytes of the brain with a rebuilt base.
pub(super) fn rebuild(bytes: &mut [u8], now: Micros, report: &mut RepairReport) -> Result<Vec<u8>> {
    names::restore(bytes, report);
    let base = base_of(bytes)?;
    let journal = find_journal(bytes, &base, report);
    let reading = DamagedBase::new(&base, report);
    let events = reading.events(report);
    let edges = reading.edges(report);

    let mut identity = *base.identity();
    let newest = events.last().map_or(now, |e| e.created_at.max(now));
    // The build starts at LSN 0, and not before the newest event.
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
    let mut rebuilt = Vec::new();
    write_base(&view, &Build::options(&view, &identity), &mut rebuilt)?;
    let mut out = graft(&base, &rebuilt, &reading, report)?;
    if let Some((head, frames)) = journal {
        out.extend_from_slice(&head.encode());
        out.resize(out.len() + PAGE as usize, 0);
        out.extend_from_slice(frames);
    } else {
        let end = out.len() as u64;
        base_builder::journal(base.identity(), 0, end, &mut out)?;
    }
    // The result must open.
    Brain::open(Map::owned(&out))?;
    Ok(out)
}

fn base_of(bytes: &[u8]) -> Result<Base> {
    Base::open(Arc::new(Map::owned(bytes))).map_err(|e| match e {
        Error::Foreign => Error::Foreign,
        e => Error::corrupt(
            "file",
            0,
            format!("the base is unreadable: {}", Finding::from(e)),
        ),
    })
}

/// The head and the frames of the journal, if the head is readable and belongs to the base.
fn find_journal<'b>(
    bytes: &'b [u8],
    base: &Base,
    report: &mut RepairReport,
) -> Option<(Head, &'b [u8])> {
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
            "the whole journal: it belongs to another base",
        );
        return None;
    }
    let frames = bytes.get((at + 2 * PAGE) as usize..);
    if frames.is_none() {
        lose(
            report,
            "journal",
            at,
            "the whole journal: the file ends before its first frame",
        );
    }
    Some((head, frames?))
}

/// Copies sessions that clients opened or closed.
fn push_sessions(base: &Base, build: &mut Build, report: &mut RepairReport) -> Result<()> {
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
                    format!("a second record of session {}", session.id),
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

/// Combines the new tables and indexes with the old identity, log sections and names.
fn graft(
    old: &Base,
    rebuilt: &[u8],
    reading: &DamagedBase<'_>,
    report: &mut RepairReport,
) -> Result<Vec<u8>> {
    let new = Base::open(Arc::new(Map::owned(rebuilt)))?;
    let is_proven = |tag: u8| {
        let place = old.table().find(tag);
        place.is_some_and(|place| !reading.is_unproven(place.offset..place.offset + place.len))
    };
    let mut carried = Vec::new();
    for place in &new.table().places {
        let body = carry(old, place.tag, &is_proven, report);
        carried.extend(body.map(|body| (place.tag, body)));
    }
    loop {
        let out = write(old, &new, rebuilt, &carried)?;
        let base = Base::open(Arc::new(Map::owned(&out)))?;
        // A section that was consistent with the damaged ones may contradict the new ones.
        let fails = |tag: u8| Some((tag, log::of(tag)?(&base).err()?));
        let Some((failed, why)) = carried.iter().find_map(|(tag, _)| fails(*tag)) else {
            return Ok(out);
        };
        report.lost.push(Finding {
            offset: old.table().find(failed).map(|place| place.offset),
            ..why.into()
        });
        carried.retain(|(tag, _)| *tag != failed);
    }
}

/// Writes the new base with these sections in place of the new ones.
fn write(
    old: &Base,
    new: &Base,
    rebuilt: &[u8],
    carried: &[(u8, Cow<'_, [u8]>)],
) -> Result<Vec<u8>> {
    let start = new.header().sections();
    let mut out = rebuilt[..start as usize].to_vec();
    let front = new.checksums()?.iter().filter(|c| c.offset < start);
    let mut sections = SectionWriter::at(start, front.collect(), &mut out);
    for place in &new.table().places {
        let fresh = &rebuilt[place.offset as usize..(place.offset + place.len) as usize];
        match place.tag {
            tag::CHECKSUMS => {}
            tag::IDENTITY => sections.write(place.tag, |out| old.identity().write(out))?,
            tag => {
                let body = carried.iter().find(|(of, _)| *of == tag);
                let body = body.map_or(fresh, |(_, body)| &**body);
                sections.write(tag, |out| out.bytes(body))?;
            }
        }
    }
    base_builder::finish(sections)?;
    Ok(out)
}

/// The old section, if nothing else in the file replaces it and it is consistent; or what is left of it.
fn carry<'b>(
    old: &'b Base,
    tag: u8,
    is_proven: &dyn Fn(u8) -> bool,
    report: &mut RepairReport,
) -> Option<Cow<'b, [u8]>> {
    let check = log::of(tag)?;
    let is_required = |row: &&SectionRow| row.tag == tag && !row.is_optional;
    if old.table().find(tag).is_none() && !ROWS.iter().any(|row| is_required(&row)) {
        return None;
    }
    let checked = match tag {
        // Checked later, against the clock of the new file.
        tag::HISTORY if !is_proven(tag::CLOCK) => Ok(()),
        _ => check(old),
    };
    let section = checked.and_then(|()| old.section(tag));
    let body = section.map(|section| Cow::from(section.bytes));
    let body = body.map_err(|e| report.lost.push(e.into())).ok();
    match tag {
        // Some commit times are readable or in the history, which depends on them.
        tag::CLOCK if !is_proven(tag) => Some(clock::body(old, is_proven(tag::HISTORY)).into()),
        _ => body,
    }
}
