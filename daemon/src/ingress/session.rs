//! The state of a connection: whether a caller on it is authorized.
//!
//! A connection is authorized from its first admitted request on, for as long as the configuration in force still
//! accepts the caller of that request. While the configuration does not change, the check is one atomic load.
//! Promises: a connection that lost its slot is never authorized again. Not here: which connection loses its slot
//! (`connection_limit`).

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use amem_locks::LockResultExt;

use crate::control::LiveConfig;

/// The caller of a request.
pub(crate) trait CallerIdentity: Debug + Send + Sync {
    /// True if the configuration in force accepts it.
    fn is_accepted(&self, live: &LiveConfig) -> bool;
}

/// The state of a connection.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    /// The newest `LiveConfig::change` at which the connection was authorized; 0 if it never was, or has lost its slot.
    authorized_at: AtomicU64,
    inner: Mutex<SessionInner>,
}

#[derive(Debug, Default)]
struct SessionInner {
    /// The caller of an admitted request.
    identity: Option<Box<dyn CallerIdentity>>,
    /// The newest `LiveConfig::change` at which that caller was not accepted.
    refused_at: u64,
    is_evicted: bool,
}

impl SessionState {
    fn inner(&self) -> MutexGuard<'_, SessionInner> {
        self.inner.lock().unpoisoned()
    }

    pub(super) fn authorized_at(&self) -> u64 {
        self.authorized_at.load(Ordering::Relaxed)
    }

    /// Records that a request of this caller was admitted.
    pub(crate) fn authorize(
        &self,
        live: &LiveConfig,
        identity: impl FnOnce() -> Box<dyn CallerIdentity>,
    ) {
        if self.authorized_at() >= live.change {
            return;
        }
        let mut inner = self.inner();
        if inner.is_evicted || self.authorized_at() >= live.change {
            return;
        }
        inner.identity = Some(identity());
        inner.refused_at = 0;
        self.authorized_at.store(live.change, Ordering::Relaxed);
    }

    /// True if the connection was authorized under any configuration.
    pub(crate) fn was_authorized(&self) -> bool {
        self.authorized_at() > 0
    }

    /// True if the connection is authorized under this configuration.
    pub(crate) fn is_authorized(&self, live: &LiveConfig) -> bool {
        self.authorized_at() >= live.change || self.check(&mut self.inner(), live)
    }

    fn check(&self, inner: &mut SessionInner, live: &LiveConfig) -> bool {
        if self.authorized_at() >= live.change {
            return true;
        }
        if inner.is_evicted || inner.refused_at >= live.change {
            return false;
        }
        let identity = inner.identity.as_deref();
        let is_accepted = identity.is_some_and(|identity| identity.is_accepted(live));
        if is_accepted {
            self.authorized_at.store(live.change, Ordering::Relaxed);
        } else {
            inner.refused_at = live.change;
        }
        is_accepted
    }

    /// Evicts the connection unless it is authorized; true if it is evicted.
    pub(super) fn evict(&self, live: &LiveConfig) -> bool {
        let mut inner = self.inner();
        if self.check(&mut inner, live) {
            return false;
        }
        self.authorized_at.store(0, Ordering::Relaxed);
        inner.identity = None;
        inner.is_evicted = true;
        true
    }
}
