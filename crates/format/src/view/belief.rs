//! What may change about an event, and what a view sees of it: as created, as the journal left it, or as it was.

use super::snapshot::View;
use crate::base::history::Before;
use crate::base::node::Raw;
use crate::delta::entry::{self, Held, Slot, State};
use crate::error::Result;
use crate::types::{Flags, Lsn, NodeId};

/// Where an event was created.
#[derive(Debug, Clone, Copy)]
pub(super) enum Made<'v> {
    Base(Raw<'v>),
    Delta(&'v entry::Node),
}

/// What may change about an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Belief<'v> {
    pub(super) confidence: f32,
    pub(super) confidence_lsn: Lsn,
    pub(super) flags: Flags,
    pub(super) lambda: f32,
    pub(super) attributes: Source<'v>,
    pub(super) vector: Source<'v>,
}

/// Where a value is.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source<'v> {
    Initial,
    None,
    Bytes(&'v [u8]),
}

impl<'v> Belief<'v> {
    /// As the event was created.
    #[inline]
    pub(super) fn initial(made: &Made<'v>) -> Self {
        let (confidence, flags, lambda) = match made {
            Made::Base(r) => (r.confidence(), r.flags(), r.lambda()),
            Made::Delta(n) => (n.confidence, n.flags, n.lambda),
        };
        Self {
            confidence,
            confidence_lsn: Lsn(0),
            flags,
            lambda,
            attributes: Source::Initial,
            vector: Source::Initial,
        }
    }

    /// The newest state that the moment asked about may see; what hides is that of now.
    pub(super) fn followed(mut self, view: &'v View, slot: &'v Slot) -> Result<Self> {
        let events = &view.brain.delta.events;
        if let Some(state) = events.state(slot, view.at.lsn) {
            self = Self {
                confidence: state.confidence,
                confidence_lsn: state.confidence_lsn,
                flags: state.flags,
                lambda: state.lambda,
                attributes: source(view, state.attributes)?,
                vector: source(view, state.vector)?,
            };
        }
        if view.is_as_of()
            && let Some(now) = events.state(slot, view.now.lsn)
        {
            self.hide(now.flags);
            self.erase(view, now)?;
        }
        Ok(self)
    }

    /// A base event before the base's time: every change past the moment is undone, the oldest last.
    #[cold]
    pub(super) fn undone(
        mut self,
        view: &'v View,
        id: NodeId,
        slot: Option<&Slot>,
    ) -> Result<Self> {
        let history = view.brain.base.history()?;
        let state = slot.and_then(|slot| view.brain.delta.events.state(slot, view.now.lsn));
        let now = state.map_or(self.flags, |state| state.flags);
        let mut undone = [false; 5];
        for change in history.of(id) {
            let change = change?;
            if change.lsn <= view.at.lsn || change.target != id {
                continue;
            }
            let field = match change.before {
                Before::Confidence(_) => 0,
                Before::Flags(_) => 1,
                Before::Lambda(_) => 2,
                Before::Attributes(_) => 3,
                Before::Vector(_) => 4,
                Before::Edge { .. } => continue,
            };
            if std::mem::replace(&mut undone[field], true) {
                continue;
            }
            match change.before {
                Before::Confidence(value) => self.confidence = value,
                Before::Flags(flags) => self.flags = flags,
                Before::Lambda(value) => self.lambda = value,
                Before::Attributes(json) => {
                    self.attributes = json.map_or(Source::None, |j| Source::Bytes(j.as_bytes()));
                }
                Before::Vector(bytes) => {
                    self.vector = bytes.map_or(Source::None, Source::Bytes);
                }
                Before::Edge { .. } => {}
            }
        }
        self.hide(now);
        match state {
            Some(state) => self.erase(view, state)?,
            None if now.has(Flags::ERASED) => self.attributes = Source::Initial,
            None => {}
        }
        Ok(self)
    }

    /// An event that is erased now has the attributes that are left of it, whatever it had at the moment.
    fn erase(&mut self, view: &'v View, now: &State) -> Result<()> {
        if now.flags.has(Flags::ERASED) {
            self.attributes = source(view, now.attributes)?;
        }
        Ok(())
    }

    /// Forgotten and erased are as of now, whatever the moment.
    fn hide(&mut self, now: Flags) {
        for flag in [Flags::FORGOTTEN, Flags::ERASED] {
            self.flags = self.flags.set(flag, now.has(flag));
        }
    }
}

/// Where a value of the delta is.
#[inline]
fn source(view: &View, held: Held) -> Result<Source<'_>> {
    match held {
        Held::Initial => Ok(Source::Initial),
        Held::None => Ok(Source::None),
        Held::At(span) => view.brain.span(span).map(Source::Bytes),
    }
}
