//! What is counted of the daemon as a whole, and the figures of its brains by name.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::brain::{BrainFigures, Figure};

/// What is counted of the daemon. All clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Figures(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    started: Instant,
    phase: AtomicU8,
    brains: Mutex<HashMap<String, Arc<BrainFigures>>>,
    connections: Figure,
    turned_away: Figure,
    files_waiting: Figure,
}

/// What the daemon is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It recovers its brains.
    Starting = 0,
    /// It serves.
    Ready = 1,
    /// It ends the calls that are under way.
    Stopping = 2,
}

impl Default for Figures {
    fn default() -> Self {
        Self::new()
    }
}

impl Figures {
    /// Of a daemon that starts now.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            started: Instant::now(),
            phase: AtomicU8::new(Phase::Starting as u8),
            brains: Mutex::default(),
            connections: Figure::default(),
            turned_away: Figure::default(),
            files_waiting: Figure::default(),
        }))
    }

    /// How long the daemon has been running.
    pub(crate) fn uptime(&self) -> Duration {
        self.0.started.elapsed()
    }

    /// What the daemon is about from now on.
    pub(crate) fn enter(&self, phase: Phase) {
        self.0.phase.store(phase as u8, Ordering::Release);
    }

    /// What the daemon is about.
    pub(crate) fn phase(&self) -> Phase {
        match self.0.phase.load(Ordering::Acquire) {
            0 => Phase::Starting,
            1 => Phase::Ready,
            _ => Phase::Stopping,
        }
    }

    /// Those of a brain, as they were when it was open last.
    pub(crate) fn brain(&self, name: &str) -> Arc<BrainFigures> {
        self.brains().entry(name.to_owned()).or_default().clone()
    }

    /// A brain is no more: one that gets its name begins anew.
    pub(crate) fn forget(&self, name: &str) {
        self.brains().remove(name);
    }

    /// Connections that have a place.
    pub(crate) fn connections(&self) -> &Figure {
        &self.0.connections
    }

    /// Connections that were turned away.
    pub(crate) fn turned_away(&self) -> &Figure {
        &self.0.turned_away
    }

    /// Names in the folder that are looked at again: files that may become brains, and what became of them.
    pub(crate) fn files_waiting(&self) -> &Figure {
        &self.0.files_waiting
    }

    fn brains(&self) -> MutexGuard<'_, HashMap<String, Arc<BrainFigures>>> {
        self.0.brains.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brain_keeps_its_figures_until_it_is_forgotten() {
        let figures = Figures::new();
        figures.brain("b").commits.add(3);
        assert_eq!(figures.brain("b").commits.get(), 3);
        assert_eq!(figures.brain("c").commits.get(), 0);
        figures.forget("b");
        assert_eq!(figures.brain("b").commits.get(), 0);
    }

    #[test]
    fn a_daemon_is_ready_between_its_start_and_its_end() {
        let figures = Figures::new();
        assert_eq!(figures.phase(), Phase::Starting);
        for phase in [Phase::Ready, Phase::Stopping] {
            figures.clone().enter(phase);
            assert_eq!(figures.phase(), phase);
        }
    }
}
