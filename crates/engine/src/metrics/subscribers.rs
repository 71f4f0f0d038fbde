//! The subscriptions of one brain: how many there are, and how far each has come.
//!
//! The list is locked when a subscription begins or ends and when somebody asks; a subscription that goes on stores one
//! number.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use amem_format::Lsn;

/// The subscriptions of one brain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Followers(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    last: u64,
    at: BTreeMap<u64, Arc<AtomicU64>>,
}

/// A subscription, while it lives.
#[derive(Debug)]
pub(crate) struct Follower {
    followers: Followers,
    number: u64,
    at: Arc<AtomicU64>,
}

impl Followers {
    /// A subscription begins, if there are fewer than so many.
    pub(crate) fn enter(&self, from: Lsn, most: usize) -> Option<Follower> {
        let mut list = self.list();
        if list.at.len() >= most {
            return None;
        }
        list.last += 1;
        let (number, at) = (list.last, Arc::new(AtomicU64::new(from.0)));
        list.at.insert(number, at.clone());
        Some(Follower {
            followers: self.clone(),
            number,
            at,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.list().at.len()).unwrap_or(u32::MAX)
    }

    /// How many commits the slowest has not been sent yet.
    pub(crate) fn behind(&self, newest: Lsn) -> u64 {
        let list = self.list();
        let least = list.at.values().map(|at| at.load(Ordering::Relaxed)).min();
        least.map_or(0, |least| newest.0.saturating_sub(least))
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Follower {
    /// All up to here has been sent.
    pub(crate) fn reached(&self, lsn: Lsn) {
        self.at.store(lsn.0, Ordering::Relaxed);
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.followers.list().at.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_is_told_and_who_has_gone_is_not() {
        let followers = Followers::default();
        assert_eq!(followers.behind(Lsn(9)), 0);
        let slow = followers.enter(Lsn(2), 2).unwrap();
        let fast = followers.enter(Lsn(2), 2).unwrap();
        assert!(followers.enter(Lsn(2), 2).is_none());
        fast.reached(Lsn(9));
        assert_eq!((followers.count(), followers.behind(Lsn(9))), (2, 7));
        drop(slow);
        assert_eq!((followers.count(), followers.behind(Lsn(9))), (1, 0));
        assert!(followers.enter(Lsn(9), 2).is_some());
    }
}
