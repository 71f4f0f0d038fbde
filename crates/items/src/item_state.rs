//! What the calls on the items of one brain share in memory: locks, so that what is decided about an item is committed
//! before anyone else decides about it. Locks are taken in ascending order: no two callers wait for each other.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use amem_locks::LockResultExt;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::ITEM_LOCKS;

/// The locks of a brain.
#[derive(Debug)]
pub struct ItemState {
    stripes: Vec<Mutex<()>>,
}

impl Default for ItemState {
    fn default() -> Self {
        Self {
            stripes: (0..ITEM_LOCKS).map(|_| Mutex::default()).collect(),
        }
    }
}

impl ItemState {
    /// Holds the locks of what these texts name until the guards are dropped.
    pub(crate) fn hold(&self, names: impl Iterator<Item = String>) -> Vec<MutexGuard<'_, ()>> {
        let places: BTreeSet<_> = names
            .map(|name| (xxh3_64(name.as_bytes()) % ITEM_LOCKS as u64) as usize)
            .collect();
        let held = places
            .into_iter()
            .map(|at| self.stripes[at].lock().unpoisoned());
        held.collect()
    }
}
