//! The metrics of the folder, and those of its brains by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use amem_locks::LockResultExt;

use super::brain::{BrainMetrics, Metric};

/// The metrics of an engine.
#[derive(Debug, Default)]
pub struct EngineMetrics {
    brains: Mutex<HashMap<String, Arc<BrainMetrics>>>,
    files_waiting: Metric,
}

impl EngineMetrics {
    /// Those of a brain, open or not.
    pub fn brain(&self, name: &str) -> Arc<BrainMetrics> {
        self.brains().entry(name.to_owned()).or_default().clone()
    }

    /// Drops those of a brain that was removed.
    pub(crate) fn forget(&self, name: &str) {
        self.brains().remove(name);
    }

    /// Files that are watched because they may become brains, and those that are worked on.
    pub fn files_waiting(&self) -> &Metric {
        &self.files_waiting
    }

    fn brains(&self) -> MutexGuard<'_, HashMap<String, Arc<BrainMetrics>>> {
        self.brains.lock().unpoisoned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brain_keeps_its_metrics_until_it_is_forgotten() {
        let metrics = EngineMetrics::default();
        metrics.brain("b").commits.add(3);
        assert_eq!(metrics.brain("b").commits.get(), 3);
        assert_eq!(metrics.brain("c").commits.get(), 0);
        metrics.forget("b");
        assert_eq!(metrics.brain("b").commits.get(), 0);
    }
}
