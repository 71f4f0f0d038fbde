//! The users, agents, apps and runs that have memories, and how many.
//!
//! Of a whole brain they are counted once over all events of fact memory, and from then on over the new ones; of a
//! scope over the events of the scope, at each question.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Mutex;

use amem_format::types::Micros;
use amem_format::view::View;
use amem_locks::LockResultExt;
use amem_memory::FactScope;
use uuid::Uuid;

use crate::error::Result;
use crate::memory_chain::ChainEvent;
use crate::record::path;
use crate::scope_plan::events_of;
use amem_query::planner::events_with;

/// A value of a field of scopes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeCount {
    /// The field, such as `user_id`.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// Current memories.
    pub memories: u64,
    /// When the first memory was stored.
    pub created_at: Micros,
    /// When the newest change was.
    pub updated_at: Micros,
}

/// The counts up to an event of an instance.
#[derive(Debug, Default)]
pub(crate) struct ScopeTally {
    instance: Uuid,
    until: u64,
    counts: BTreeMap<(&'static str, String), (i64, Micros, Micros)>,
    live: HashMap<Uuid, bool>,
}

impl ScopeTally {
    fn advance(&mut self, view: &View) -> Result<()> {
        if self.instance != view.instance() || self.until > view.nodes() {
            *self = Self {
                instance: view.instance(),
                ..Self::default()
            };
        }
        let mut ids = events_with(view, path::FACT_STATE, "version")?;
        ids.extend(events_with(view, path::FACT_STATE, "end")?);
        ids.sort_unstable();
        ids.dedup();
        let from = ids.partition_point(|id| id.0 < self.until);
        for id in &ids[from..] {
            if let Some(event) = ChainEvent::read(&view.node(*id)?)? {
                self.take(&event);
            }
        }
        self.until = view.nodes();
        Ok(())
    }

    /// Counts the memories of a scope. The counts of the whole brain do not serve: those of a user are of all apps.
    fn of_scope(view: &View, scope: &FactScope) -> Result<Self> {
        let mut tally = Self::default();
        for id in events_of(view, scope)? {
            let event = ChainEvent::read(&view.node(id)?)?;
            if let Some(event) = event.filter(|event| scope.covers(&event.scope)) {
                tally.take(&event);
            }
        }
        Ok(tally)
    }

    fn counts(&self) -> Vec<ScopeCount> {
        let counts = self.counts.iter().filter(|(_, (count, ..))| *count > 0);
        let counts = counts.map(|((field, value), (count, created, updated))| ScopeCount {
            field,
            value: value.clone(),
            memories: u64::try_from(*count).unwrap_or_default(),
            created_at: *created,
            updated_at: *updated,
        });
        counts.collect()
    }

    fn take(&mut self, event: &ChainEvent) {
        let was_live = self.live.insert(event.record.id, event.is_version());
        let change = i64::from(event.is_version()) - i64::from(was_live.unwrap_or(false));
        let scope: &FactScope = &event.scope;
        for (field, value) in scope.fields() {
            let Some(value) = value else { continue };
            let at = event.record.at;
            let (count, _, updated) = self
                .counts
                .entry((field, value.to_owned()))
                .or_insert((0, at, at));
            *count += change;
            *updated = (*updated).max(at);
        }
    }
}

/// The users, agents, apps and runs of the memories of a scope, by field and value; those of all memories for an empty
/// scope.
pub(crate) fn users(
    view: &View,
    tally: &Mutex<ScopeTally>,
    within: &FactScope,
) -> Result<Vec<ScopeCount>> {
    if within.fields().any(|(_, own)| own.is_some()) {
        return Ok(ScopeTally::of_scope(view, within)?.counts());
    }
    let mut tally = tally.lock().unpoisoned();
    tally.advance(view)?;
    Ok(tally.counts())
}

/// Forgets the counts: the next question counts all again.
pub(crate) fn reset_counts(tally: &Mutex<ScopeTally>) {
    let mut tally = tally.lock().unpoisoned();
    *tally = ScopeTally::default();
}
