//! The metrics of one brain. They outlive its closing, so that counters never go back until the brain is removed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::histogram::{Histogram, TIME_BOUNDS};

/// Requests of a group: the upper bounds of its buckets, up to `GROUP_REQUESTS_MAX`.
const GROUP_BOUNDS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// The metrics of one brain: its writer counts, anyone may read.
#[derive(Debug)]
pub struct BrainMetrics {
    /// Commits, those of the daemon itself included.
    pub commits: Metric,
    /// Requests that the writer executed, refused ones included.
    pub requests: Metric,
    /// Requests that the writer refused.
    pub refused: Metric,
    /// Requests of each group.
    pub groups: Histogram,
    /// Microseconds of the sync of each group that wrote anything.
    pub syncs: Histogram,
    /// Microseconds that requests waited in the queue.
    pub waits: Histogram,
    /// Checkpoints that were put in place.
    pub checkpoints: Metric,
    /// Checkpoints that failed.
    pub checkpoints_failed: Metric,
    /// Microseconds from the beginning of the last checkpoint until it was in place.
    pub checkpoint_micros: Metric,
    /// Microseconds that the last checkpoint held commits back.
    pub stall_micros: Metric,
}

/// A number that is read while it changes.
#[derive(Debug, Default)]
pub struct Metric(AtomicU64);

impl Metric {
    /// A count of nothing.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// Sets it.
    pub fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Its value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for BrainMetrics {
    fn default() -> Self {
        let times = || Histogram::new(TIME_BOUNDS);
        Self {
            commits: Metric::default(),
            requests: Metric::default(),
            refused: Metric::default(),
            groups: Histogram::new(GROUP_BOUNDS),
            syncs: times(),
            waits: times(),
            checkpoints: Metric::default(),
            checkpoints_failed: Metric::default(),
            checkpoint_micros: Metric::default(),
            stall_micros: Metric::default(),
        }
    }
}

impl BrainMetrics {
    /// Counts a checkpoint: how long it took in all, and how long it held commits back.
    pub(crate) fn checkpointed(&self, took: Duration, stall: Duration) {
        self.checkpoints.add(1);
        self.checkpoint_micros.set(micros(took));
        self.stall_micros.set(micros(stall));
    }
}

/// Microseconds of a span, for histograms of times.
pub(crate) fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::GROUP_REQUESTS_MAX;

    #[test]
    fn the_largest_group_has_a_bucket() {
        assert_eq!(GROUP_BOUNDS.last(), Some(&(GROUP_REQUESTS_MAX as u64)));
    }
}
