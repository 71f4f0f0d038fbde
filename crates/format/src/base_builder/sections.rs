//! The sections of a new base, each made from the view, the tables, and the old section where it can be copied.
//!
//! Not here: the terms, which are planned beside these, and the checksums (`super`).

use std::borrow::Cow;

use super::copy_plan::CopyPlan;
use super::options::Options;
use super::tables::BaseTables;
use super::workers::Workers;
use super::{changes, log, quantiser, values};
use crate::base::image::SectionWriter;
use crate::base::quantised_vectors as base_codes;
use crate::base::section::{self, tag};
use crate::base::sessions::Session;
use crate::base::{
    actors, adjacency, attributes, authors, change_stamps, clock, commits, conflicts, event_times,
    history, kinds, requests, sessions, spans, strengths, values as base_values, vectors,
};
use crate::error::{Error, Result};
use crate::types::{ActorId, NodeId};

/// Writes every section in front of the terms, in the order of the table of sections.
pub(super) fn write(
    kept: &CopyPlan<'_>,
    options: &Options,
    workers: &dyn Workers,
    tables: BaseTables,
    out: &mut SectionWriter<'_>,
) -> Result<()> {
    let mut builder = SectionBuilder {
        kept,
        options,
        workers,
        tables,
        changed: Vec::new(),
        with_attributes: 0,
    };
    let front = section::ROWS.iter().take_while(|row| row.tag != tag::TERMS);
    for row in front {
        builder.write(row.tag, out)?;
    }
    Ok(())
}

struct SectionBuilder<'k> {
    kept: &'k CopyPlan<'k>,
    options: &'k Options,
    workers: &'k dyn Workers,
    tables: BaseTables,
    /// Attributes that the old base does not have, from the section of attributes to that of their values.
    changed: Vec<(u32, Option<Cow<'k, str>>)>,
    /// Events with attributes.
    with_attributes: u64,
}

impl SectionBuilder<'_> {
    fn write(&mut self, tag: u8, out: &mut SectionWriter<'_>) -> Result<()> {
        let (kept, tables) = (self.kept, &self.tables);
        let (view, edges) = (kept.view, &tables.edge_columns);
        match tag {
            tag::IDENTITY => out.write(tag, |body| self.options.identity.write(body)),
            tag::SETTINGS => {
                let settings = view.settings()?.to_json();
                out.write(tag, |body| body.bytes(settings.as_bytes()))
            }
            tag::SESSIONS => {
                let all = view.sessions()?;
                let of_event = session_positions(&all, &tables.sessions)?;
                let older = kept.base().map(|base| base.sessions()).transpose()?;
                out.write(tag, |body| sessions::write(body, &all, older, &of_event))
            }
            tag::SPANS => {
                let earlier = view.all_earlier_spans()?;
                out.write(tag, |body| spans::write(body, &earlier))
            }
            tag::ACTORS => {
                // The frames carried behind the base name the actors of later commits.
                let named = (1..=view.actors()?).map(|id| view.actor(ActorId(id as u32)));
                let named = named.collect::<Result<Vec<_>>>()?;
                out.write(tag, |body| actors::write(body, &named))
            }
            tag::AUTHORS => {
                let authors = authors_of(kept)?;
                let count = view.actors()?;
                out.write(tag, |body| authors::write(body, count, &authors))
            }
            tag::ATTRIBUTES => self.write_attributes(out),
            tag::EVENT_TIMES => {
                let older = kept.base().map(|base| base.event_times()).transpose()?;
                let newer = event_times::NewEvents {
                    first: kept.first as u32,
                    recorded: &tables.recorded,
                    times: &tables.event_times,
                };
                let recorded = |id: u32| Ok(view.node(NodeId(id.into()))?.created_at().0);
                out.write(tag, |body| event_times::write(body, older, recorded, newer))
            }
            tag::CHANGE_STAMPS => {
                let stamps = view.change_stamps()?;
                out.write(tag, |body| change_stamps::write(body, &stamps))
            }
            tag::HISTORY | tag::CLOCK | tag::REQUESTS | tag::COMMITS => self.write_log(tag, out),
            tag::ADJACENCY => out.write(tag, |body| {
                adjacency::write(body, &edges.starts, &edges.targets, &edges.types)
            }),
            tag::KINDS => out.write(tag, |body| kinds::write(body, &tables.types)),
            tag::CONFLICTS => out.write(tag, |body| {
                conflicts::write(body, &edges.contradicts, &edges.supersedes)
            }),
            tag::VECTORS => out.write(tag, |body| vectors::write(body, &tables.inverse_lengths)),
            tag::STRENGTHS => {
                let older = kept.base().map(|base| base.strengths()).transpose()?;
                let (older, newer) = (older.unwrap_or_default(), &tables.strengths);
                let strength = |id: u32| kept.strength(id);
                out.write(tag, |body| {
                    strengths::write(body, view.nodes(), older, newer, strength)
                })
            }
            tag::VALUES => self.write_values(out),
            tag::CODES => {
                let codes = quantiser::make(kept, self.workers)?;
                out.write(tag, |body| {
                    base_codes::write(body, view.nodes(), codes.as_ref())
                })
            }
            _ => {
                let why = format!("no builder makes \"{}\"", section::name(tag));
                Err(Error::invalid("section", why))
            }
        }
    }

    fn write_attributes(&mut self, out: &mut SectionWriter<'_>) -> Result<()> {
        let kept = self.kept;
        let older = kept.base().map(|base| base.attributes()).transpose()?;
        for &id in kept.attributes.iter().chain(&self.tables.with_attributes) {
            let node = kept.view.node(NodeId(id.into()))?;
            self.changed.push((id, node.attributes_json()?));
        }
        out.write(tag::ATTRIBUTES, |body| {
            self.with_attributes = attributes::write(body, older, &self.changed)?;
            Ok(())
        })
    }

    /// Writes the index of attribute values, unless no event has attributes.
    fn write_values(&mut self, out: &mut SectionWriter<'_>) -> Result<()> {
        let changed = std::mem::take(&mut self.changed);
        if self.with_attributes == 0 {
            return Ok(());
        }
        let (older, edits) = values::edits(self.kept, &changed)?;
        out.write(tag::VALUES, |body| base_values::write(body, older, edits))
    }

    /// Writes what earlier journals leave in the base; nothing in the first base of a brain.
    fn write_log(&self, tag: u8, out: &mut SectionWriter<'_>) -> Result<()> {
        let (view, erased) = (self.kept.view, &self.tables.erased);
        let is_first = self.options.origin;
        match tag {
            tag::HISTORY if is_first => {
                out.write(tag, |body| history::write(body, std::iter::empty))
            }
            tag::HISTORY => {
                let is_erased =
                    |id: u64| u32::try_from(id).is_ok_and(|id| erased.binary_search(&id).is_ok());
                out.write(tag, |body| {
                    history::write(body, || changes::all(view, &is_erased))
                })
            }
            tag::CLOCK if is_first => out.write(tag, |body| clock::write(body, None, &[])),
            tag::CLOCK => {
                let older = view.brain().base().clock()?;
                out.write(tag, |body| {
                    clock::write(body, Some(older), &log::clock(view))
                })
            }
            tag::REQUESTS if is_first => out.write(tag, |body| requests::write(body, &[])),
            tag::REQUESTS => {
                let remembered = log::requests(view, self.options.now)?;
                out.write(tag, |body| requests::write(body, &remembered))
            }
            _ if is_first => out.write(tag, |body| commits::write(body, &[])),
            _ => {
                let recent = log::scrub(view, log::recent(view, out.position())?, erased)?;
                out.write(tag, |body| commits::write(body, &recent))
            }
        }
    }
}

/// The actor of each event, by id.
fn authors_of(kept: &CopyPlan<'_>) -> Result<Vec<u32>> {
    let view = kept.view;
    let mut out = Vec::with_capacity(view.nodes() as usize);
    if let Some(older) = view.brain().base().authors()? {
        let ids = (0..view.brain().base().nodes()).map(NodeId);
        out.extend(ids.map(|id| older.of(id).0));
    }
    // A file of an earlier version does not say who recorded the events of its base.
    out.resize(view.brain().base().nodes() as usize, 0);
    let newer = view.brain().delta().events.nodes.iter();
    out.extend(newer.map(|node| node.author.0));
    out.truncate(view.nodes() as usize);
    Ok(out)
}

/// The position of each event's session among all.
fn session_positions(all: &[Session<'_>], of_event: &[u32]) -> Result<Vec<u32>> {
    let mut last = None;
    of_event
        .iter()
        .map(|&id| match last {
            // Neighbours are mostly in one session.
            Some((known, at)) if known == id => Ok(at),
            _ => {
                let found = all.binary_search_by_key(&id, |s| s.id.0);
                let at = found.map_err(|_| {
                    Error::corrupt("sessions", 0, format!("session {id} is missing"))
                })? as u32;
                last = Some((id, at));
                Ok(at)
            }
        })
        .collect()
}
