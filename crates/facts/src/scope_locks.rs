//! Locks of scopes: what is decided about a scope is committed before anyone else decides about it.
//!
//! A scope has one lock for each field that it names, so that overlapping scopes share one. Locks are taken in
//! ascending order: no two callers wait for each other.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};

use amem_format::types::SessionId;
use amem_locks::LockResultExt;
use amem_memory::FactScope;
use xxhash_rust::xxh3::xxh3_64;

use crate::limits::SCOPE_LOCKS;

/// The locks of a brain.
#[derive(Debug)]
pub(crate) struct ScopeLocks {
    stripes: Vec<Mutex<()>>,
}

impl Default for ScopeLocks {
    fn default() -> Self {
        Self {
            stripes: (0..SCOPE_LOCKS).map(|_| Mutex::default()).collect(),
        }
    }
}

impl ScopeLocks {
    /// Holds the locks of scopes until the guards are dropped.
    pub(crate) fn hold<'s>(
        &self,
        scopes: impl Iterator<Item = &'s FactScope>,
    ) -> Vec<MutexGuard<'_, ()>> {
        self.hold_with(scopes, None)
    }

    /// Holds the locks of scopes, and that of a session which their turns are added to.
    pub(crate) fn hold_with<'s>(
        &self,
        scopes: impl Iterator<Item = &'s FactScope>,
        session: Option<SessionId>,
    ) -> Vec<MutexGuard<'_, ()>> {
        let mut places = BTreeSet::new();
        if let Some(session) = session {
            let hash = xxh3_64(format!("session\u{1}{}", session.0).as_bytes());
            places.insert((hash % SCOPE_LOCKS as u64) as usize);
        }
        for scope in scopes {
            for (field, value) in scope.fields() {
                if let Some(value) = value {
                    let hash = xxh3_64(format!("{field}\u{1}{value}").as_bytes());
                    places.insert((hash % SCOPE_LOCKS as u64) as usize);
                }
            }
        }
        let held = places
            .into_iter()
            .map(|at| self.stripes[at].lock().unpoisoned());
        held.collect()
    }
}
