//! Quotas: how much of a shared resource each caller may hold.
//!
//! Promises: a caller holds at most half, and all callers together leave a quarter to administrators of every brain, so
//! that an administrator can always stop a caller that fills the daemon. Administrators may hold all. Of what a caller
//! may hold, each of its processes (by TCP: connections) that took something lately has an equal part, and one that is
//! alone leaves an eighth to the next. A dropped lease returns what it held.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use amem_locks::LockResultExt;
use tokio::sync::Notify;

use crate::auth::Caller;
use crate::limits::{
    CALLER_SHARE_ONE_IN, RESERVED_FOR_ADMINS_ONE_IN, SOURCE_ACTIVE_FOR, SOURCE_RESERVE_ONE_IN,
    SOURCES_MAX,
};

/// A shared resource; all clones count together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quota(Arc<QuotaState>);

#[derive(Debug, Default)]
struct QuotaState {
    used: Mutex<QuotaUse>,
    /// Notified when something is returned.
    returned: Notify,
}

#[derive(Debug, Default)]
struct QuotaUse {
    all: u64,
    /// Of `all`, by callers that do not administer every brain.
    by_others: u64,
    by_caller: HashMap<Arc<str>, CallerUse>,
}

/// What one caller holds, and by which of its processes.
#[derive(Debug, Default)]
struct CallerUse {
    held: u64,
    sources: HashMap<u64, SourceUse>,
}

#[derive(Debug)]
struct SourceUse {
    held: u64,
    /// When it last took something, or was refused.
    seen: Instant,
}

impl CallerUse {
    /// True if nothing is held, and no process waits for its part.
    fn is_unused(&self) -> bool {
        self.held == 0 && self.sources.is_empty()
    }

    /// What one of the sources may hold of the caller's share. A new one counts from its first attempt.
    fn source_max(&mut self, source: u64, share: u64, now: Instant) -> u64 {
        let is_active = |it: &SourceUse| it.held > 0 || now < it.seen + SOURCE_ACTIVE_FOR;
        self.sources.retain(|_, it| is_active(it));
        if self.sources.len() < SOURCES_MAX {
            let seen = |it: &mut SourceUse| it.seen = now;
            let new = SourceUse { held: 0, seen: now };
            self.sources.entry(source).and_modify(seen).or_insert(new);
        }
        let alone = share - share / SOURCE_RESERVE_ONE_IN;
        let equal = (share / self.sources.len().max(1) as u64).max(1);
        alone.min(equal)
    }
}

/// What one caller holds.
#[derive(Debug)]
pub(crate) struct QuotaLease {
    quota: Quota,
    principal: Arc<str>,
    source: Option<u64>,
    is_admin: bool,
    max: u64,
    held: AtomicU64,
}

/// Why a quota refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum QuotaRefusal {
    /// All callers together would hold too much.
    #[error("at most {0}")]
    All(u64),
    /// The rest is reserved for administrators.
    #[error("at most {0}, and the rest is reserved for callers that may administer every brain")]
    Reserved(u64),
    /// The caller would hold more than its share.
    #[error("at most {max}, and {principal} holds its share")]
    Own { max: u64, principal: Arc<str> },
    /// A process or connection would hold more than its part of the caller's share.
    #[error("at most {max}, and this process holds its part of what {principal} may")]
    Source { max: u64, principal: Arc<str> },
}

/// One part in `one_in`, and at least one if there is any.
fn part(max: u64, one_in: u64) -> u64 {
    (max / one_in).max(1).min(max)
}

impl QuotaUse {
    fn add(&mut self, lease: &QuotaLease, amount: u64) -> Result<(), QuotaRefusal> {
        let added = self.try_add(lease, amount);
        if let Err(_) = &added
            && self
                .by_caller
                .get(&lease.principal)
                .is_some_and(CallerUse::is_unused)
        {
            self.by_caller.remove(&lease.principal);
        }
        added
    }

    fn try_add(&mut self, lease: &QuotaLease, amount: u64) -> Result<(), QuotaRefusal> {
        let max = lease.max;
        let share = match lease.is_admin {
            true => max,
            false => part(max, CALLER_SHARE_ONE_IN),
        };
        let own = match self.by_caller.get_mut(&lease.principal) {
            Some(own) => own,
            None => self.by_caller.entry(lease.principal.clone()).or_default(),
        };
        let principal = || lease.principal.clone();
        let sum = own.held + amount;
        let now = Instant::now();
        let source = lease.source.map(|it| (it, own.source_max(it, share, now)));
        if !lease.is_admin && sum > share {
            let principal = principal();
            return Err(QuotaRefusal::Own { max, principal });
        }
        if let Some((source, most)) = source {
            let held = own.sources.get(&source).map_or(0, |it| it.held);
            if amount > 0 && held + amount > most {
                let principal = principal();
                return Err(QuotaRefusal::Source { max, principal });
            }
        }
        if !lease.is_admin && self.by_others + amount > max - max / RESERVED_FOR_ADMINS_ONE_IN {
            return Err(QuotaRefusal::Reserved(max));
        }
        if self.all + amount > max {
            return Err(QuotaRefusal::All(max));
        }
        self.all += amount;
        if !lease.is_admin {
            self.by_others += amount;
        }
        own.held = sum;
        let source = lease.source.and_then(|it| own.sources.get_mut(&it));
        if let Some(source) = source {
            source.held += amount;
        }
        Ok(())
    }

    fn release(&mut self, lease: &QuotaLease, amount: u64) {
        self.all -= amount;
        if !lease.is_admin {
            self.by_others -= amount;
        }
        if let Some(own) = self.by_caller.get_mut(&lease.principal) {
            own.held -= amount;
            let source = lease.source.and_then(|it| own.sources.get_mut(&it));
            if let Some(source) = source {
                // One beyond `SOURCES_MAX` was not counted.
                source.held = source.held.saturating_sub(amount);
            }
            if own.held == 0 {
                self.by_caller.remove(&lease.principal);
            }
        }
    }
}

impl Quota {
    fn used(&self) -> MutexGuard<'_, QuotaUse> {
        self.0.used.lock().unpoisoned()
    }

    /// Leases `amount` to a caller, of `max` in all.
    pub(crate) fn take(
        &self,
        caller: &Caller,
        amount: u64,
        max: u64,
    ) -> Result<QuotaLease, QuotaRefusal> {
        let lease = QuotaLease {
            quota: self.clone(),
            principal: caller.principal.as_str().into(),
            source: caller.source,
            is_admin: caller.administers(),
            max,
            held: AtomicU64::new(0),
        };
        lease.change(amount)?;
        Ok(lease)
    }

    /// Leases `amount` once there is room for it.
    pub(crate) async fn wait(&self, caller: &Caller, amount: u64, max: u64) -> QuotaLease {
        loop {
            let mut returned = pin!(self.0.returned.notified());
            // From here on nothing that is returned is missed.
            returned.as_mut().enable();
            if let Ok(lease) = self.take(caller, amount, max) {
                return lease;
            }
            returned.await;
        }
    }

    #[cfg(test)]
    pub(crate) fn all(&self) -> u64 {
        self.used().all
    }
}

impl QuotaLease {
    /// Changes what the lease holds; on an error it holds what it held.
    pub(crate) fn change(&self, amount: u64) -> Result<(), QuotaRefusal> {
        let mut used = self.quota.used();
        let held = self.held.load(Ordering::Relaxed);
        match amount.checked_sub(held) {
            Some(more) => used.add(self, more)?,
            None => used.release(self, held - amount),
        }
        self.held.store(amount, Ordering::Relaxed);
        drop(used);
        if amount < held {
            self.quota.0.returned.notify_waiters();
        }
        Ok(())
    }
}

impl Drop for QuotaLease {
    fn drop(&mut self) {
        let held = *self.held.get_mut();
        self.quota.used().release(self, held);
        if held > 0 {
            self.quota.0.returned.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{Rights, Role};

    fn caller(principal: &str, brain: Option<&str>, role: Role) -> Caller {
        let mut rights = Rights::default();
        rights.add(brain, role);
        Caller::new(principal.into(), rights)
    }

    #[test]
    fn a_caller_has_half_all_leave_a_quarter_and_an_administrator_may_have_that() {
        let quota = Quota::default();
        let take = |caller: &Caller, amount| quota.take(caller, amount, 100);
        let [one, other] = ["token:a", "token:b"].map(|who| caller(who, None, Role::Write));
        let of_one_brain = caller("token:c", Some("b"), Role::Admin);
        let admin = caller("uid:1", None, Role::Admin);
        let half = take(&one, 50).unwrap();
        let principal = Arc::from("token:a");
        let own = QuotaRefusal::Own {
            max: 100,
            principal,
        };
        assert_eq!(take(&one, 1).unwrap_err(), own);
        let rest = take(&other, 25).unwrap();
        for who in [&other, &of_one_brain] {
            assert_eq!(take(who, 1).unwrap_err(), QuotaRefusal::Reserved(100));
        }
        let rest_of_all = take(&admin, 20).unwrap();
        assert_eq!(rest_of_all.change(26), Err(QuotaRefusal::All(100)));
        rest_of_all.change(25).unwrap();
        // A caller that holds less leaves more.
        half.change(10).unwrap();
        rest.change(50).unwrap();
        assert_eq!(half.change(51), Err(own));
        half.change(25).unwrap();
        assert_eq!(half.change(26), Err(QuotaRefusal::Reserved(100)));
        drop((half, rest, rest_of_all));
        let all = take(&admin, 100).unwrap();
        drop(all);
        let used = quota.used();
        let counts = (used.all, used.by_others, used.by_caller.len());
        assert_eq!(counts, (0, 0, 0));
    }

    #[test]
    fn processes_of_one_caller_share_what_it_may_hold() {
        let quota = Quota::default();
        let of = |source| Caller {
            source: Some(source),
            ..caller("uid:1", None, Role::Admin)
        };
        let take = |source, amount| quota.take(&of(source), amount, 80);
        // One alone leaves an eighth, which the next has at once.
        let hog: Vec<_> = (0..70).map(|_| take(1, 1).unwrap()).collect();
        assert!(matches!(
            take(1, 1),
            Err(QuotaRefusal::Source { max: 80, .. })
        ));
        let second = take(2, 10).unwrap();
        assert!(take(2, 1).is_err(), "there is no more");
        // As the first returns what it had, it gets no more than half.
        drop(hog);
        let half = take(1, 40).unwrap();
        assert!(matches!(take(1, 1), Err(QuotaRefusal::Source { .. })));
        second.change(40).unwrap();
        // A third is refused, and the others make room for it from then on.
        assert!(matches!(take(3, 1), Err(QuotaRefusal::All(80))));
        half.change(20).unwrap();
        assert!(half.change(27).is_err());
        let third = take(3, 20).unwrap();
        drop((half, second, third));
        assert_eq!(quota.all(), 0);
        assert!(quota.used().by_caller.is_empty());
    }

    #[test]
    fn where_there_is_little_everybody_may_have_something() {
        let quota = Quota::default();
        let one = caller("token:a", None, Role::Read);
        for max in 1..5 {
            let first = quota.take(&one, 1, max).unwrap();
            assert_eq!(quota.take(&one, 1, max).is_ok(), max > 3, "{max}");
            drop(first);
        }
        assert!(quota.take(&one, 1, 0).is_err());
    }
}
