//! The stamps of a view: when the values that merges brought were changed, and what the journal has changed since.
//!
//! A change made here after a merge counts as later than what it replaced, also under a clock that is behind: its stamp
//! is the time of its commit, or one more than the stamp that it replaces.

use std::collections::{BTreeMap, BTreeSet};

use super::snapshot::View;
use crate::delta::entry::{END, StateVersion};
use crate::delta::log::{SessionSlot, SessionVersion};
use crate::error::{Error, Result};
use crate::limits::TIME_MICROS_MAX;
use crate::stamp::{EventFields, StampTarget};
use crate::types::{Flags, Lsn, Micros};

impl View {
    /// The number of stamps that `change_stamps` may have at most.
    pub fn change_stamps_max(&self) -> Result<u64> {
        let base = self.brain.base.change_stamps()?;
        let of_base = base.map_or(0, |stamps| stamps.len());
        Ok(of_base + u64::from(self.brain.delta.stamps.len()))
    }

    /// The stamps that history and journal do not say, as of the newest commit.
    pub fn change_stamps(&self) -> Result<BTreeMap<StampTarget, Micros>> {
        let mut stamps = BTreeMap::new();
        if let Some(of_base) = self.brain.base.change_stamps()? {
            for stamp in of_base.iter() {
                stamps.extend([stamp?]);
            }
        }
        let brought = self.brain.delta.stamps.iter();
        let brought = brought.take_while(|(lsn, ..)| *lsn <= self.now.lsn);
        let mut changes: Vec<_> = brought.map(|&(lsn, of, at)| (lsn, true, of, at)).collect();
        if stamps.is_empty() && changes.is_empty() {
            return Ok(stamps);
        }
        let new: BTreeSet<StampTarget> = changes.iter().map(|(_, _, of, _)| *of).collect();
        self.changed_since_base(|lsn, of, at| {
            if new.contains(&of) || stamps.contains_key(&of) {
                changes.push((lsn, false, of, at));
            }
            Ok::<_, Error>(())
        })?;
        // In one commit a merge brings the value, then its stamp. The sort is stable.
        changes.sort_by_key(|(lsn, is_brought, ..)| (*lsn, *is_brought));
        for (_, is_brought, of, at) in changes {
            let before = stamps.get(&of).copied();
            match before {
                _ if is_brought => drop(stamps.insert(of, at)),
                Some(before) if before < at => drop(stamps.remove(&of)),
                Some(before) => drop(stamps.insert(of, next(before))),
                None => {}
            }
        }
        let mut error = None;
        stamps.retain(|of, _| match self.is_erased_value(of) {
            Ok(is_erased) => !is_erased,
            Err(e) => {
                error = Some(e);
                true
            }
        });
        error.map_or(Ok(stamps), Err)
    }

    /// True for the attributes and the vector of an erased event; of damage also for what does not exist.
    fn is_erased_value(&self, of: &StampTarget) -> Result<bool> {
        Ok(match *of {
            StampTarget::Field(id, EventFields::ATTRIBUTES | EventFields::VECTOR) => {
                id.0 >= self.nodes() || self.node(id)?.is_erased()
            }
            _ => false,
        })
    }

    /// Calls `each` with what the journal has changed or made, and when: events' fields, edges, sessions. The changes
    /// of one thing ascend.
    pub fn changed_since_base<E: From<Error>>(
        &self,
        mut each: impl FnMut(Lsn, StampTarget, Micros) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let (delta, bound) = (&self.brain.delta, self.now.lsn);
        for state in delta.events.states.iter().take_while(|s| s.lsn <= bound) {
            for field in self.changed_fields(state)?.iter() {
                each(state.lsn, StampTarget::Field(state.node, field), state.time)?;
            }
        }
        let versions = delta.edges.versions.iter();
        for version in versions.take_while(|v| v.lsn <= bound) {
            let Some(slot) = delta.edges.slots.get(version.slot) else {
                continue;
            };
            // The first version of an edge has no history, but for the time that the edge itself has.
            let time = match version.value {
                Some((_, made)) if version.before.is_none() && version.previous == END => made,
                _ => version.time,
            };
            let edge = StampTarget::Edge(slot.source, slot.target, slot.edge_type);
            each(version.lsn, edge, time)?;
        }
        for slot in delta.sessions.slots.iter() {
            for (lsn, time) in self.session_changes(slot) {
                each(lsn, StampTarget::Session(slot.id), time)?;
            }
        }
        Ok(())
    }

    /// The fields that a version of an event's state changes.
    fn changed_fields(&self, state: &StateVersion) -> Result<EventFields> {
        let before = match self.brain.delta.events.states.get(state.previous) {
            Some(before) => *before,
            None => self.brain.initial_state(state.node)?,
        };
        let flag = |flag: Flags| before.flags.has(flag) != state.flags.has(flag);
        let changed = [
            before.attributes != state.attributes,
            before.vector != state.vector,
            before.lambda.to_bits() != state.lambda.to_bits(),
            flag(Flags::PINNED),
            flag(Flags::FORGOTTEN),
        ];
        let each = EventFields::EACH.into_iter().zip(changed);
        Ok(each
            .filter(|(_, is_changed)| *is_changed)
            .fold(EventFields::default(), |all, (field, _)| all.with(field)))
    }

    /// When a session was closed or opened again, ascending.
    fn session_changes(&self, slot: &SessionSlot) -> Vec<(Lsn, Micros)> {
        let all = &self.brain.delta.sessions;
        let mut changes = Vec::new();
        let mut next = all.version(slot, self.now.lsn);
        while let Some(version) = next {
            next = all.versions.get(version.previous);
            let at = change_of_session(version, next);
            changes.extend(at.map(|at| (version.lsn, at)));
        }
        changes.reverse();
        changes
    }
}

/// When a version of a session closes it or opens it again; `None` if it does neither.
fn change_of_session(version: &SessionVersion, before: Option<&SessionVersion>) -> Option<Micros> {
    if version.reopenings > before.map_or(0, |before| before.reopenings) {
        return version.opened.map(|(_, _, at)| at);
    }
    let closed = version.closed.map(|(_, at)| at);
    let known = before.and_then(|before| before.closed).map(|(_, at)| at);
    closed.filter(|_| closed != known)
}

/// The stamp of a change that replaces a value of this stamp, under a clock that is not past it.
fn next(stamp: Micros) -> Micros {
    Micros(stamp.0.saturating_add(1).min(TIME_MICROS_MAX))
}
