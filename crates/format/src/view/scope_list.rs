//! The events of a scope, listed once and kept.
//!
//! Statistics of a scope are those of its events alone, and a question needs them before it can score anything. A list
//! stays valid while no event's attributes change and none is erased; later events only extend it.

use std::sync::Arc;

use super::snapshot::View;
use crate::brain::{Brain, ScopeList};
use crate::delta::entry::ValueRef;
use crate::sync::OnceLock;
use crate::types::{Flags, Lsn};

impl View {
    /// The events of a scope at the view's moment. `scope` names it; `members` appends its events among those from an
    /// id on, ascending.
    pub fn scope_list<E>(
        &self,
        scope: &str,
        members: impl FnOnce(u64, &mut Vec<u32>) -> Result<(), E>,
    ) -> Result<Arc<ScopeList>, E> {
        let (lsn, end) = (self.at.lsn, self.at.nodes);
        let cache = &self.brain.scopes;
        // Of the moment, not of now: what changed since is not in the list.
        let states = states_at(&self.brain, lsn);
        let older = cache.newest(scope, |list| self.continues(list, lsn, end));
        if let Some(list) = &older
            && (list.lsn, list.end) == (lsn, end)
        {
            return Ok(list.clone());
        }
        let (mut ids, from) = older.map_or((Vec::new(), 0), |list| (list.ids.clone(), list.end));
        members(from, &mut ids)?;
        let list = Arc::new(ScopeList {
            ids,
            lengths: OnceLock::new(),
            lsn,
            end,
            states,
        });
        cache.put(scope, list.clone());
        Ok(list)
    }

    /// True if a list is that of a moment, or the beginning of it.
    fn continues(&self, list: &ScopeList, lsn: Lsn, end: u64) -> bool {
        let is_same = (list.lsn, list.end) == (lsn, end);
        // Between moments before the base, history changes attributes without a version in the delta.
        let is_before = list.lsn >= self.identity().base_lsn && list.lsn <= lsn && list.end <= end;
        (is_same || is_before) && !has_changed_since(&self.brain, list.states, lsn)
    }
}

/// The state versions up to a moment.
fn states_at(brain: &Brain, lsn: Lsn) -> u32 {
    let all = &brain.delta.events.states;
    all.partition_point(all.len(), |state| state.lsn <= lsn)
}

/// True if, after so many state versions, attributes changed up to a moment, or an event was erased, which holds at
/// every moment.
fn has_changed_since(brain: &Brain, states: u32, lsn: Lsn) -> bool {
    let all = &brain.delta.events.states;
    let is_changed = |at: u32| {
        all.get(at).is_some_and(|state| {
            let is_seen = state.lsn <= lsn && state.attributes != ValueRef::Initial;
            is_seen || state.flags.has(Flags::ERASED)
        })
    };
    (states..all.len()).any(is_changed)
}
