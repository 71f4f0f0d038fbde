//! Folding: from a view to the bytes of a new base.
//!
//! A fold reads the view only, so it runs beside the writer; what is committed meanwhile is in the next
//! journal. Brains are created, imported, compacted and cleared of erased texts by this one way.
//!
//! Promises: a fold of a view answers every query as the view did, at every `as_of`; erased texts, vectors,
//! attributes and what was derived from them are in none of its bytes.

pub mod build;
mod changes;
mod clusters;
pub(crate) mod codes;
pub mod image;
mod log;
pub(crate) mod tables;

use crate::base::adjacency;
use crate::base::codes as base_codes;
use crate::base::header::Header;
use crate::base::identity::Identity;
use crate::base::section::tag;
use crate::base::settings::Settings;
use crate::base::{
    actors, attributes, checksums, clock, commits, conflicts, event_times, history, kinds,
    requests, sessions, strengths, terms, vectors,
};
use crate::error::{Error, Result};
use crate::journal::head::{Head, PAGE};
use crate::types::{ActorId, Lsn, Micros, NodeId};
use crate::view::View;
pub use changes::of as changes_of;
use image::{Sections, Sink};

pub(crate) use tables::inverse_length;

/// What a fold is to say of the new base.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Which brain it is; see `Options::next`.
    pub identity: Identity,
    /// The time from which the window of requests is counted back.
    pub now: Micros,
    /// The base is the first of a brain: its events came from elsewhere, and it has no log yet.
    pub origin: bool,
}

impl Options {
    /// The next generation of the same instance.
    pub fn next(view: &View, now: Micros) -> Self {
        let identity = *view.identity();
        Self {
            identity: Identity {
                generation: crate::types::Generation(identity.generation.0 + 1),
                base_lsn: view.lsn(),
                base_time: view.time(),
                decay: view.decay_run(),
                ..identity
            },
            now,
            origin: false,
        }
    }
}

/// Writes the base of a view. Returns the position after it, where `journal` goes on.
pub fn fold(view: &View, options: &Options, sink: &mut dyn Sink) -> Result<u64> {
    if view.is_as_of() {
        return Err(Error::invalid(
            "view",
            "only the newest commit of a view can be folded",
        ));
    }
    let tables = tables::write(view, sink)?;
    let brain = view.brain();
    let mut out = Sections::at(tables.end, tables.chunks, sink);
    out.write(tag::IDENTITY, |body| options.identity.write(body))?;
    let settings = view.settings()?.to_json();
    out.write(tag::SETTINGS, |body| body.bytes(settings.as_bytes()))?;
    let all = view.sessions()?;
    let position = |id: u32| {
        all.binary_search_by_key(&id, |s| s.id.0)
            .map(|at| at as u32)
    };
    let of_event: Vec<u32> = tables
        .sessions
        .iter()
        .map(|&id| {
            position(id)
                .map_err(|_| Error::corrupt("sessions", 0, format!("session {id} is missing")))
        })
        .collect::<Result<_>>()?;
    out.write(tag::SESSIONS, |body| sessions::write(body, &all, &of_event))?;
    drop(of_event);
    let mut named = Vec::new();
    for id in 1.. {
        match view.actor(ActorId(id))? {
            actor if actor == Default::default() => break,
            actor => named.push(actor),
        }
    }
    out.write(tag::ACTORS, |body| actors::write(body, &named))?;
    out.write(tag::ATTRIBUTES, |body| {
        attributes::write(body, || {
            tables.with_attributes.iter().map(|&id| {
                let node = view.node(NodeId(id.into()))?;
                Ok((id, node.attributes_json()?.unwrap_or_default()))
            })
        })
    })?;
    out.write(tag::EVENT_TIMES, |body| {
        event_times::write(body, &tables.event_times, &tables.recorded)
    })?;
    let erased =
        |id: u64| u32::try_from(id).is_ok_and(|id| tables.erased.binary_search(&id).is_ok());
    if options.origin {
        out.write(tag::HISTORY, |body| history::write(body, std::iter::empty))?;
        out.write(tag::CLOCK, |body| clock::write(body, &[]))?;
        out.write(tag::REQUESTS, |body| requests::write(body, &[], 0))?;
        out.write(tag::COMMITS, |body| commits::write(body, &[]))?;
    } else {
        out.write(tag::HISTORY, |body| {
            history::write(body, || changes::all(view, &erased))
        })?;
        let times = log::clock(view)?;
        out.write(tag::CLOCK, |body| clock::write(body, &times))?;
        let (kept, floor) = log::requests(view, options.now)?;
        out.write(tag::REQUESTS, |body| requests::write(body, &kept, floor))?;
        let recent = log::scrub(log::recent(view)?, &tables.erased)?;
        out.write(tag::COMMITS, |body| commits::write(body, &recent))?;
    }
    out.write(tag::ADJACENCY, |body| tables.adjacency.write(body))?;
    out.write(tag::KINDS, |body| kinds::write(body, &tables.types))?;
    let mut supersedes = tables.supersedes;
    out.write(tag::CONFLICTS, |body| {
        conflicts::write(body, &tables.contradicts, &mut supersedes)
    })?;
    out.write(tag::VECTORS, |body| {
        vectors::write(
            body,
            tables.vector_count,
            &tables.vector_sum,
            &tables.inverse_lengths,
        )
    })?;
    let codes = codes::make(view)?;
    out.write(tag::CODES, |body| {
        base_codes::write(body, view.nodes(), codes.as_ref())
    })?;
    drop(codes);
    out.write(tag::STRENGTHS, |body| {
        strengths::write(body, &tables.strengths)
    })?;
    let base_terms = brain.base().terms()?;
    let first = base_terms.map_or(0, |_| brain.base().nodes());
    let texts = (first..view.nodes()).map(|id| Ok((id as u32, view.node(NodeId(id))?.text()?)));
    let terms = terms::Merge::plan(base_terms, texts, &|id| erased(id.into()))?;
    out.write(tag::TERMS, |body| terms.write(|bytes| body.bytes(bytes)))?;
    finish(out)
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
    let mut front = image::Stream::at(0);
    front.write(sink, &header.encode())?;
    let chunks = front.finish(sink)?;
    let mut out = Sections::at(64, chunks, sink);
    out.write(tag::IDENTITY, |body| identity.write(body))?;
    out.write(tag::SETTINGS, |body| {
        body.bytes(settings.to_json().as_bytes())
    })?;
    out.write(tag::SESSIONS, |body| sessions::write(body, &[], &[]))?;
    out.write(tag::ACTORS, |body| actors::write(body, &[]))?;
    out.write(tag::ATTRIBUTES, |body| {
        attributes::write(body, std::iter::empty)
    })?;
    out.write(tag::EVENT_TIMES, |body| event_times::write(body, &[], &[]))?;
    out.write(tag::HISTORY, |body| history::write(body, std::iter::empty))?;
    out.write(tag::CLOCK, |body| clock::write(body, &[]))?;
    out.write(tag::REQUESTS, |body| requests::write(body, &[], 0))?;
    out.write(tag::COMMITS, |body| commits::write(body, &[]))?;
    out.write(tag::ADJACENCY, |body| {
        adjacency::Builder::new(0).write(body)
    })?;
    out.write(tag::KINDS, |body| kinds::write(body, &[]))?;
    out.write(tag::CONFLICTS, |body| conflicts::write(body, &[], &mut []))?;
    out.write(tag::VECTORS, |body| {
        vectors::write(body, 0, &vec![0.0; dimension as usize], &[])
    })?;
    out.write(tag::CODES, |body| base_codes::write(body, 0, None))?;
    out.write(tag::STRENGTHS, |body| strengths::write(body, &[]))?;
    let terms = terms::Merge::plan::<&str>(None, [], &|_| false)?;
    out.write(tag::TERMS, |body| terms.write(|bytes| body.bytes(bytes)))?;
    finish(out)
}

/// The checksums of all sections, and padding up to where a journal may begin, whose position is returned.
pub(crate) fn finish(mut out: Sections<'_>) -> Result<u64> {
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
