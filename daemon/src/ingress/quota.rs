//! What all callers use together, and how much of it one of them may have.
//!
//! Promises: a caller has at most half, and all of them together leave a quarter to those who may administer every
//! brain: whoever fills the daemon can be found and stopped. Those may have all. What was taken comes back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::auth::Caller;
use crate::limits::{CALLER_SHARE_ONE_IN, KEPT_FOR_ADMINS_ONE_IN};

/// How much of one kind is in use.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shares(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    all: u64,
    /// Of that, by callers who may not administer every brain.
    by_others: u64,
    by_caller: HashMap<Arc<str>, u64>,
}

/// What a caller has; it comes back when this is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    shares: Shares,
    principal: Arc<str>,
    is_admin: bool,
    most: u64,
    has: AtomicU64,
}

/// Why there is no more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    /// Everybody together has too much.
    #[error("at most {0}")]
    All(u64),
    /// The rest is for those who may administer every brain.
    #[error("at most {0}, and what is left is for who may administer every brain")]
    Kept(u64),
    /// The caller has too much.
    #[error("at most {most}, of which {principal} has its share")]
    Own {
        /// What everybody together may have.
        most: u64,
        /// Whose share it is.
        principal: Arc<str>,
    },
}

/// A part of what there is, but something.
fn part(most: u64, one_in: u64) -> u64 {
    (most / one_in).max(1).min(most)
}

impl Used {
    /// Adds to what a caller has, unless it would be too much.
    fn add(&mut self, share: &Share, amount: u64) -> Result<(), Full> {
        let most = share.most;
        let own = self.by_caller.get_mut(&share.principal);
        let sum = own.as_deref().copied().unwrap_or(0) + amount;
        if !share.is_admin {
            if sum > part(most, CALLER_SHARE_ONE_IN) {
                let principal = share.principal.clone();
                return Err(Full::Own { most, principal });
            }
            if self.by_others + amount > most - most / KEPT_FOR_ADMINS_ONE_IN {
                return Err(Full::Kept(most));
            }
        }
        if self.all + amount > most {
            return Err(Full::All(most));
        }
        self.all += amount;
        if !share.is_admin {
            self.by_others += amount;
        }
        match own {
            Some(own) => *own = sum,
            None => {
                self.by_caller.insert(share.principal.clone(), sum);
            }
        }
        Ok(())
    }

    fn take_back(&mut self, share: &Share, amount: u64) {
        self.all -= amount;
        if !share.is_admin {
            self.by_others -= amount;
        }
        if let Some(own) = self.by_caller.get_mut(&share.principal) {
            *own -= amount;
            if *own == 0 {
                self.by_caller.remove(&share.principal);
            }
        }
    }
}

impl Shares {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes so much of the most that there may be, for a caller.
    pub(crate) fn take(&self, caller: &Caller, amount: u64, most: u64) -> Result<Share, Full> {
        let share = Share {
            shares: self.clone(),
            principal: caller.principal.as_str().into(),
            is_admin: caller.administers(),
            most,
            has: AtomicU64::new(0),
        };
        share.change(amount)?;
        Ok(share)
    }

    /// How much is in use.
    #[cfg(test)]
    pub(crate) fn all(&self) -> u64 {
        self.used().all
    }
}

impl Share {
    /// Has so much from now on, or as before if that is too much.
    pub(crate) fn change(&self, amount: u64) -> Result<(), Full> {
        let mut used = self.shares.used();
        let has = self.has.load(Ordering::Relaxed);
        match amount.checked_sub(has) {
            Some(more) => used.add(self, more)?,
            None => used.take_back(self, has - amount),
        }
        self.has.store(amount, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let has = *self.has.get_mut();
        self.shares.used().take_back(self, has);
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
        let shares = Shares::default();
        let take = |caller: &Caller, amount| shares.take(caller, amount, 100);
        let [one, other] = ["token:a", "token:b"].map(|who| caller(who, None, Role::Write));
        let of_one_brain = caller("token:c", Some("b"), Role::Admin);
        let admin = caller("uid:1", None, Role::Admin);
        let half = take(&one, 50).unwrap();
        let principal = Arc::from("token:a");
        let own = Full::Own {
            most: 100,
            principal,
        };
        assert_eq!(take(&one, 1).unwrap_err(), own);
        let rest = take(&other, 25).unwrap();
        for who in [&other, &of_one_brain] {
            assert_eq!(take(who, 1).unwrap_err(), Full::Kept(100));
        }
        let kept = take(&admin, 20).unwrap();
        assert_eq!(kept.change(26), Err(Full::All(100)));
        kept.change(25).unwrap();
        // Who uses less leaves more.
        half.change(10).unwrap();
        rest.change(50).unwrap();
        assert_eq!(half.change(51), Err(own));
        half.change(25).unwrap();
        assert_eq!(half.change(26), Err(Full::Kept(100)));
        drop((half, rest, kept));
        let all = take(&admin, 100).unwrap();
        drop(all);
        let used = shares.used();
        let counts = (used.all, used.by_others, used.by_caller.len());
        assert_eq!(counts, (0, 0, 0));
    }

    #[test]
    fn where_there_is_little_everybody_may_have_something() {
        let shares = Shares::default();
        let one = caller("token:a", None, Role::Read);
        for most in 1..5 {
            let first = shares.take(&one, 1, most).unwrap();
            assert_eq!(shares.take(&one, 1, most).is_ok(), most > 3, "{most}");
            drop(first);
        }
        assert!(shares.take(&one, 1, 0).is_err());
    }
}
