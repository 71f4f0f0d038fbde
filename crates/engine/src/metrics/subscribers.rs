//! The subscriptions of one brain: how many there are, and how far each has come.
//!
//! The list is locked when a subscription begins or ends and when it is read; progress is one atomic store.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use amem_format::Lsn;
use amem_locks::LockResultExt;

/// The subscriptions of one brain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Subscribers(Arc<Mutex<SubscriberList>>);

#[derive(Debug, Default)]
struct SubscriberList {
    last: u64,
    at: BTreeMap<u64, Arc<AtomicU64>>,
}

/// A subscription, while it lives.
#[derive(Debug)]
pub struct Subscription {
    subscribers: Subscribers,
    number: u64,
    at: Arc<AtomicU64>,
}

impl Subscribers {
    /// Begins a subscription, unless there are `most` already.
    pub(crate) fn add(&self, from: Lsn, most: usize) -> Option<Subscription> {
        let mut list = self.list();
        if list.at.len() >= most {
            return None;
        }
        list.last += 1;
        let (number, at) = (list.last, Arc::new(AtomicU64::new(from.0)));
        list.at.insert(number, at.clone());
        Some(Subscription {
            subscribers: self.clone(),
            number,
            at,
        })
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.list().at.len()).unwrap_or(u32::MAX)
    }

    /// How many commits the slowest one is behind `newest`.
    pub(crate) fn behind(&self, newest: Lsn) -> u64 {
        let list = self.list();
        let least = list.at.values().map(|at| at.load(Ordering::Relaxed)).min();
        least.map_or(0, |least| newest.0.saturating_sub(least))
    }

    fn list(&self) -> MutexGuard<'_, SubscriberList> {
        self.0.lock().unpoisoned()
    }
}

impl Subscription {
    /// Notes that all commits up to `lsn` were sent.
    pub fn reached(&self, lsn: Lsn) {
        self.at.store(lsn.0, Ordering::Relaxed);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.subscribers.list().at.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_that_of_the_slowest_subscription_that_lives() {
        let subscribers = Subscribers::default();
        assert_eq!(subscribers.behind(Lsn(9)), 0);
        let slow = subscribers.add(Lsn(2), 2).unwrap();
        let fast = subscribers.add(Lsn(2), 2).unwrap();
        assert!(subscribers.add(Lsn(2), 2).is_none());
        fast.reached(Lsn(9));
        assert_eq!((subscribers.count(), subscribers.behind(Lsn(9))), (2, 7));
        drop(slow);
        assert_eq!((subscribers.count(), subscribers.behind(Lsn(9))), (1, 0));
        assert!(subscribers.add(Lsn(9), 2).is_some());
    }
}
