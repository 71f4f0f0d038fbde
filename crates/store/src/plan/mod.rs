//! From a mutation to operations: validation against a view, and all that follows from it.
//!
//! Nothing is written here. A refused mutation leaves no trace; the view it is held against contains
//! everything that was accepted before it, durable or not.

pub(crate) mod belief;
mod changes;
mod edges;
mod episodes;
mod events;
mod merge;
mod sessions;
mod similar;

use amem_format::journal::frame::Kind;
use amem_format::journal::op::{self, Op};
use amem_format::limits::EDGES_MAX;
use amem_format::view::View;
use amem_format::{Micros, NodeId};

use crate::error::{Error, Result};
use crate::mutation::{Answer, Mutation};
use crate::plan::belief::Pending;

/// Bytes of payload after which a transaction goes on in the next frame.
const FRAME: usize = 4 << 20;

/// What a mutation comes to.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Which kind of commit.
    pub(crate) kind: Kind,
    /// Payloads, one a frame; none if nothing has to be done.
    pub(crate) payloads: Vec<Vec<u8>>,
    /// What is answered, but for LSN and time.
    pub(crate) answer: Answer,
    /// Recorded time of the commit.
    pub(crate) time: Micros,
}

/// A plan being made.
pub(crate) struct Planning<'v> {
    pub(crate) view: &'v View,
    /// Recorded time of the next event.
    pub(crate) next_time: Micros,
    payloads: Vec<Vec<u8>>,
    /// Bytes of all payloads but the last.
    full: u64,
    /// How many of the operations are edges, new or not.
    links: u64,
    pub(crate) answer: Answer,
    /// What replaces what from now on.
    pub(crate) pending: Pending,
}

impl<'v> Planning<'v> {
    /// Bytes of the plan so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.full + self.payloads.last().map_or(0, |last| last.len() as u64)
    }

    /// Adds an operation.
    pub(crate) fn push(&mut self, op: &Op<'_>) {
        self.links += u64::from(matches!(op, Op::Link { .. }));
        match self.payloads.last_mut() {
            Some(payload) if payload.len() < FRAME => op::encode(payload, op),
            _ => {
                self.full = self.bytes();
                if let Some(payload) = self.payloads.last_mut() {
                    // It grew by doubling.
                    payload.shrink_to_fit();
                }
                let mut payload = Vec::with_capacity(1 << 10);
                op::encode(&mut payload, op);
                self.payloads.push(payload);
            }
        }
    }

    /// An event that must be there; erased ones only where `erased_too`.
    pub(crate) fn visible(&self, id: NodeId) -> Result<amem_format::view::Node<'v>> {
        let node = self.view.node(id)?;
        if node.is_forgotten() {
            return Err(amem_format::Error::Forgotten { id }.into());
        }
        Ok(node)
    }

    /// An event whose content can still be changed.
    pub(crate) fn whole(&self, id: NodeId) -> Result<amem_format::view::Node<'v>> {
        let node = self.visible(id)?;
        if node.is_erased() {
            return Err(Error::Erased { id });
        }
        Ok(node)
    }
}

/// Plans a mutation against a view; `now` is the clock's.
pub(crate) fn plan<'v>(view: &'v View, mutation: &'v Mutation, now: Micros) -> Result<Plan> {
    plan_within(view, mutation, now, EDGES_MAX)
}

/// The same for a brain of at most so many edges.
pub(crate) fn plan_within<'v>(
    view: &'v View,
    mutation: &'v Mutation,
    now: Micros,
    edges_max: u64,
) -> Result<Plan> {
    // Recorded time grows strictly, whatever the clock does.
    let first = Micros(now.0.max(view.time().0.saturating_add(1)));
    let mut p = Planning {
        view,
        next_time: first,
        payloads: Vec::new(),
        full: 0,
        links: 0,
        answer: Answer::default(),
        pending: Pending::default(),
    };
    match mutation {
        Mutation::Ingest(ingest) => p.ingest(ingest)?,
        Mutation::Correct(correct) => p.correct(correct)?,
        Mutation::Link(edge) => p.link(edge)?,
        Mutation::Unlink {
            source,
            target,
            edge_type,
        } => p.unlink(*source, *target, *edge_type)?,
        Mutation::Touch(entries) => p.touch(entries)?,
        Mutation::Pin(id) => p.pin(*id, true)?,
        Mutation::Unpin(id) => p.pin(*id, false)?,
        Mutation::Forget(id) => p.hide(*id, true)?,
        Mutation::Restore(id) => p.hide(*id, false)?,
        Mutation::Erase(ids) => p.erase(ids)?,
        Mutation::Compress {
            session,
            text,
            vector,
        } => p.compress(*session, text, vector.as_deref())?,
        Mutation::CompressPart(part) => p.compress_part(part)?,
        Mutation::SetVector {
            target,
            vector,
            space,
        } => p.set_vector(*target, vector.as_deref(), *space)?,
        Mutation::SetAttributes { target, attributes } => {
            p.set_attributes(*target, attributes.as_ref())?
        }
        Mutation::Decay => p.decay(first)?,
        Mutation::OpenSession { .. } => {
            return Err(Error::invalid(
                "mutation",
                "a session is opened by an agent",
            ));
        }
        Mutation::CloseSession { session, outcome } => p.close_session(*session, outcome)?,
        Mutation::Merge(other) => p.merge(other)?,
        Mutation::SetSettings(settings) => p.set_settings(settings)?,
    }
    p.check_edges(edges_max)?;
    Ok(p.done(mutation.kind()))
}

/// Plans the opening of a session by an agent.
pub(crate) fn plan_open_session(view: &View, key: &str, agent: &str, now: Micros) -> Result<Plan> {
    let first = Micros(now.0.max(view.time().0.saturating_add(1)));
    let mut p = Planning {
        view,
        next_time: first,
        payloads: Vec::new(),
        full: 0,
        links: 0,
        answer: Answer::default(),
        pending: Pending::default(),
    };
    p.open_session(key, agent)?;
    Ok(p.done(Kind::OpenSession))
}

impl Planning<'_> {
    fn done(self, kind: Kind) -> Plan {
        Plan {
            kind,
            payloads: self.payloads,
            answer: self.answer,
            time: self.next_time,
        }
    }
}
