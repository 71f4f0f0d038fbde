//! A set of base events as a bitmap: those that the journal touches.
//!
//! Most reads are of events that no commit changed since the base. For those one word here answers, where the index of
//! entries would cost several cache misses.
//!
//! Promises: a bit is set before its commit is published; a reader that sees it sees every entry written before it was
//! set; memory grows with the blocks in use.

use crate::sync::{AtomicU64, OnceLock, Ordering};
use crate::types::NodeId;

/// Words of a block.
const WORDS: usize = 512;
/// Events of a block.
const EVENTS: u64 = 64 * WORDS as u64;

/// A set of base events that only grows.
#[derive(Debug)]
pub(super) struct EventSet {
    blocks: Box<[OnceLock<Box<[AtomicU64; WORDS]>>]>,
}

impl EventSet {
    /// The empty set for a base of `nodes` events.
    pub(super) fn new(nodes: u64) -> Self {
        let blocks = nodes.div_ceil(EVENTS);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Adds a base event; an id past the base is ignored.
    pub(super) fn add(&self, id: NodeId) {
        if let Some(block) = self.blocks.get((id.0 / EVENTS) as usize) {
            let words = block.get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
            words[(id.0 % EVENTS / 64) as usize].fetch_or(1 << (id.0 % 64), Ordering::Release);
        }
    }

    /// Bit i is set if event 64 · `n` + i is in the set.
    pub(super) fn word(&self, n: u64) -> u64 {
        let block = self.blocks.get((n / WORDS as u64) as usize);
        block.and_then(OnceLock::get).map_or(0, |words| {
            words[(n % WORDS as u64) as usize].load(Ordering::Acquire)
        })
    }

    #[inline]
    pub(super) fn has(&self, id: NodeId) -> bool {
        let block = self.blocks.get((id.0 / EVENTS) as usize);
        block.and_then(OnceLock::get).is_some_and(|words| {
            let word = words[(id.0 % EVENTS / 64) as usize].load(Ordering::Acquire);
            word >> (id.0 % 64) & 1 == 1
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_has_exactly_the_added_events() {
        let touched = EventSet::new(100_000);
        let added = [0, 63, 64, 32_767, 32_768, 99_999];
        for id in added {
            touched.add(NodeId(id));
        }
        touched.add(NodeId(1 << 40));
        for id in 0..200_000 {
            assert_eq!(touched.has(NodeId(id)), added.contains(&id), "{id}");
            let bit = touched.word(id / 64) >> (id % 64) & 1;
            assert_eq!(bit == 1, added.contains(&id), "{id}");
        }
    }
}
