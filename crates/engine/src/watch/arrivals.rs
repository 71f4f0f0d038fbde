//! Files that are not brains, or not yet: when each is checked next.
//!
//! Promises: a file is at rest when its writer has closed it or moved it here, or when it has not changed for a while;
//! a rejected file is checked again only when it has changed.
//! Not here: the check.

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use amem_store::disk::Stamp;

use crate::limits::{SETTLE_AFTER, STAMP_TELLS_AFTER};

/// The names to check.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    names: HashMap<String, Arrival>,
    /// Those with a due time, by that: due names are found without going through the others.
    by_time: BTreeSet<(Instant, String)>,
}

#[derive(Debug)]
struct Arrival {
    /// The file at the last check, and since when it is like that.
    last_stamp: Option<(Stamp, Instant)>,
    /// Its writer has closed it since the last check.
    closed: bool,
    /// When it is checked next; none if only a change matters.
    due: Option<Instant>,
    /// The file that was rejected.
    rejected: Option<Stamp>,
}

/// What to do about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Adopt it: it is at rest; `closed`: its writer was seen to close it.
    Take { closed: bool },
    /// Wait: it may still be written.
    Wait,
    /// Nothing: it is what was rejected.
    Rejected,
}

impl Arrivals {
    /// Has a name checked at a time, or earlier if it is due earlier.
    pub(super) fn check_at(&mut self, name: &str, closed: bool, at: Instant) {
        let arrival = self.names.entry(name.to_owned()).or_insert(Arrival {
            last_stamp: None,
            closed: false,
            due: None,
            rejected: None,
        });
        arrival.closed |= closed;
        let due = arrival.due.map_or(at, |due| due.min(at));
        self.set_due(name, Some(due));
    }

    fn set_due(&mut self, name: &str, at: Option<Instant>) {
        let Some(arrival) = self.names.get_mut(name) else {
            return;
        };
        let before = std::mem::replace(&mut arrival.due, at);
        if before == at {
            return;
        }
        if let Some(before) = before {
            self.by_time.remove(&(before, name.to_owned()));
        }
        if let Some(at) = at {
            self.by_time.insert((at, name.to_owned()));
        }
    }

    /// How many have a due time.
    pub(super) fn waiting(&self) -> usize {
        self.by_time.len()
    }

    /// When the next name is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// Takes at most `most` names that are due, the longest overdue first.
    pub(super) fn due(&mut self, now: Instant, most: usize) -> Vec<String> {
        let due = self.by_time.iter().take(most);
        let due = due.take_while(|(at, _)| *at <= now);
        let names: Vec<_> = due.map(|(_, name)| name.clone()).collect();
        for name in &names {
            self.set_due(name, None);
        }
        names
    }

    /// Judges a file that was found under a name; `age`: since it was written.
    pub(super) fn found(
        &mut self,
        name: &str,
        stamp: Stamp,
        age: Option<Duration>,
        now: Instant,
    ) -> Verdict {
        let Some(arrival) = self.names.get_mut(name) else {
            return Verdict::Rejected;
        };
        if arrival.rejected == Some(stamp) {
            arrival.closed = false;
            return Verdict::Rejected;
        }
        let since = match arrival.last_stamp {
            Some((before, since)) if before == stamp => since,
            _ => now,
        };
        arrival.last_stamp = Some((stamp, since));
        if age.is_some_and(|age| age < STAMP_TELLS_AFTER) {
            self.set_due(name, Some(now + STAMP_TELLS_AFTER));
            return Verdict::Wait;
        }
        let rests =
            now.duration_since(since) >= SETTLE_AFTER || age.is_some_and(|age| age >= SETTLE_AFTER);
        if arrival.closed || rests {
            let closed = std::mem::take(&mut arrival.closed);
            return Verdict::Take { closed };
        }
        self.set_due(name, Some(now + SETTLE_AFTER));
        Verdict::Wait
    }

    /// Notes a rejected file: nothing is done before it changes.
    pub(super) fn reject(&mut self, name: &str, stamp: Stamp) {
        if let Some(arrival) = self.names.get_mut(name) {
            arrival.rejected = Some(stamp);
        }
    }

    /// Drops a name.
    pub(super) fn forget(&mut self, name: &str) {
        self.set_due(name, None);
        self.names.remove(name);
    }

    /// All names.
    pub(super) fn names(&self) -> Vec<String> {
        self.names.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_store::disk::FileId;

    fn stamp(modified: u64) -> Stamp {
        let id = FileId {
            device: 1,
            inode: 2,
            born: 3,
        };
        Stamp {
            id,
            bytes: 10,
            modified,
        }
    }

    #[test]
    fn a_file_is_taken_when_it_was_closed_or_has_not_changed_for_a_while() {
        let (mut arrivals, start) = (Arrivals::default(), Instant::now());
        arrivals.check_at("a", false, start);
        assert_eq!(arrivals.due(start, 10), ["a"]);
        assert!(arrivals.due(start, 10).is_empty());
        let mut found = |modified, after| arrivals.found("a", stamp(modified), None, start + after);
        let closed = false;
        assert_eq!(found(1, SETTLE_AFTER / 2), Verdict::Wait);
        // It grows: the wait begins again.
        assert_eq!(found(2, SETTLE_AFTER), Verdict::Wait);
        assert_eq!(found(2, SETTLE_AFTER * 3 / 2), Verdict::Wait);
        assert_eq!(found(2, SETTLE_AFTER * 2), Verdict::Take { closed });
        assert!(arrivals.next().is_some());
        // A clock tells of the time before.
        let old = Some(SETTLE_AFTER);
        arrivals.check_at("b", false, start);
        assert_eq!(
            arrivals.found("b", stamp(1), old, start),
            Verdict::Take { closed }
        );
        arrivals.check_at("c", true, start);
        let closed = true;
        assert_eq!(
            arrivals.found("c", stamp(1), None, start),
            Verdict::Take { closed }
        );
    }

    #[test]
    fn a_file_that_was_written_in_this_moment_is_looked_at_in_the_next() {
        let (mut arrivals, now) = (Arrivals::default(), Instant::now());
        arrivals.check_at("a", true, now);
        assert_eq!(arrivals.due(now, 10), ["a"]);
        let age = STAMP_TELLS_AFTER / 2;
        let young = arrivals.found("a", stamp(1), Some(age), now);
        assert_eq!(young, Verdict::Wait);
        let next = now + STAMP_TELLS_AFTER;
        assert_eq!(arrivals.next(), Some(next));
        // That its writer has closed it is not forgotten.
        assert_eq!(
            arrivals.found("a", stamp(1), Some(age + STAMP_TELLS_AFTER), next),
            Verdict::Take { closed: true }
        );
    }

    #[test]
    fn what_was_refused_is_looked_at_again_when_it_has_changed() {
        let (mut arrivals, now) = (Arrivals::default(), Instant::now());
        arrivals.check_at("a", true, now);
        arrivals.reject("a", stamp(1));
        assert_eq!(arrivals.found("a", stamp(1), None, now), Verdict::Rejected);
        arrivals.check_at("a", true, now);
        assert_eq!(
            arrivals.found("a", stamp(2), None, now),
            Verdict::Take { closed: true }
        );
        arrivals.forget("a");
        assert!(arrivals.names().is_empty());
    }

    #[test]
    fn of_many_names_the_longest_overdue_are_looked_at_first() {
        let (mut arrivals, now) = (Arrivals::default(), Instant::now());
        for at in 0..10u64 {
            let due = now - Duration::from_secs(10 - at);
            arrivals.check_at(&at.to_string(), false, due);
        }
        assert_eq!(arrivals.due(now, 3), ["0", "1", "2"]);
        assert_eq!(arrivals.next(), Some(now - Duration::from_secs(7)));
        // What is put forward is due once, and what is forgotten is not.
        arrivals.check_at("9", false, now - Duration::from_secs(20));
        arrivals.forget("3");
        assert_eq!(arrivals.waiting(), 6);
        assert_eq!(arrivals.due(now, 3), ["9", "4", "5"]);
        assert_eq!(arrivals.due(now, 10), ["6", "7", "8"]);
        assert_eq!((arrivals.waiting(), arrivals.next()), (0, None));
    }

    #[test]
    fn each_of_a_hundred_thousand_is_found_without_looking_at_all_the_others() {
        let (mut arrivals, now) = (Arrivals::default(), Instant::now());
        for name in 0..100_000 {
            arrivals.check_at(&name.to_string(), false, now);
        }
        let began = Instant::now();
        for _ in 0..20_000 {
            assert_eq!(arrivals.due(now, 1).len(), 1);
        }
        // With a look at all for each it takes minutes.
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{:?}",
            began.elapsed()
        );
    }
}
