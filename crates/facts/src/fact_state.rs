//! What the calls on one brain share in memory.

use std::sync::{Arc, Mutex, MutexGuard};

use amem_locks::LockResultExt;

use crate::entity::{Entity, EntityCache, TallyKey};
use crate::scope_locks::ScopeLocks;
use crate::served_ring::ServedRing;
use crate::users::ScopeTally;

/// Locks, what was served lately, and the counts of scopes of one brain; empty at first, and never more than a cache.
#[derive(Debug, Default)]
pub struct FactState {
    pub(crate) locks: ScopeLocks,
    pub(crate) served: ServedRing,
    pub(crate) tally: Mutex<ScopeTally>,
    /// The entities that a page was asked of last.
    entities: Mutex<EntityCache>,
    /// Held while pending work is tried again.
    retries: Mutex<()>,
    /// Held while earlier turns are read for standing instructions.
    standing: Mutex<()>,
}

impl FactState {
    /// The entities that were counted last, if it was for this.
    pub(crate) fn entities_at(&self, key: &TallyKey) -> Option<Arc<Vec<Entity>>> {
        let kept = self.entities.lock().unpoisoned();
        let (known, entities) = kept.as_ref()?;
        (known == key).then(|| entities.clone())
    }

    /// Keeps entities for the next page.
    pub(crate) fn keep_entities(&self, key: TallyKey, entities: Arc<Vec<Entity>>) {
        let mut kept = self.entities.lock().unpoisoned();
        *kept = Some((key, entities));
    }

    /// Waits until no other call tries pending work again.
    pub(crate) fn hold_retries(&self) -> MutexGuard<'_, ()> {
        self.retries.lock().unpoisoned()
    }

    /// Waits until no other call reads earlier turns.
    pub(crate) fn hold_standing(&self) -> MutexGuard<'_, ()> {
        self.standing.lock().unpoisoned()
    }
}
