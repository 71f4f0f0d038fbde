//! What another brain has and this one has not: events, edges, changes, uses, sessions.
//!
//! The rules, which leave both sides the same once each has taken what the other has:
//! - an event that is new here keeps its type, text, confidence, attributes, flags and uses; it is recorded now, happened
//!   when it did, and says where it comes from (`ORIGIN`);
//! - edges are united; one that was retracted after it was last set on the other side is retracted;
//! - of attributes, vectors, decay rates, being pinned or forgotten, what was set later is kept; what is compressed or
//!   erased on one side stays so there, and compressed is compressed here, too;
//! - uses: the larger count, the later time;
//! - both corrections of a belief stay, and it is contested; confidences follow from all that replaces them.

mod beliefs;
mod edges;
mod events;

use std::collections::HashMap;

use amem_core::journal::op::Op;
use amem_core::view::View;
use amem_core::{Flags, NodeId, SessionId};

use super::Planning;
use crate::error::{Error, Result};
use crate::merge::changes::Changes;
use crate::merge::matching::Matching;
use crate::merge::{Merged, Other};

/// A merge being planned.
struct Merging<'p, 'v> {
    plan: &'p mut Planning<'v>,
    other: &'v View,
    matching: Matching,
    ours: Changes,
    theirs: Changes,
    sessions: HashMap<SessionId, SessionId>,
    /// The other's ids of the events that are new here, in the order of the ids that they get.
    new: Vec<NodeId>,
    /// Supersedes edges that are new or have another weight, by target; no weight: retracted.
    replaced_by: HashMap<NodeId, Vec<(NodeId, Option<f32>)>>,
    /// The same by source, without those that were retracted.
    replaces: HashMap<NodeId, Vec<NodeId>>,
    /// What events here are from now on.
    beliefs: HashMap<NodeId, Belief>,
    merged: Merged,
}

#[derive(Clone, Copy)]
struct Belief {
    confidence: f32,
    flags: Flags,
    lambda: f32,
}

impl<'v> Planning<'v> {
    pub(super) fn merge(&mut self, other: &'v Other) -> Result<()> {
        let (view, other) = (self.view, &*other.view);
        if view.instance() == other.instance() {
            let why = format!("the other brain is this one, instance {}", view.instance());
            return Err(Error::invalid("merge", why));
        }
        let mut merging = Merging {
            matching: Matching::of(view, other)?,
            ours: Changes::of(view)?,
            theirs: Changes::of(other)?,
            other,
            sessions: HashMap::new(),
            new: Vec::new(),
            replaced_by: HashMap::new(),
            replaces: HashMap::new(),
            beliefs: HashMap::new(),
            merged: Merged::default(),
            plan: self,
        };
        merging.sessions()?;
        merging.events()?;
        merging.fields()?;
        merging.edges()?;
        merging.confidences()?;
        let merged = merging.finish();
        self.answer.edges = merged.edges;
        self.answer.merged = Some(merged);
        Ok(())
    }
}

impl Merging<'_, '_> {
    /// Our event that another brain's is, or becomes.
    fn ours(&self, theirs: NodeId) -> Option<NodeId> {
        self.matching.ours(theirs).or_else(|| {
            let at = self.new.binary_search(&theirs).ok()?;
            Some(NodeId(self.plan.view.nodes() + at as u64))
        })
    }

    /// Sessions of events that are here already are the same session; so are those of one key that were opened at the
    /// same moment. Others are opened when an event needs them.
    fn sessions(&mut self) -> Result<()> {
        self.sessions.insert(SessionId(0), SessionId(0));
        for (ours, theirs) in self.matching.pairs() {
            let (ours, theirs) = (self.plan.view.node(ours)?, self.other.node(theirs)?);
            self.sessions
                .entry(theirs.session())
                .or_insert(ours.session());
        }
        Ok(())
    }

    fn session(&mut self, theirs: SessionId) -> Result<SessionId> {
        if let Some(&known) = self.sessions.get(&theirs) {
            return Ok(known);
        }
        let session = self.other.session(theirs)?;
        let (key, agent, closed) = match &session {
            Some(session) => (
                session.key,
                session.agent,
                session.closed.map(|_| session.outcome),
            ),
            None => ("", "", None),
        };
        let taken = match key {
            "" => None,
            key => self.plan.view.session_by_key(key)?,
        };
        let twin = match (taken, &session) {
            (Some(id), Some(session)) => {
                let ours = self.plan.view.session(id)?;
                ours.filter(|ours| ours.opened == session.opened)
                    .map(|_| id)
            }
            _ => None,
        };
        let id = match twin {
            Some(id) => id,
            None => {
                let next = self
                    .plan
                    .view
                    .next_session()?
                    .0
                    .checked_add(self.merged.sessions as u32);
                let next = next
                    .ok_or_else(|| Error::invalid("merge", "there are no session numbers left"))?;
                let at = self.plan.next_time;
                // A key names one session: another's keeps none.
                let key = if taken.is_some() { "" } else { key };
                self.plan.push(&Op::OpenSession {
                    session: SessionId(next),
                    key,
                    agent,
                    at,
                });
                if let Some(outcome) = closed {
                    self.plan.push(&Op::CloseSession {
                        session: SessionId(next),
                        outcome,
                        at,
                    });
                }
                self.merged.sessions += 1;
                SessionId(next)
            }
        };
        self.sessions.insert(theirs, id);
        Ok(id)
    }

    fn finish(self) -> Merged {
        let mut beliefs: Vec<_> = self.beliefs.into_iter().collect();
        beliefs.sort_unstable_by_key(|(id, _)| *id);
        for (target, belief) in beliefs {
            self.plan.push(&Op::Belief {
                target,
                confidence: belief.confidence,
                flags: belief.flags,
                lambda: belief.lambda,
            });
        }
        self.merged
    }
}
