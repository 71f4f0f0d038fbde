//! An event as a view sees it: fields borrow from the mapping.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use std::borrow::Cow;

use super::belief::{EventRecord, EventState, ValueBytes};
use super::snapshot::View;
use super::strength::{decay, rate_of};
use crate::base::identity::DecayRun;
use crate::delta::entry::Slot;
use crate::error::{Error, Result};
use crate::event::{Attributes, Event};
use crate::types::{ActorId, EventType, Flags, Lsn, Micros, NodeId, SessionId};

/// An event of a view.
#[derive(Debug, Clone)]
pub struct Node<'v> {
    view: &'v View,
    id: NodeId,
    record: EventRecord<'v>,
    /// Its entries in the delta.
    slot: Option<&'v Slot>,
    state: EventState<'v>,
}

impl View {
    /// An event of the view's moment, hidden or not.
    #[inline]
    pub fn node(&self, id: NodeId) -> Result<Node<'_>> {
        Node::new(self, id)
    }
}

impl<'v> Node<'v> {
    #[inline]
    pub(super) fn new(view: &'v View, id: NodeId) -> Result<Self> {
        if id.0 >= view.at.nodes {
            return Err(unknown(view, id));
        }
        let brain = &view.brain;
        let events = &brain.delta.events;
        let (record, slot) = match id.0.checked_sub(brain.base.nodes()) {
            None => (EventRecord::Base(brain.base.raw(id)?), events.base_slot(id)),
            Some(at) => match events.nodes.get(at as u32) {
                Some(node) => (EventRecord::Delta(node), Some(&node.slot)),
                None => return Err(unknown(view, id)),
            },
        };
        let initial = EventState::initial(&record);
        let state = if view.before_base() {
            initial.with_history_undone(view, id, slot)?
        } else {
            match slot {
                Some(slot) => initial.with_delta(view, slot)?,
                None => initial,
            }
        };
        Ok(Self {
            view,
            id,
            record,
            slot,
            state,
        })
    }

    #[inline]
    pub fn id(&self) -> NodeId {
        self.id
    }

    #[inline]
    pub fn event_type(&self) -> EventType {
        match &self.record {
            EventRecord::Base(r) => r.event_type(),
            EventRecord::Delta(n) => n.event_type,
        }
    }

    #[inline]
    pub fn session(&self) -> SessionId {
        match &self.record {
            EventRecord::Base(r) => r.session(),
            EventRecord::Delta(n) => n.session,
        }
    }

    #[inline]
    pub fn created_at(&self) -> Micros {
        match &self.record {
            EventRecord::Base(r) => r.created_at(),
            EventRecord::Delta(n) => n.created_at,
        }
    }

    /// Who recorded it; 0 if that is unknown, as of events that an earlier version checkpointed.
    #[inline]
    pub fn author(&self) -> Result<ActorId> {
        match &self.record {
            EventRecord::Base(_) => {
                let authors = self.view.brain.base.authors()?;
                Ok(authors.map_or(ActorId(0), |authors| authors.of(self.id)))
            }
            EventRecord::Delta(n) => Ok(n.author),
        }
    }

    /// Why it replaced another event: its attribute `amem.reason`, if that is a text.
    pub fn reason(&self) -> Result<Option<String>> {
        let json = self.attributes_json()?.unwrap_or_default();
        Ok(crate::attributes::reason(&json))
    }

    /// When it happened; `None` if the writer gave no time.
    pub fn event_time(&self) -> Result<Option<Micros>> {
        match &self.record {
            EventRecord::Base(_) => Ok(self.view.brain.base.event_times()?.get(self.id)),
            EventRecord::Delta(n) => Ok(n.event_time),
        }
    }

    /// When it happened, or else when it was recorded.
    pub fn happened(&self) -> Result<Micros> {
        Ok(self.event_time()?.unwrap_or(self.created_at()))
    }

    /// Forgotten and erased as of now, the other flags as of the view's moment.
    #[inline]
    pub fn flags(&self) -> Flags {
        let has = |source: ValueBytes<'_>, flag: Flags| match source {
            ValueBytes::Initial => self.initial_flags().has(flag),
            ValueBytes::None => false,
            ValueBytes::Bytes(_) => true,
        };
        let has_own = has(self.state.vector, Flags::VECTOR);
        let has_vector = match &self.view.other_space {
            Some(other) if other.keeps_own && has_own => true,
            Some(other) => matches!(other.vectors.vector(self.id), Ok(Some(_))),
            None => has_own,
        };
        self.state
            .flags
            .set(Flags::VECTOR, has_vector && !self.is_erased())
            .set(
                Flags::ATTRIBUTES,
                has(self.state.attributes, Flags::ATTRIBUTES),
            )
    }

    fn initial_flags(&self) -> Flags {
        match &self.record {
            EventRecord::Base(r) => r.flags(),
            EventRecord::Delta(n) => n.flags,
        }
    }

    #[inline]
    pub fn is_forgotten(&self) -> bool {
        self.state.flags.has(Flags::FORGOTTEN)
    }

    /// True if its text, vector and attributes are removed; `amem.origin` stays.
    #[inline]
    pub fn is_erased(&self) -> bool {
        self.state.flags.has(Flags::ERASED)
    }

    /// True if an episode summarises it.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.state.flags.has(Flags::COMPRESSED)
    }

    #[inline]
    pub fn confidence(&self) -> f32 {
        self.state.confidence
    }

    /// Decay rate per day; 0 is the type's default.
    #[inline]
    pub fn lambda(&self) -> f32 {
        self.state.lambda
    }

    /// Accesses up to now, whatever the view's moment.
    pub fn access_count(&self) -> u32 {
        self.access(self.view.now.lsn).0
    }

    /// The last access up to now, whatever the view's moment.
    pub fn last_accessed(&self) -> Micros {
        self.access(self.view.now.lsn).1
    }

    fn access(&self, bound: Lsn) -> (u32, Micros) {
        match self
            .slot
            .and_then(|slot| self.view.brain.delta.events.access(slot, bound))
        {
            Some(access) => (access.count, access.last),
            None => match &self.record {
                EventRecord::Base(r) => (r.access_count(), r.last_accessed()),
                EventRecord::Delta(n) => (n.access_count, n.last_accessed),
            },
        }
    }

    /// Strength at the last decay run, or the confidence if that was set since.
    ///
    /// An `as_of` view has no access counts: there it is `strength_at` the moment, without accesses.
    pub fn strength(&self) -> f32 {
        if self.view.is_of_moment() {
            return self.formula(self.view.at.time, self.created_at(), 0, self.rate());
        }
        let delta = &self.view.brain.delta;
        let run = (!delta.decays.is_empty())
            .then(|| self.view.decay_run())
            .flatten();
        match run {
            Some(run) if run.lsn > self.identity_lsn() => self.strength_of(&run),
            _ if self.state.confidence_lsn > Lsn(0) => self.state.confidence,
            _ => match &self.record {
                EventRecord::Base(r) => r.decay_score(),
                EventRecord::Delta(n) => n.decay_score,
            },
        }
    }

    fn identity_lsn(&self) -> Lsn {
        self.view.identity().base_lsn
    }

    /// Strength after a decay run of the delta.
    fn strength_of(&self, run: &DecayRun) -> f32 {
        if self.state.confidence_lsn > run.lsn {
            return self.state.confidence;
        }
        match &self.record {
            EventRecord::Delta(n) if n.lsn > run.lsn => return n.decay_score,
            _ => {}
        }
        // The run used the event's state at that time: later accesses, rates and flags do not count.
        let events = &self.view.brain.delta.events;
        let (confidence, flags, lambda) = match self.slot.and_then(|s| events.state(s, run.lsn)) {
            Some(state) => (state.confidence, state.flags, state.lambda),
            None => match &self.record {
                EventRecord::Base(r) => (r.confidence(), r.flags(), r.lambda()),
                EventRecord::Delta(n) => (n.confidence, n.flags, n.lambda),
            },
        };
        let (count, last) = self.access(run.lsn);
        let rate = if lambda > 0.0 {
            lambda
        } else {
            rate_of(&run.rates, self.event_type())
        };
        decay(
            confidence,
            flags.has(Flags::PINNED),
            rate,
            run.at,
            last,
            count,
        )
    }

    /// Strength at a time, from what is known now, with the brain's rates:
    /// confidence · e^(−λ · days since last access / (1 + log2(1 + accesses))). Pinned events do not fade.
    pub fn strength_at(&self, time: Micros) -> Result<f32> {
        let rates = self.view.settings()?.decay.by_type();
        Ok(self.strength_with(time, &rates))
    }

    /// As `strength_at`, with these rates per day by type instead of the brain's.
    pub fn strength_with(&self, time: Micros, rates: &[f32; 6]) -> f32 {
        let (count, last) = self.access(self.view.now.lsn);
        let rate = if self.state.lambda > 0.0 {
            self.state.lambda
        } else {
            rate_of(rates, self.event_type())
        };
        self.formula(time, last, count, rate)
    }

    /// The rate of the event, or the default of its type: an `as_of` answer must not depend on settings that
    /// came later.
    fn rate(&self) -> f32 {
        if self.state.lambda > 0.0 {
            return self.state.lambda;
        }
        let rates = crate::base::settings::DecayRates::default().by_type();
        rate_of(&rates, self.event_type())
    }

    fn formula(&self, time: Micros, last: Micros, count: u32, rate: f32) -> f32 {
        decay(
            self.state.confidence,
            self.state.flags.has(Flags::PINNED),
            rate,
            time,
            last,
            count,
        )
    }

    /// The text, borrowed unless the base compressed it. Empty if it was erased.
    #[inline]
    pub fn text(&self) -> Result<Cow<'v, str>> {
        if self.is_erased() {
            return Ok(Cow::Borrowed(""));
        }
        match &self.record {
            EventRecord::Base(record) => {
                // Most callers read the vector next: prefetch it.
                self.view.brain.base.expect_vector(self.id);
                let (offset, len) = record.content();
                self.view.brain.base.text_at(offset, len)
            }
            EventRecord::Delta(node) => self.view.brain.span_str(node.text).map(Cow::Borrowed),
        }
    }

    /// The attributes as JSON. An erased event has at most `amem.origin`.
    pub fn attributes_json(&self) -> Result<Option<Cow<'v, str>>> {
        let bytes = match self.state.attributes {
            ValueBytes::None => return Ok(None),
            ValueBytes::Bytes(bytes) => bytes,
            ValueBytes::Initial => match &self.record {
                EventRecord::Base(record) if record.flags().has(Flags::ATTRIBUTES) => {
                    return Ok(self
                        .view
                        .brain
                        .base
                        .attributes()?
                        .get(self.id)?
                        .map(Cow::Borrowed));
                }
                EventRecord::Base(_) => return Ok(None),
                EventRecord::Delta(node) if node.attributes.len == 0 => return Ok(None),
                EventRecord::Delta(node) => self.view.brain.span(node.attributes)?,
            },
        };
        std::str::from_utf8(bytes)
            .map(|json| Some(Cow::Borrowed(json)))
            .map_err(|e| {
                Error::corrupt("attributes", 0, format!("those of event {}: {e}", self.id))
            })
    }

    pub fn attributes(&self) -> Result<Option<Attributes>> {
        match self.attributes_json()? {
            None => Ok(None),
            Some(json) => serde_json::from_str(&json).map(Some).map_err(|e| {
                Error::corrupt("attributes", 0, format!("those of event {}: {e}", self.id))
            }),
        }
    }

    /// The vector, in place.
    #[inline]
    pub fn vector(&self) -> Result<Option<&'v [f32]>> {
        if self.is_erased() {
            return Ok(None);
        }
        if let Some(other) = &self.view.other_space {
            let own = other.keeps_own.then(|| self.own_vector()).transpose()?;
            return match own.flatten() {
                Some(own) => Ok(Some(own)),
                None => other.vectors.vector(self.id),
            };
        }
        self.own_vector()
    }

    /// The vector that the brain has.
    #[inline]
    fn own_vector(&self) -> Result<Option<&'v [f32]>> {
        let vector = match self.state.vector {
            ValueBytes::None => return Ok(None),
            ValueBytes::Bytes(bytes) => bytemuck::try_cast_slice(bytes).map_err(|_| {
                Error::corrupt(
                    "vector",
                    0,
                    format!("that of event {} is not aligned", self.id),
                )
            })?,
            ValueBytes::Initial => match &self.record {
                EventRecord::Base(record) if record.flags().has(Flags::VECTOR) => {
                    self.view.brain.base.vector(self.id)?
                }
                EventRecord::Base(_) => return Ok(None),
                EventRecord::Delta(node) if node.vector.len == 0 => return Ok(None),
                EventRecord::Delta(node) => self.view.brain.span_vector(node.vector)?,
            },
        };
        // No early exit: the compiler vectorises the loop.
        if vector.iter().fold(true, |all, x| all & x.is_finite()) {
            Ok(Some(vector))
        } else {
            Err(Error::corrupt(
                "vector",
                0,
                format!("that of event {} has a number that is not finite", self.id),
            ))
        }
    }

    pub fn to_event(&self) -> Result<Event> {
        Ok(Event {
            id: self.id,
            event_type: self.event_type(),
            flags: self.flags(),
            created_at: self.created_at(),
            event_time: self.event_time()?,
            session: self.session(),
            confidence: self.confidence(),
            access_count: self.access_count(),
            last_accessed: self.last_accessed(),
            decay_score: self.strength(),
            lambda: self.lambda(),
            text: self.text()?.into_owned(),
            vector: self.vector()?.map(<[f32]>::to_vec),
            attributes: self.attributes()?,
        })
    }
}

#[cold]
fn unknown(view: &View, id: NodeId) -> Error {
    let count = view.at.nodes;
    Error::UnknownEvent { id, count }
}
