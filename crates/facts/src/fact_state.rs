//! What the calls on one brain share in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::scope_locks::ScopeLocks;
use crate::served_ring::ServedRing;
use crate::users::ScopeTally;

/// Locks, what was served lately, and the counts of scopes of one brain; empty at first, and never more than a cache.
#[derive(Debug, Default)]
pub struct FactState {
    pub(crate) locks: ScopeLocks,
    pub(crate) served: ServedRing,
    pub(crate) tally: Mutex<ScopeTally>,
    /// Held while pending work is tried again.
    retries: Mutex<()>,
}

impl FactState {
    /// Waits until no other call tries pending work again.
    pub(crate) fn hold_retries(&self) -> MutexGuard<'_, ()> {
        self.retries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
