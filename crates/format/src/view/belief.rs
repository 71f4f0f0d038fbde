//! The mutable state of an event as a view sees it: as created, as the journal left it, or as it was at the moment.

use super::snapshot::View;
use crate::base::history::PriorValue;
use crate::base::node::RawNode;
use crate::delta::entry::{self, Slot, StateVersion, ValueRef};
use crate::error::Result;
use crate::types::{Flags, Lsn, NodeId};

/// The record that an event was created with.
#[derive(Debug, Clone, Copy)]
pub(super) enum EventRecord<'v> {
    Base(RawNode<'v>),
    Delta(&'v entry::DeltaEvent),
}

/// The mutable fields of an event.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventState<'v> {
    pub(super) confidence: f32,
    pub(super) confidence_lsn: Lsn,
    pub(super) flags: Flags,
    pub(super) lambda: f32,
    pub(super) attributes: ValueBytes<'v>,
    pub(super) vector: ValueBytes<'v>,
}

/// A variable-length value.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValueBytes<'v> {
    /// That of the record.
    Initial,
    None,
    Bytes(&'v [u8]),
}

impl<'v> EventState<'v> {
    #[inline]
    pub(super) fn initial(made: &EventRecord<'v>) -> Self {
        let (confidence, flags, lambda) = match made {
            EventRecord::Base(r) => (r.confidence(), r.flags(), r.lambda()),
            EventRecord::Delta(n) => (n.confidence, n.flags, n.lambda),
        };
        Self {
            confidence,
            confidence_lsn: Lsn(0),
            flags,
            lambda,
            attributes: ValueBytes::Initial,
            vector: ValueBytes::Initial,
        }
    }

    /// Applies the newest version that the view's moment sees. Forgotten and erased are as of now.
    pub(super) fn with_delta(mut self, view: &'v View, slot: &'v Slot) -> Result<Self> {
        let events = &view.brain.delta.events;
        if let Some(state) = events.state(slot, view.at.lsn) {
            self = Self {
                confidence: state.confidence,
                confidence_lsn: state.confidence_lsn,
                flags: state.flags,
                lambda: state.lambda,
                attributes: value_bytes(view, state.attributes)?,
                vector: value_bytes(view, state.vector)?,
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

    /// Undoes every change to a base event past the moment, for a moment before the base.
    #[cold]
    pub(super) fn with_history_undone(
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
                PriorValue::Confidence(_) => 0,
                PriorValue::Flags(_) => 1,
                PriorValue::Lambda(_) => 2,
                PriorValue::Attributes(_) => 3,
                PriorValue::Vector(_) => 4,
                PriorValue::Edge { .. } => continue,
            };
            if std::mem::replace(&mut undone[field], true) {
                continue;
            }
            match change.before {
                PriorValue::Confidence(value) => self.confidence = value,
                PriorValue::Flags(flags) => self.flags = flags,
                PriorValue::Lambda(value) => self.lambda = value,
                PriorValue::Attributes(json) => {
                    self.attributes =
                        json.map_or(ValueBytes::None, |j| ValueBytes::Bytes(j.as_bytes()));
                }
                PriorValue::Vector(bytes) => {
                    self.vector = bytes.map_or(ValueBytes::None, ValueBytes::Bytes);
                }
                PriorValue::Edge { .. } => {}
            }
        }
        self.hide(now);
        match state {
            Some(state) => self.erase(view, state)?,
            None if now.has(Flags::ERASED) => self.attributes = ValueBytes::Initial,
            None => {}
        }
        Ok(self)
    }

    /// An event erased now has only the attributes that the erase left, whatever it had at the moment.
    fn erase(&mut self, view: &'v View, now: &StateVersion) -> Result<()> {
        if now.flags.has(Flags::ERASED) {
            self.attributes = value_bytes(view, now.attributes)?;
        }
        Ok(())
    }

    /// Takes the forgotten and erased flags of now.
    fn hide(&mut self, now: Flags) {
        for flag in [Flags::FORGOTTEN, Flags::ERASED] {
            self.flags = self.flags.set(flag, now.has(flag));
        }
    }
}

/// The bytes of a value of the delta.
#[inline]
fn value_bytes(view: &View, value: ValueRef) -> Result<ValueBytes<'_>> {
    match value {
        ValueRef::Initial => Ok(ValueBytes::Initial),
        ValueRef::None => Ok(ValueBytes::None),
        ValueRef::At(span) => view.brain.span(span).map(ValueBytes::Bytes),
    }
}
