//! A histogram of few buckets, counted without a lock.
//!
//! A value is counted by two additions to shared numbers. A reader may see only one of them: metrics are not a ledger,
//! and the next snapshot has both.

use std::sync::atomic::{AtomicU64, Ordering};

/// Microseconds: the upper bounds of the buckets of times.
pub const TIME_BOUNDS: &[u64] = &[
    25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 10_000_000, 60_000_000,
];

/// Counts values by size.
#[derive(Debug)]
pub struct Histogram {
    /// Ascending; values above the last have a bucket of their own.
    bounds: &'static [u64],
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

/// The counts at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistogramSnapshot {
    /// The upper bounds of all buckets but the last, inclusive.
    pub bounds: &'static [u64],
    /// Values in each bucket.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: u64,
}

impl Histogram {
    /// Empty, with these bounds, ascending.
    pub fn new(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0),
        }
    }

    /// Counts a value.
    pub fn record(&self, value: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at].fetch_add(1, Ordering::Relaxed);
        self.sum.fetch_add(value, Ordering::Relaxed);
    }

    /// The counts so far.
    pub fn read(&self) -> HistogramSnapshot {
        let counts = self.counts.iter();
        HistogramSnapshot {
            bounds: self.bounds,
            counts: counts.map(|c| c.load(Ordering::Relaxed)).collect(),
            sum: self.sum.load(Ordering::Relaxed),
        }
    }
}

impl HistogramSnapshot {
    /// An empty one.
    pub fn empty(bounds: &'static [u64]) -> Self {
        Self {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0,
        }
    }

    /// Adds `count` equal values.
    pub fn add(&mut self, value: u64, count: u64) {
        let at = self.bounds.partition_point(|bound| *bound < value);
        self.counts[at] += count;
        self.sum = self.sum.saturating_add(value.saturating_mul(count));
    }

    /// How many values.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The quantile of `thousandths`, as the upper bound of its bucket; the last bound for values above it. 0 if empty.
    pub fn at_most(&self, thousandths: u64) -> u64 {
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
        let histogram = Histogram::new(&[1, 10]);
        for value in [0, 1, 2, 10, 11, 1000] {
            histogram.record(value);
        }
        let read = histogram.read();
        assert_eq!(read.counts, [2, 2, 2]);
        assert_eq!((read.sum, read.count()), (1024, 6));
        let mut added = HistogramSnapshot::empty(&[1, 10]);
        for (value, count) in [(1, 2), (10, 2), (11, 2)] {
            added.add(value, count);
        }
        assert_eq!(added.counts, read.counts);
        assert_eq!(added.sum, 44);
    }

    #[test]
    fn a_quantile_is_the_bound_of_its_bucket() {
        let histogram = Histogram::new(&[1, 10, 100]);
        assert_eq!(histogram.read().at_most(500), 0);
        for value in [1, 1, 1, 5, 50, 5000] {
            histogram.record(value);
        }
        let read = histogram.read();
        let found = [0, 500, 600, 700, 800, 1000].map(|of| read.at_most(of));
        assert_eq!(found, [1, 1, 10, 100, 100, 100]);
    }
}
