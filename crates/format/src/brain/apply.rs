//! Applying a commit: from operations to entries.
//!
//! Writer and readers share this code, so they arrive at the same graph. Each operation is checked against the graph:
//! a journal with valid checksums may still be hostile.
//! Not here: edges (`link`).

use std::sync::atomic::Ordering;

use super::generation::Brain;
use crate::attributes::{self, is_only_origin};
use crate::base::identity::DecayRun;
use crate::delta::entry::{AccessVersion, DeltaEvent, END, Slot, Span, StateVersion, ValueRef};
use crate::delta::log::{CommitEntry, RequestEntry, SessionVersion};
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::journal::frame::Frame;
use crate::journal::op::{Commit, NewNode, Op, Ops};
use crate::limits;
use crate::stamp::StampTarget;
use crate::types::{ActorId, Flags, Lsn, Micros, NodeId, SessionId};
use uuid::Uuid;

/// Common to the operations of one frame.
pub(super) struct Context<'a> {
    pub(super) commit: Commit,
    /// Position of the payload in the file. With `payload` it gives the position of a borrowed value.
    payload_position: u64,
    payload: &'a [u8],
    /// Live edges so far.
    pub(super) edges: u64,
    /// Who recorded the events that follow: the commit's actor, unless an operation names another.
    author: ActorId,
}

impl Context<'_> {
    pub(super) fn bad(&self, why: impl Into<String>) -> Error {
        Error::corrupt("operation", self.payload_position, why)
    }

    /// The position in the file of bytes borrowed from the payload.
    fn span(&self, bytes: &[u8]) -> Span {
        if bytes.is_empty() {
            return Span::default();
        }
        let offset = bytes.as_ptr() as usize - self.payload.as_ptr() as usize;
        Span {
            position: self.payload_position + offset as u64,
            len: bytes.len() as u32,
        }
    }
}

/// A value from now on; an empty one is none.
fn held(span: Span) -> ValueRef {
    if span.len == 0 {
        ValueRef::None
    } else {
        ValueRef::At(span)
    }
}

impl Brain {
    /// Applies the whole transaction at `position..end`, and does not publish it.
    ///
    /// After an error the delta holds half a commit, unseen by any view; the brain must be opened again.
    pub fn apply(
        &self,
        commit: Commit,
        position: u64,
        frames: &[Frame<'_>],
        end: u64,
    ) -> Result<()> {
        let log = &self.delta.log;
        let (lsn, time) = self.newest(log.applied());
        if commit.lsn <= lsn || commit.time <= time {
            let why = format!(
                "commit {} at {} does not follow {lsn} at {time}",
                commit.lsn, commit.time
            );
            return Err(Error::corrupt("commit", position, why));
        }
        let mut edges = self.edges_after(log.applied());
        let mut author = commit.actor;
        for frame in frames {
            let mut cx = Context {
                commit,
                payload_position: frame.payload_position,
                payload: frame.payload,
                edges,
                author,
            };
            let mut ops = Ops::new(frame.payload, frame.payload_position);
            for op in ops.by_ref() {
                self.apply_op(&mut cx, op?)?;
            }
            if ops.skipped() != 0 {
                self.skipped.fetch_max(ops.skipped(), Ordering::Relaxed);
            }
            (edges, author) = (cx.edges, cx.author);
        }
        log.push(CommitEntry {
            commit,
            position,
            end,
            nodes: self.nodes_applied(),
            edges,
        });
        Ok(())
    }

    fn nodes_applied(&self) -> u64 {
        self.base.nodes() + u64::from(self.delta.events.nodes.len())
    }

    fn apply_op(&self, cx: &mut Context<'_>, op: Op<'_>) -> Result<()> {
        match op {
            Op::Event(node) => self.apply_event(cx, &node),
            Op::Link {
                source,
                target,
                edge_type,
                weight,
                created_at,
            } => self.apply_link(
                cx,
                Edge {
                    source,
                    target,
                    edge_type,
                    weight,
                    created_at,
                },
            ),
            Op::Unlink {
                source,
                target,
                edge_type,
            } => self.apply_unlink(cx, source, target, edge_type),
            Op::Belief {
                target,
                confidence,
                flags,
                lambda,
            } => self.apply_belief(cx, target, (confidence, flags, lambda)),
            Op::Attributes { target, json } => self.apply_attributes(cx, target, json),
            Op::Vector { target, vector } => self.apply_vector(cx, target, vector),
            Op::Erase { target } => self.apply_erase(cx, target),
            Op::Touch { at, entries } => entries
                .iter()
                .try_for_each(|(id, times)| self.apply_touch(cx, id, times, at)),
            Op::Decay { at, rates } => {
                let lsn = cx.commit.lsn;
                self.delta.decays.push(DecayRun { lsn, at, rates });
                Ok(())
            }
            Op::OpenSession {
                session,
                key,
                agent,
                at,
            } => {
                let opened = (cx.span(key.as_bytes()), cx.span(agent.as_bytes()), at);
                self.push_session(cx.commit.lsn, session, Some(opened), None);
                self.delta.sessions.push_key(key, session);
                Ok(())
            }
            Op::CloseSession {
                session,
                outcome,
                at,
            } => {
                let closed = (cx.span(outcome.as_bytes()), at);
                self.push_session(cx.commit.lsn, session, None, Some(closed));
                Ok(())
            }
            Op::Settings { json } => {
                crate::base::settings::Settings::parse(json).map_err(|e| cx.bad(e.to_string()))?;
                let span = cx.span(json.as_bytes());
                self.delta.settings.push((cx.commit.lsn, span));
                Ok(())
            }
            Op::Actor {
                actor,
                principal,
                agent,
            } => self.apply_actor(cx, actor, (principal, agent)),
            Op::Request { id, body, answer } => self.apply_request(cx, id, body, answer),
            Op::Author { actor } => self.apply_author(cx, actor),
            Op::Stamp { target, fields, at } => self.apply_stamps(
                cx,
                fields.iter().map(|field| StampTarget::Field(target, field)),
                at,
            ),
            Op::StampEdge {
                source,
                target,
                edge_type,
                at,
            } => self.apply_stamps(cx, [StampTarget::Edge(source, target, edge_type)], at),
            Op::StampSession { session, at } => {
                self.apply_stamps(cx, [StampTarget::Session(session)], at)
            }
        }
    }

    fn apply_belief(
        &self,
        cx: &Context<'_>,
        target: NodeId,
        (confidence, flags, lambda): (f32, Flags, f32),
    ) -> Result<()> {
        self.change(cx, target, |state, lsn| {
            if state.confidence.to_bits() != confidence.to_bits() {
                (state.confidence, state.confidence_lsn) = (confidence, lsn);
            }
            let kept = Flags::VECTOR.with(Flags::ATTRIBUTES).with(Flags::ERASED);
            state.flags = Flags(state.flags.0 & kept.0 | flags.without(kept).0);
            state.lambda = lambda;
        })
    }

    /// Records who speaks, by an event's attributes.
    fn add_speaker(&self, json: &str) {
        let name = attributes::speaker(json).and_then(|speaker| attributes::first_name(&speaker));
        let Some(hash) = name.map(|name| attributes::speaker_hash(&name)) else {
            return;
        };
        let speakers = &self.delta.speakers;
        if speakers.get(hash).is_none() {
            speakers.insert(hash, 0);
        }
    }

    fn apply_attributes(&self, cx: &Context<'_>, target: NodeId, json: &str) -> Result<()> {
        self.add_speaker(json);
        let span = cx.span(json.as_bytes());
        self.change(cx, target, |state, _| {
            if state.flags.has(Flags::ERASED) && !is_only_origin(json) {
                return;
            }
            state.attributes = held(span);
            state.flags = state.flags.set(Flags::ATTRIBUTES, span.len > 0);
        })
    }

    fn apply_vector(&self, cx: &Context<'_>, target: NodeId, vector: &[u8]) -> Result<()> {
        self.check_vector(cx, vector)?;
        let span = cx.span(vector);
        self.change(cx, target, |state, _| {
            state.vector = held(span);
            state.flags = state.flags.set(Flags::VECTOR, span.len > 0);
        })
    }

    fn apply_erase(&self, cx: &Context<'_>, target: NodeId) -> Result<()> {
        self.change(cx, target, |state, _| {
            state.attributes = ValueRef::None;
            state.vector = ValueRef::None;
            let gone = Flags::VECTOR.with(Flags::ATTRIBUTES);
            state.flags = state.flags.without(gone).with(Flags::ERASED);
        })
    }

    fn apply_actor(
        &self,
        cx: &Context<'_>,
        actor: ActorId,
        (principal, agent): (&str, &str),
    ) -> Result<()> {
        let next = self.base.actors()?.len() + u64::from(self.delta.actors.len()) + 1;
        if u64::from(actor.0) != next {
            return Err(cx.bad(format!("actor {actor} where {next} is the next")));
        }
        let (principal, agent) = (cx.span(principal.as_bytes()), cx.span(agent.as_bytes()));
        self.delta.actors.push((cx.commit.lsn, principal, agent));
        Ok(())
    }

    fn apply_author(&self, cx: &mut Context<'_>, actor: ActorId) -> Result<()> {
        let known = self.base.actors()?.len() + u64::from(self.delta.actors.len());
        if u64::from(actor.0) > known {
            return Err(cx.bad(format!("author {actor} where {known} is the last actor")));
        }
        cx.author = actor;
        Ok(())
    }

    fn apply_stamps(
        &self,
        cx: &Context<'_>,
        stamps: impl IntoIterator<Item = StampTarget>,
        at: Micros,
    ) -> Result<()> {
        let end = self.nodes_applied();
        for of in stamps {
            let (is_there, what) = match of {
                StampTarget::Field(id, _) => (id.0 < end, "event"),
                StampTarget::Edge(a, b, _) => (a.0 < end && b.0 < end && a != b, "pair of events"),
                StampTarget::Session(id) => (self.has_session(id)?, "session"),
            };
            if !is_there {
                return Err(cx.bad(format!("a stamp where there is no such {what}: {of:?}")));
            }
            self.delta.stamps.push((cx.commit.lsn, of, at));
        }
        Ok(())
    }

    fn has_session(&self, id: SessionId) -> Result<bool> {
        Ok(self.delta.sessions.find(id).is_some() || self.base.sessions()?.find(id)?.is_some())
    }

    fn apply_request(&self, cx: &Context<'_>, id: Uuid, body: u128, answer: &[u8]) -> Result<()> {
        let key = id.as_u128();
        if self.delta.request_index.get(key).is_some() {
            return Err(cx.bad(format!("request {id} is answered twice")));
        }
        let at = self.delta.requests.push(RequestEntry {
            lsn: cx.commit.lsn,
            id,
            body,
            answer: cx.span(answer),
        });
        self.delta.request_index.insert(key, at);
        Ok(())
    }

    fn apply_event(&self, cx: &Context<'_>, node: &NewNode<'_>) -> Result<()> {
        let next = self.nodes_applied();
        if node.id.0 != next || next >= limits::NODES_MAX {
            return Err(cx.bad(format!("event {} where {next} is the next", node.id)));
        }
        if node.created_at < self.last_created()? || node.created_at > cx.commit.time {
            return Err(cx.bad(format!("event {} is recorded out of order", node.id)));
        }
        self.check_vector(cx, node.vector)?;
        let sessions = &self.delta.sessions;
        let slot = sessions
            .slot_or_new(node.session, cx.commit.lsn)
            .ok_or_else(|| cx.bad("too many sessions"))?;
        let index = self.delta.events.nodes.len();
        let previous_in_session = slot.newest.get();
        let carried = node.carried;
        // An erased event retains its origin only.
        let is_erased = carried.is_some_and(|c| c.flags.has(Flags::ERASED));
        let attributes = if is_erased && !is_only_origin(node.attributes) {
            ""
        } else {
            node.attributes
        };
        self.add_speaker(attributes);
        let has = Flags::default()
            .set(Flags::VECTOR, !node.vector.is_empty())
            .set(Flags::ATTRIBUTES, !attributes.is_empty());
        let own = Flags::VECTOR.with(Flags::ATTRIBUTES);
        self.delta.events.push(
            DeltaEvent {
                lsn: cx.commit.lsn,
                author: cx.author,
                event_type: node.event_type,
                session: node.session,
                created_at: node.created_at,
                event_time: node.event_time,
                confidence: node.confidence,
                lambda: node.lambda,
                flags: has.with(carried.map_or(Flags::default(), |c| c.flags.without(own))),
                access_count: carried.map_or(0, |c| c.access_count),
                last_accessed: carried.map_or(node.created_at, |c| c.last_accessed),
                decay_score: carried.map_or(node.confidence, |c| c.decay_score),
                text: cx.span(node.text.as_bytes()),
                attributes: cx.span(attributes.as_bytes()),
                vector: cx.span(node.vector),
                previous_in_session,
                slot: Slot::default(),
            },
            next as u32,
        );
        slot.first_event.get_or_init(|| node.created_at);
        slot.newest.set(index);
        Ok(())
    }

    fn check_vector(&self, cx: &Context<'_>, vector: &[u8]) -> Result<()> {
        let expected = self.base.header().dimension as usize * 4;
        if vector.is_empty() || vector.len() == expected {
            return Ok(());
        }
        Err(cx.bad(format!(
            "a vector of {} bytes where one has {expected}",
            vector.len()
        )))
    }

    fn last_created(&self) -> Result<Micros> {
        let nodes = &self.delta.events.nodes;
        if let Some(node) = nodes.get(nodes.len().wrapping_sub(1)) {
            return Ok(node.created_at);
        }
        match self.base.nodes().checked_sub(1) {
            Some(last) => Ok(self.base.record(NodeId(last))?.created_at),
            None => Ok(Micros::MIN),
        }
    }

    /// The slot of an existing event whose state or edges change; a new one if the delta has none.
    pub(super) fn slot(&self, cx: &Context<'_>, id: NodeId) -> Result<&Slot> {
        let slot = self.access_slot(cx, id)?;
        self.delta.events.changes(id);
        Ok(slot)
    }

    /// As `slot`, for an access, which is no change.
    fn access_slot(&self, cx: &Context<'_>, id: NodeId) -> Result<&Slot> {
        let slot = match id.0.checked_sub(self.base.nodes()) {
            None => self.delta.events.base_slot_or_new(id),
            Some(at) => u32::try_from(at)
                .ok()
                .and_then(|at| self.delta.events.nodes.get(at))
                .map(|n| &n.slot),
        };
        slot.ok_or_else(|| cx.bad(format!("there is no event {id}")))
    }

    /// Adds a version of an event's state.
    fn change(
        &self,
        cx: &Context<'_>,
        id: NodeId,
        edit: impl FnOnce(&mut StateVersion, Lsn),
    ) -> Result<()> {
        let slot = self.slot(cx, id)?;
        let previous = slot.state.get();
        let mut state = match self.delta.events.states.get(previous) {
            Some(state) => *state,
            None => self.initial_state(id)?,
        };
        (state.lsn, state.time, state.actor) = (cx.commit.lsn, cx.commit.time, cx.commit.actor);
        state.previous = previous;
        let was_forgotten = state.flags.has(Flags::FORGOTTEN);
        edit(&mut state, cx.commit.lsn);
        if state.flags.has(Flags::FORGOTTEN) != was_forgotten {
            self.note_replacement(cx);
        }
        self.delta.events.push_state(slot, state);
        Ok(())
    }

    /// Notes that heads may differ from this commit on.
    pub(super) fn note_replacement(&self, cx: &Context<'_>) {
        let changes = &self.delta.replacements;
        let last = changes.get(changes.len().wrapping_sub(1));
        if last != Some(&cx.commit.lsn) {
            changes.push(cx.commit.lsn);
        }
    }

    /// An event's state before the delta.
    pub(crate) fn initial_state(&self, id: NodeId) -> Result<StateVersion> {
        let (confidence, flags, lambda) = match id.0.checked_sub(self.base.nodes()) {
            None => {
                let record = self.base.record(id)?;
                (record.confidence, record.flags, record.lambda)
            }
            Some(at) => {
                let node = u32::try_from(at)
                    .ok()
                    .and_then(|at| self.delta.events.nodes.get(at));
                let node = node.ok_or(Error::UnknownEvent {
                    id,
                    count: self.nodes_applied(),
                })?;
                (node.confidence, node.flags, node.lambda)
            }
        };
        Ok(StateVersion {
            lsn: Lsn(0),
            time: Micros(0),
            actor: Default::default(),
            node: id,
            confidence,
            confidence_lsn: Lsn(0),
            flags,
            lambda,
            attributes: ValueRef::Initial,
            vector: ValueRef::Initial,
            previous: END,
        })
    }

    fn apply_touch(&self, cx: &Context<'_>, id: NodeId, times: u32, at: Micros) -> Result<()> {
        let slot = self.access_slot(cx, id)?;
        let previous = slot.access.get();
        let (count, last) = match self.delta.events.accesses.get(previous) {
            Some(access) => (access.count, access.last),
            None => match id.0.checked_sub(self.base.nodes()) {
                None => {
                    let record = self.base.record(id)?;
                    (record.access_count, record.last_accessed)
                }
                Some(at) => self
                    .delta
                    .events
                    .nodes
                    .get(at as u32)
                    .map_or((0, Micros(0)), |n| (n.access_count, n.last_accessed)),
            },
        };
        let access = AccessVersion {
            lsn: cx.commit.lsn,
            count: count.saturating_add(times),
            last: last.max(at),
            previous,
        };
        slot.access.set(self.delta.events.accesses.push(access));
        Ok(())
    }

    fn push_session(
        &self,
        lsn: Lsn,
        session: SessionId,
        opened: Option<(Span, Span, Micros)>,
        closed: Option<(Span, Micros)>,
    ) {
        let sessions = &self.delta.sessions;
        let before = sessions
            .find(session)
            .and_then(|slot| sessions.version(slot, Lsn(u64::MAX)))
            .copied();
        let reopens = opened.is_some() && self.is_closed(session, before.as_ref());
        let known_close = before.and_then(|v| v.closed).filter(|_| !reopens);
        let version = SessionVersion {
            lsn,
            opened: opened.or(before.and_then(|v| v.opened)),
            closed: closed.or(known_close),
            reopenings: before.map_or(0, |v| v.reopenings) + u32::from(reopens),
            previous: END,
        };
        sessions.push(session, version);
    }

    /// True if a session is closed after its newest version.
    fn is_closed(&self, session: SessionId, newest: Option<&SessionVersion>) -> bool {
        if newest.is_some_and(|version| version.closed.is_some()) {
            return true;
        }
        if newest.is_some_and(|version| version.reopenings > 0) {
            return false;
        }
        // Damage to the section fails each read of a session; the commit itself is whole.
        let closed_in_base = || {
            let sessions = self.base.sessions().ok()?;
            sessions.at(sessions.find(session).ok()??).ok()?.closed
        };
        closed_in_base().is_some()
    }
}
