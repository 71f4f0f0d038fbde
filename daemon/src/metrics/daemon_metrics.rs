//! The metrics of the daemon as a whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use amem_engine::Metric;

/// What stood still in this process: calls that blocked, and the runtime as a whole.
pub(crate) static STALLS: Metric = Metric::new();

/// The metrics of the daemon; all clones count together.
#[derive(Debug, Clone)]
pub(crate) struct DaemonMetrics(Arc<DaemonCounts>);

#[derive(Debug)]
struct DaemonCounts {
    started: Instant,
    phase: AtomicU8,
    connections: Metric,
    turned_away: Metric,
    webhook_posts: Metric,
    webhook_posts_failed: Metric,
    webhooks_paused: Metric,
}

/// The phase of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It recovers its brains.
    Starting = 0,
    /// It serves.
    Ready = 1,
    /// It waits for the calls in progress.
    Stopping = 2,
}

impl Default for DaemonMetrics {
    fn default() -> Self {
        Self::new()
    }
}

impl DaemonMetrics {
    pub(crate) fn new() -> Self {
        Self(Arc::new(DaemonCounts {
            started: Instant::now(),
            phase: AtomicU8::new(Phase::Starting as u8),
            connections: Metric::default(),
            turned_away: Metric::default(),
            webhook_posts: Metric::default(),
            webhook_posts_failed: Metric::default(),
            webhooks_paused: Metric::default(),
        }))
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.0.started.elapsed()
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.0.phase.store(phase as u8, Ordering::Release);
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Acquire) {
            0 => Phase::Starting,
            1 => Phase::Ready,
            _ => Phase::Stopping,
        }
    }

    /// Connections that have a slot.
    pub(crate) fn connections(&self) -> &Metric {
        &self.0.connections
    }

    /// Connections that were refused.
    pub(crate) fn turned_away(&self) -> &Metric {
        &self.0.turned_away
    }

    /// Changes that receivers of webhooks accepted.
    pub(crate) fn webhook_posts(&self) -> &Metric {
        &self.0.webhook_posts
    }

    /// Posts of webhooks that failed, each try of its own.
    pub(crate) fn webhook_posts_failed(&self) -> &Metric {
        &self.0.webhook_posts_failed
    }

    /// Webhooks that are sent nothing until an administrator changes them.
    pub(crate) fn webhooks_paused(&self) -> &Metric {
        &self.0.webhooks_paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_is_ready_between_its_start_and_its_end() {
        let metrics = DaemonMetrics::new();
        assert_eq!(metrics.phase(), Phase::Starting);
        for phase in [Phase::Ready, Phase::Stopping] {
            metrics.clone().enter(phase);
            assert_eq!(metrics.phase(), phase);
        }
    }
}
