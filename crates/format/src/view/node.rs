//! An event as a view sees it: fields are lent from the mapping.

use std::borrow::Cow;

use super::belief::{Belief, Made, Source};
use super::snapshot::View;
use super::strength::{decay, rate_of};
use crate::base::identity::DecayRun;
use crate::delta::entry::Slot;
use crate::error::{Error, Result};
use crate::event::{Attributes, Event};
use crate::types::{EventType, Flags, Lsn, Micros, NodeId, SessionId};

/// An event of a view.
#[derive(Debug, Clone)]
pub struct Node<'v> {
    view: &'v View,
    id: NodeId,
    made: Made<'v>,
    /// What the journal says about it.
    slot: Option<&'v Slot>,
    belief: Belief<'v>,
}

impl View {
    /// An event of the moment asked about, hidden or not.
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
        let (made, slot) = match id.0.checked_sub(brain.base.nodes()) {
            None => (Made::Base(brain.base.raw(id)?), events.base_slot(id)),
            Some(at) => match events.nodes.get(at as u32) {
                Some(node) => (Made::Delta(node), Some(&node.slot)),
                None => return Err(unknown(view, id)),
            },
        };
        let initial = Belief::initial(&made);
        let belief = if view.before_base() {
            initial.undone(view, id, slot)?
        } else {
            match slot {
                Some(slot) => initial.followed(view, slot)?,
                None => initial,
            }
        };
        Ok(Self {
            view,
            id,
            made,
            slot,
            belief,
        })
    }

    /// Its id.
    #[inline]
    pub fn id(&self) -> NodeId {
        self.id
    }

    /// Its type.
    #[inline]
    pub fn event_type(&self) -> EventType {
        match &self.made {
            Made::Base(r) => r.event_type(),
            Made::Delta(n) => n.event_type,
        }
    }

    /// Its session.
    #[inline]
    pub fn session(&self) -> SessionId {
        match &self.made {
            Made::Base(r) => r.session(),
            Made::Delta(n) => n.session,
        }
    }

    /// Recorded time.
    #[inline]
    pub fn created_at(&self) -> Micros {
        match &self.made {
            Made::Base(r) => r.created_at(),
            Made::Delta(n) => n.created_at,
        }
    }

    /// When it happened, if that was said.
    pub fn event_time(&self) -> Result<Option<Micros>> {
        match &self.made {
            Made::Base(_) => Ok(self.view.brain.base.event_times()?.get(self.id)),
            Made::Delta(n) => Ok(n.event_time),
        }
    }

    /// When it happened; when it was recorded, if that was not said.
    pub fn happened(&self) -> Result<Micros> {
        Ok(self.event_time()?.unwrap_or(self.created_at()))
    }

    /// Its flags: forgotten and erased as of now, the others at the moment asked about.
    #[inline]
    pub fn flags(&self) -> Flags {
        let has = |source: Source<'_>, flag: Flags| match source {
            Source::Initial => self.initial_flags().has(flag),
            Source::None => false,
            Source::Bytes(_) => true,
        };
        let erased = self.is_erased();
        self.belief
            .flags
            .set(
                Flags::VECTOR,
                !erased && has(self.belief.vector, Flags::VECTOR),
            )
            .set(
                Flags::ATTRIBUTES,
                has(self.belief.attributes, Flags::ATTRIBUTES),
            )
    }

    fn initial_flags(&self) -> Flags {
        match &self.made {
            Made::Base(r) => r.flags(),
            Made::Delta(n) => n.flags,
        }
    }

    /// True if it is hidden.
    #[inline]
    pub fn is_forgotten(&self) -> bool {
        self.belief.flags.has(Flags::FORGOTTEN)
    }

    /// True if its text, vector and attributes are gone, but for where it was merged from.
    #[inline]
    pub fn is_erased(&self) -> bool {
        self.belief.flags.has(Flags::ERASED)
    }

    /// True if an episode summarises it.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        self.belief.flags.has(Flags::COMPRESSED)
    }

    /// Effective confidence.
    #[inline]
    pub fn confidence(&self) -> f32 {
        self.belief.confidence
    }

    /// Decay rate per day; 0 is the type's default.
    #[inline]
    pub fn lambda(&self) -> f32 {
        self.belief.lambda
    }

    /// How often it was touched, by now.
    pub fn access_count(&self) -> u32 {
        self.access(self.view.now.lsn).0
    }

    /// When it was last touched, by now.
    pub fn last_accessed(&self) -> Micros {
        self.access(self.view.now.lsn).1
    }

    fn access(&self, bound: Lsn) -> (u32, Micros) {
        match self
            .slot
            .and_then(|slot| self.view.brain.delta.events.access(slot, bound))
        {
            Some(access) => (access.count, access.last),
            None => match &self.made {
                Made::Base(r) => (r.access_count(), r.last_accessed()),
                Made::Delta(n) => (n.access_count, n.last_accessed),
            },
        }
    }

    /// Strength: that of the last decay run, or the confidence where that was set since.
    ///
    /// In an `as_of` view, which no access count reaches, it is `strength_at` that moment without accesses.
    pub fn strength(&self) -> f32 {
        if self.view.is_as_of() {
            return self.formula(self.view.at.time, self.created_at(), 0, self.rate());
        }
        let delta = &self.view.brain.delta;
        let run = (!delta.decays.is_empty())
            .then(|| self.view.decay_run())
            .flatten();
        match run {
            Some(run) if run.lsn > self.identity_lsn() => self.strength_of(&run),
            _ if self.belief.confidence_lsn > Lsn(0) => self.belief.confidence,
            _ => match &self.made {
                Made::Base(r) => r.decay_score(),
                Made::Delta(n) => n.decay_score,
            },
        }
    }

    fn identity_lsn(&self) -> Lsn {
        self.view.identity().base_lsn
    }

    /// Strength after a decay run of the delta.
    fn strength_of(&self, run: &DecayRun) -> f32 {
        if self.belief.confidence_lsn > run.lsn {
            return self.belief.confidence;
        }
        match &self.made {
            Made::Delta(n) if n.lsn > run.lsn => return n.decay_score,
            _ => {}
        }
        // The run saw the event as it was then: accesses, rate and flags that came later don't count.
        let events = &self.view.brain.delta.events;
        let (confidence, flags, lambda) = match self.slot.and_then(|s| events.state(s, run.lsn)) {
            Some(state) => (state.confidence, state.flags, state.lambda),
            None => match &self.made {
                Made::Base(r) => (r.confidence(), r.flags(), r.lambda()),
                Made::Delta(n) => (n.confidence, n.flags, n.lambda),
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
        let rate = if self.belief.lambda > 0.0 {
            self.belief.lambda
        } else {
            rate_of(rates, self.event_type())
        };
        self.formula(time, last, count, rate)
    }

    /// The rate of the event, or the default of its type: an `as_of` answer must not depend on settings that
    /// came later.
    fn rate(&self) -> f32 {
        if self.belief.lambda > 0.0 {
            return self.belief.lambda;
        }
        let rates = crate::base::settings::DecayRates::default().by_type();
        rate_of(&rates, self.event_type())
    }

    fn formula(&self, time: Micros, last: Micros, count: u32, rate: f32) -> f32 {
        decay(
            self.belief.confidence,
            self.belief.flags.has(Flags::PINNED),
            rate,
            time,
            last,
            count,
        )
    }

    /// The text: lent, unless it is compressed. Empty if it was erased.
    #[inline]
    pub fn text(&self) -> Result<Cow<'v, str>> {
        if self.is_erased() {
            return Ok(Cow::Borrowed(""));
        }
        match &self.made {
            Made::Base(record) => {
                // Who reads the text mostly reads the vector next: both are on their way at once.
                self.view.brain.base.expect_vector(self.id);
                let (offset, len) = record.content();
                self.view.brain.base.text_at(offset, len)
            }
            Made::Delta(node) => self.view.brain.span_str(node.text).map(Cow::Borrowed),
        }
    }

    /// The attributes as JSON; of an erased event only where it comes from, if it was merged.
    pub fn attributes_json(&self) -> Result<Option<Cow<'v, str>>> {
        let bytes = match self.belief.attributes {
            Source::None => return Ok(None),
            Source::Bytes(bytes) => bytes,
            Source::Initial => match &self.made {
                Made::Base(record) if record.flags().has(Flags::ATTRIBUTES) => {
                    return Ok(self
                        .view
                        .brain
                        .base
                        .attributes()?
                        .get(self.id)?
                        .map(Cow::Borrowed));
                }
                Made::Base(_) => return Ok(None),
                Made::Delta(node) if node.attributes.len == 0 => return Ok(None),
                Made::Delta(node) => self.view.brain.span(node.attributes)?,
            },
        };
        std::str::from_utf8(bytes)
            .map(|json| Some(Cow::Borrowed(json)))
            .map_err(|e| {
                Error::corrupt("attributes", 0, format!("those of event {}: {e}", self.id))
            })
    }

    /// The attributes.
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
        let vector = match self.belief.vector {
            Source::None => return Ok(None),
            Source::Bytes(bytes) => bytemuck::try_cast_slice(bytes).map_err(|_| {
                Error::corrupt(
                    "vector",
                    0,
                    format!("that of event {} is not aligned", self.id),
                )
            })?,
            Source::Initial => match &self.made {
                Made::Base(record) if record.flags().has(Flags::VECTOR) => {
                    self.view.brain.base.vector(self.id)?
                }
                Made::Base(_) => return Ok(None),
                Made::Delta(node) if node.vector.len == 0 => return Ok(None),
                Made::Delta(node) => self.view.brain.span_vector(node.vector)?,
            },
        };
        // Without a way out in the middle, so that the loop reads several numbers at once.
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

    /// The whole event.
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
