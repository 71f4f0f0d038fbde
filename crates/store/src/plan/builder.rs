//! Builds a plan: collects operations and checks events.

use std::collections::BTreeSet;

use amem_format::journal::frame::Kind;
use amem_format::journal::op::{self, Op};
use amem_format::view::View;
use amem_format::{ActorId, Micros, NodeId, SessionId};

use crate::error::{Error, Result};
use crate::limits::FRAME_PAYLOAD_BYTES;
use crate::mutation::Answer;
use crate::plan::belief::SupersedesChanges;

/// The operations of a mutation.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The kind of commit.
    pub(crate) kind: Kind,
    /// Payloads, one a frame; none if nothing has to be done.
    pub(crate) payloads: Vec<Vec<u8>>,
    /// The answer, without LSN and time.
    pub(crate) answer: Answer,
    /// Recorded time of the commit.
    pub(crate) time: Micros,
    /// Actors that its operations name, principal and agent: numbered on from those of the view.
    pub(crate) actors: Vec<(String, String)>,
}

/// Collects the operations of a mutation.
pub(crate) struct PlanBuilder<'v> {
    pub(crate) view: &'v View,
    /// Recorded time of the next event.
    pub(crate) next_time: Micros,
    /// The clock's time, which decay counts from. Recorded time is later after a clock was ahead.
    pub(super) now: Micros,
    pub(super) payloads: Vec<Vec<u8>>,
    /// Bytes of all payloads but the last.
    full: u64,
    /// Operations that add or change edges.
    pub(super) links: u64,
    pub(crate) answer: Answer,
    /// The first operation that no reader would accept.
    refusal: Option<amem_format::Error>,
    /// Closed sessions that this plan opens again.
    pub(super) reopened: BTreeSet<SessionId>,
    /// Changes of supersedes edges.
    pub(crate) pending: SupersedesChanges,
    /// Actors that the plan names.
    actors: Vec<(String, String)>,
}

impl<'v> PlanBuilder<'v> {
    /// Begins a plan. `now` is the clock's; recorded time grows strictly, whatever the clock does.
    pub(super) fn begin(view: &'v View, now: Micros) -> Self {
        Self {
            view,
            now,
            next_time: Micros(now.0.max(view.time().0.saturating_add(1))),
            payloads: Vec::new(),
            full: 0,
            links: 0,
            answer: Answer::default(),
            refusal: None,
            reopened: BTreeSet::new(),
            pending: SupersedesChanges::default(),
            actors: Vec::new(),
        }
    }

    /// Bytes of the plan so far.
    pub(crate) fn bytes(&self) -> u64 {
        self.full + self.payloads.last().map_or(0, |last| last.len() as u64)
    }

    /// Adds an operation. `done` fails if a reader would refuse it.
    pub(crate) fn push(&mut self, op: &Op<'_>) {
        if self.refusal.is_none() {
            self.refusal = op::check(op).err();
        }
        self.links += u64::from(matches!(op, Op::Link { .. }));
        match self.payloads.last_mut() {
            Some(payload) if payload.len() < FRAME_PAYLOAD_BYTES => op::encode(payload, op),
            _ => {
                self.full = self.bytes();
                if let Some(payload) = self.payloads.last_mut() {
                    // It grew by doubling, and stays until it is written.
                    payload.shrink_to_fit();
                }
                let mut payload = Vec::with_capacity(1 << 10);
                op::encode(&mut payload, op);
                self.payloads.push(payload);
            }
        }
    }

    /// The number of an actor; names it if no commit has.
    pub(crate) fn actor(&mut self, principal: &str, agent: &str) -> Result<ActorId> {
        if principal.is_empty() && agent.is_empty() {
            return Ok(ActorId(0));
        }
        if let Some(id) = self.view.find_actor(principal, agent)? {
            return Ok(id);
        }
        let brain = self.view.brain();
        let known = brain.base().actors()?.len() + u64::from(brain.delta().actors.len());
        let actor = ActorId((known as usize + self.actors.len() + 1) as u32);
        self.push(&Op::Actor {
            actor,
            principal,
            agent,
        });
        self.actors.push((principal.to_owned(), agent.to_owned()));
        Ok(actor)
    }

    /// An event that exists and is not forgotten.
    pub(crate) fn visible(&self, id: NodeId) -> Result<amem_format::view::Node<'v>> {
        let node = self.view.node(id)?;
        if node.is_forgotten() {
            return Err(amem_format::Error::Forgotten { id }.into());
        }
        Ok(node)
    }

    /// A visible event that was not erased.
    pub(crate) fn editable(&self, id: NodeId) -> Result<amem_format::view::Node<'v>> {
        let node = self.visible(id)?;
        if node.is_erased() {
            return Err(Error::Erased { id });
        }
        Ok(node)
    }
}

impl PlanBuilder<'_> {
    pub(super) fn done(self, kind: Kind) -> Result<Plan> {
        if let Some(refusal) = self.refusal {
            return Err(refusal.into());
        }
        Ok(Plan {
            kind,
            payloads: self.payloads,
            answer: self.answer,
            time: self.next_time,
            actors: self.actors,
        })
    }
}
