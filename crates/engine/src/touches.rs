//! Uses of events by readers, gathered until the writer commits them together.
//!
//! A crash may lose those of the last seconds; none is counted twice. Not here: what a use means for an event's
//! strength.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use amem_format::NodeId;
use amem_locks::LockResultExt;

use crate::limits::TOUCHES_WAITING_MAX;

/// Uses that are not committed yet.
#[derive(Debug, Default)]
pub(crate) struct TouchQueue {
    waiting: Mutex<HashMap<NodeId, u32>>,
    some: AtomicBool,
}

impl TouchQueue {
    /// Adds one use of each event; past the limit, uses of further events are dropped. True if none waited before.
    pub(crate) fn add(&self, ids: impl IntoIterator<Item = NodeId>) -> bool {
        let mut waiting = self.waiting.lock().unpoisoned();
        for id in ids {
            if waiting.len() >= TOUCHES_WAITING_MAX && !waiting.contains_key(&id) {
                continue;
            }
            let times = waiting.entry(id).or_default();
            *times = times.saturating_add(1);
        }
        !waiting.is_empty() && !self.some.swap(true, Ordering::AcqRel)
    }

    /// True if none wait.
    pub(crate) fn is_empty(&self) -> bool {
        !self.some.load(Ordering::Acquire)
    }

    /// Takes all of them, by id.
    pub(crate) fn take(&self) -> Vec<(NodeId, u32)> {
        let mut waiting = self.waiting.lock().unpoisoned();
        self.some.store(false, Ordering::Release);
        // The table is released as well: it may be large.
        let mut taken: Vec<_> = std::mem::take(&mut *waiting).into_iter().collect();
        taken.sort_unstable();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_are_added_up_and_taken_once() {
        let touches = TouchQueue::default();
        assert!(touches.is_empty());
        assert!(!touches.add([]));
        assert!(touches.add([NodeId(3), NodeId(1)]));
        assert!(!touches.add([NodeId(3)]), "they wait already");
        assert_eq!(touches.take(), [(NodeId(1), 1), (NodeId(3), 2)]);
        assert!(touches.is_empty());
        assert_eq!(touches.take(), []);
        assert!(touches.add([NodeId(7)]));
    }

    #[test]
    fn no_more_events_wait_than_may() {
        let touches = TouchQueue::default();
        touches.add((0..TOUCHES_WAITING_MAX as u64 + 5).map(NodeId));
        touches.add([NodeId(0)]);
        let taken = touches.take();
        assert_eq!(taken.len(), TOUCHES_WAITING_MAX);
        assert_eq!(taken[0], (NodeId(0), 2));
    }
}
