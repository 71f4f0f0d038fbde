//! Builds a base: from a view to the bytes of a new base.
//!
//! A build reads the view only, so it runs beside the writer; later commits are in the next journal. Brains are
//! created, imported, compacted and cleared of erased texts in this one way.
//!
//! Unchanged parts are copied from the older base (`copy_plan`), changed ones patched, and sorted lists merged.
//!
//! Promises: the base answers every query as the view did, at every `as_of`; it has no byte of erased texts, vectors,
//! attributes or anything derived from them; its bytes are those of a build from scratch; a copied range with a wrong
//! checksum gets a wrong checksum, as does a section that records what no other section repeats.

pub mod build;
mod centroids;
mod changes;
mod copy_plan;
mod damage;
mod edges;
mod embeddings;
mod ivf;
mod log;
mod options;
pub mod quantiser;
mod sections;
mod source_table;
mod tables;
mod values;
mod workers;

use crate::analyzer::ANALYZER_VERSION;
use crate::base::adjacency;
use crate::base::chunk::Chunk;
use crate::base::header::Header;
use crate::base::identity::Identity;
use crate::base::image::{SectionWriter, Sink, Stream};
use crate::base::quantised_vectors as base_codes;
use crate::base::section::tag;
use crate::base::settings::Settings;
use crate::base::{
    actors, attributes, authors, change_stamps, checksums, clock, commits, conflicts, event_times,
    history, kinds, requests, sessions, spans, strengths, terms, vectors,
};
use crate::error::{Error, Result};
use crate::journal::head::{Head, PAGE};
use crate::types::{Lsn, Micros, NodeId};
use crate::view::View;
pub use changes::of as changes_of;
use copy_plan::CopyPlan;
pub use options::{BuildMode, Options};
pub use quantiser::of as codes_of;
use workers::both;
pub use workers::{Inline, Workers};

/// Writes the base of a view. Returns the position after it, where `journal` goes on.
pub fn write_base(view: &View, options: &Options, sink: &mut dyn Sink) -> Result<u64> {
    let how = BuildMode {
        workers: &Inline,
        from_scratch: false,
    };
    write_base_with(view, options, how, sink)
}

/// Writes the base of a view in a given mode.
pub fn write_base_with(
    view: &View,
    options: &Options,
    how: BuildMode<'_>,
    sink: &mut dyn Sink,
) -> Result<u64> {
    if view.is_as_of() {
        return Err(Error::invalid(
            "view",
            "only the newest commit of a view can become a base",
        ));
    }
    let kept = CopyPlan::of(view, how.from_scratch)?;
    let (terms, front) = both(
        how.workers,
        || plan_terms(&kept),
        || write_front(&kept, options, how.workers, sink),
    )?;
    let (terms, front) = (terms?, front?);
    let mut out = SectionWriter::at(front.0, front.1, sink);
    out.write(tag::TERMS, |body| terms.write(|bytes| body.bytes(bytes)))?;
    finish(out)
}

/// The terms of all texts; those of kept texts are not read again.
fn plan_terms<'v>(kept: &CopyPlan<'v>) -> Result<terms::IndexMerge<'v>> {
    let (view, base) = (kept.view, kept.view.brain().base());
    // An index of an earlier version has other terms for the same texts: nothing of it is copied.
    let is_current = |terms: &terms::Terms<'_>| terms.version() == ANALYZER_VERSION;
    let older = match kept.is_scratch {
        true => None,
        false => base.terms()?.filter(is_current),
    };
    let first = older.map_or(0, |_| base.nodes());
    let texts = (first..view.nodes()).map(|id| Ok((id as u32, view.node(NodeId(id))?.text()?)));
    let erased = |id: u32| kept.erased.binary_search(&id).is_ok();
    terms::IndexMerge::plan(older, texts, &erased)
}

/// Writes everything in front of the terms. Returns where it ends, and its checksums.
fn write_front(
    kept: &CopyPlan<'_>,
    options: &Options,
    workers: &dyn Workers,
    sink: &mut dyn Sink,
) -> Result<(u64, Vec<Chunk>)> {
    let mut tables = tables::write(kept, sink)?;
    let mut chunks = std::mem::take(&mut tables.chunks);
    if kept.damage.tables {
        chunks.iter_mut().for_each(Chunk::spoil);
    }
    let mut out = SectionWriter::at(tables.end, chunks, sink).with_damage(&kept.damage.records);
    sections::write(kept, options, workers, tables, &mut out)?;
    Ok(out.into_parts())
}

/// Writes an empty base.
pub fn empty(
    identity: &Identity,
    dimension: u32,
    settings: &Settings,
    sink: &mut dyn Sink,
) -> Result<u64> {
    let header = Header {
        dimension,
        flags: 0,
        nodes: 0,
        edges: 0,
        node_table: 64,
        edge_table: 64,
        content: 64,
        vectors: 64,
    };
    let mut front = Stream::at(0);
    front.write(sink, &header.encode())?;
    let chunks = front.finish(sink)?;
    let mut out = SectionWriter::at(64, chunks, sink);
    out.write(tag::IDENTITY, |body| identity.write(body))?;
    out.write(tag::SETTINGS, |body| {
        body.bytes(settings.to_json().as_bytes())
    })?;
    out.write(tag::SESSIONS, |body| sessions::write(body, &[], None, &[]))?;
    out.write(tag::SPANS, |body| spans::write(body, &[]))?;
    out.write(tag::ACTORS, |body| actors::write(body, &[]))?;
    out.write(tag::AUTHORS, |body| authors::write(body, 0, &[]))?;
    out.write(tag::ATTRIBUTES, |body| {
        attributes::write(body, None, &[]).map(drop)
    })?;
    out.write(tag::EVENT_TIMES, |body| {
        event_times::write(body, None, |_| Ok(0), event_times::NewEvents::default())
    })?;
    out.write(tag::HISTORY, |body| history::write(body, std::iter::empty))?;
    out.write(tag::CHANGE_STAMPS, |body| {
        change_stamps::write(body, &Default::default())
    })?;
    out.write(tag::CLOCK, |body| clock::write(body, None, &[]))?;
    out.write(tag::REQUESTS, |body| requests::write(body, &[]))?;
    out.write(tag::COMMITS, |body| commits::write(body, &[]))?;
    out.write(tag::ADJACENCY, |body| {
        adjacency::write(body, &[0], &[], &[])
    })?;
    out.write(tag::KINDS, |body| kinds::write(body, &[]))?;
    out.write(tag::CONFLICTS, |body| conflicts::write(body, &[], &[]))?;
    out.write(tag::VECTORS, |body| vectors::write(body, &[]))?;
    out.write(tag::CODES, |body| base_codes::write(body, 0, None))?;
    out.write(tag::STRENGTHS, |body| {
        strengths::write(body, 0, &[], &[], |_| 0.0)
    })?;
    let terms = terms::IndexMerge::plan::<&str>(None, [], &|_| false)?;
    out.write(tag::TERMS, |body| terms.write(|bytes| body.bytes(bytes)))?;
    finish(out)
}

/// The checksums of all sections, and padding up to where a journal may begin, whose position is returned.
pub fn finish(mut out: SectionWriter<'_>) -> Result<u64> {
    let chunks = out.chunks().to_vec();
    out.write(tag::CHECKSUMS, |body| checksums::write(body, &chunks))?;
    out.pad(PAGE, 0)?;
    Ok(out.position())
}

/// Writes an empty journal behind a base that ends at `position`. Returns where its first frame will begin.
pub fn journal(identity: &Identity, epoch: u64, position: u64, sink: &mut dyn Sink) -> Result<u64> {
    let head = Head {
        lineage: identity.lineage,
        instance: identity.instance,
        generation: identity.generation,
        base_lsn: identity.base_lsn,
        base_time: identity.base_time,
        epoch,
    };
    sink.write_at(position, &head.encode())?;
    sink.write_at(position + PAGE, &vec![0; PAGE as usize])?;
    Ok(position + 2 * PAGE)
}

/// The identity of a brain that is created now.
pub fn new_identity(
    lineage: uuid::Uuid,
    instance: uuid::Uuid,
    space: uuid::Uuid,
    now: Micros,
) -> Identity {
    Identity {
        lineage,
        instance,
        generation: crate::types::Generation(1),
        base_lsn: Lsn(0),
        base_time: now,
        space,
        decay: None,
        origin_time: now,
        origin_nodes: 0,
    }
}
