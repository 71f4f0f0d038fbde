//! A histogram of few buckets that are counted without a lock.
//!
//! A value is counted by two additions to shared numbers. Whoever reads meanwhile may see one of the two: figures are
//! not a ledger, and the next look has both.

use std::sync::atomic::{AtomicU64, Ordering};

/// Microseconds: the upper bounds of the buckets of times.
pub(crate) const TIME_BOUNDS: &[u64] = &[
    25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000, 60_000_000,
];

/// Counts values by size.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Ascending; what is above the last has a bucket of its own.
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// What was counted up to a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The upper bounds of all buckets but the last, inclusive.
    pub(crate) bounds: &'static [u64],
    /// Values in each bucket.
    pub(crate) counts: Vec<u64>,
    /// Of all values.
    pub(crate) sum: u64,
}

impl Buckets {
    /// Of values up to these bounds.
    pub(crate) fn new(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub(crate) fn record(&self, value: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// What was counted so far.
    pub(crate) fn read(&self) -> Counted {
        let counts = self.counts.iter();
        Counted {
            bounds: self.bounds,
            counts: counts.map(|c| c.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl Counted {
    /// Nothing yet.
    pub(crate) fn none(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0,
        }
    }

    /// Adds values that were counted elsewhere.
    pub(crate) fn add(&mut self, value: u64, count: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at] += count;
        self.sum = self.sum.saturating_add(value.saturating_mul(count));
    }

    /// How many.
    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// So many thousandths of the values are at most this: the bound of their bucket, and the last bound for what is
    /// above it. 0 if there are none.
    pub(crate) fn at_most(&self, thousandths: u64) -> u64 {
        let wanted = (self.count() * thousandths).div_ceil(1000);
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted && seen > 0 {
                return self.bounds[at.min(self.bounds.len() - 1)];
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_counted_in_the_first_bucket_that_has_room_for_it() {
        let buckets = Buckets::new(&[1, 10]);
        for value in [0, 1, 2, 10, 11, 1000] {
            buckets.record(value);
        }
        let read = buckets.read();
        assert_eq!(read.counts, [2, 2, 2]);
        assert_eq!((read.sum, read.count()), (1024, 6));
        let mut added = Counted::none(&[1, 10]);
        for (value, count) in [(1, 2), (10, 2), (11, 2)] {
            added.add(value, count);
        }
        assert_eq!(added.counts, read.counts);
        assert_eq!(added.sum, 44);
    }

    #[test]
    fn a_quantile_is_the_bound_of_its_bucket() {
        let buckets = Buckets::new(&[1, 10, 100]);
        assert_eq!(buckets.read().at_most(500), 0);
        for value in [1, 1, 1, 5, 50, 5000] {
            buckets.record(value);
        }
        let read = buckets.read();
        let found = [0, 500, 600, 700, 800, 1000].map(|of| read.at_most(of));
        assert_eq!(found, [1, 1, 10, 100, 100, 100]);
    }
}
