//! What is counted of one brain. It is kept while the brain is closed, so that its counters never go back while the
//! daemon runs, unless the brain is removed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::buckets::{Buckets, TIME_BOUNDS};

/// Requests of a group: the upper bounds of its buckets, up to `GROUP_REQUESTS_MAX`.
const GROUP_BOUNDS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/// What is counted of one brain. Its writer counts; whoever wants to, reads.
#[derive(Debug)]
pub(crate) struct BrainFigures {
    /// Commits, those of the daemon itself included.
    pub(crate) commits: Figure,
    /// Requests that were executed, whatever came of them.
    pub(crate) requests: Figure,
    /// Of them, those that were refused.
    pub(crate) refused: Figure,
    /// Requests of each group.
    pub(crate) groups: Buckets,
    /// Microseconds of the sync of each group that wrote anything.
    pub(crate) syncs: Buckets,
    /// Microseconds that requests waited in the queue.
    pub(crate) waits: Buckets,
    /// Checkpoints that were put in place.
    pub(crate) checkpoints: Figure,
    /// Checkpoints that failed.
    pub(crate) checkpoints_failed: Figure,
    /// Microseconds from the beginning of the last checkpoint until it was in place.
    pub(crate) checkpoint_micros: Figure,
    /// Microseconds that the last checkpoint held commits back.
    pub(crate) stall_micros: Figure,
}

/// A number that others may read while it grows.
#[derive(Debug, Default)]
pub(crate) struct Figure(AtomicU64);

impl Figure {
    /// There are so many more.
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// It is this now.
    pub(crate) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// What it is.
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Default for BrainFigures {
    fn default() -> Self {
        let times = || Buckets::new(TIME_BOUNDS);
        Self {
            commits: Figure::default(),
            requests: Figure::default(),
            refused: Figure::default(),
            groups: Buckets::new(GROUP_BOUNDS),
            syncs: times(),
            waits: times(),
            checkpoints: Figure::default(),
            checkpoints_failed: Figure::default(),
            checkpoint_micros: Figure::default(),
            stall_micros: Figure::default(),
        }
    }
}

impl BrainFigures {
    /// A checkpoint is in place: how long it took in all, and how long commits were held back.
    pub(crate) fn checkpointed(&self, took: Duration, stall: Duration) {
        self.checkpoints.add(1);
        self.checkpoint_micros.set(micros(took));
        self.stall_micros.set(micros(stall));
    }
}

/// Microseconds of a span, for buckets of times.
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
