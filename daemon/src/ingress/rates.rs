//! Rates: how often each key may act within a second.
//!
//! The generic cell rate algorithm (ITU-T I.371): the state of a key is one instant, up to which it has used its rate.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use amem_locks::LockResultExt;

use crate::limits::RATE_KEYS_MAX;

/// An idle key may act at once as often as within this time.
const BURST: Duration = Duration::from_secs(1);

/// The instant up to which each key has used its rate.
#[derive(Debug)]
pub(crate) struct RateLimiter<K>(Mutex<HashMap<K, Instant>>);

impl<K> Default for RateLimiter<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// Counts one action of a key; an error says how long the key has to wait.
    pub(crate) fn take<Q>(&self, key: &Q, per_second: u64, now: Instant) -> Result<(), Duration>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        let interval = BURST / u32::try_from(per_second.max(1)).unwrap_or(u32::MAX);
        let mut used = self.0.lock().unpoisoned();
        let until = used.get(key).map_or(now, |until| (*until).max(now)) + interval;
        let ahead = until - now;
        if ahead > BURST {
            return Err(ahead - BURST);
        }
        match used.get_mut(key) {
            Some(used) => *used = until,
            None => {
                if used.len() >= RATE_KEYS_MAX {
                    // An unused rate is dropped.
                    used.retain(|_, until| *until > now);
                }
                used.insert(key.to_owned(), until);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_may_do_so_many_at_once_and_then_so_many_a_second() {
        let (rates, start) = (RateLimiter::<String>::default(), Instant::now());
        let at = |millis| start + Duration::from_millis(millis);
        for _ in 0..10 {
            rates.take("a", 10, start).unwrap();
        }
        assert_eq!(rates.take("a", 10, start), Err(Duration::from_millis(100)));
        rates.take("b", 10, start).unwrap();
        assert_eq!(rates.take("a", 10, at(60)), Err(Duration::from_millis(40)));
        rates.take("a", 10, at(100)).unwrap();
        rates.take("a", 10, at(101)).unwrap_err();
        // A long wait allows no larger burst.
        let done = (0..30).filter(|_| rates.take("a", 10, at(60_000)).is_ok());
        assert_eq!(done.count(), 10);
    }

    #[test]
    fn those_who_did_nothing_for_a_second_are_forgotten() {
        let (rates, start) = (RateLimiter::<u32>::default(), Instant::now());
        for who in 0..=RATE_KEYS_MAX as u32 {
            rates.take(&who, 1, start).unwrap();
        }
        assert_eq!(rates.0.lock().unwrap().len(), RATE_KEYS_MAX + 1);
        rates.take(&u32::MAX, 1, start + 2 * BURST).unwrap();
        assert_eq!(rates.0.lock().unwrap().len(), 1);
    }
}
