//! Which events of the base the journal says something about: a bit each.
//!
//! Most reads are of events that no commit touched since the base. Those look here, at one word, and not into the
//! index of the others, which would cost them several loads that miss.
//!
//! Promises: a bit is set before the commit that sets it is published, and who sees it sees what was said of the event
//! before it was set; memory grows with the blocks that are touched.

use crate::sync::{AtomicU64, OnceLock, Ordering};
use crate::types::NodeId;

/// Words of a block.
const WORDS: usize = 512;
/// Events of a block.
const EVENTS: u64 = 64 * WORDS as u64;

/// A set of base events that only grows.
#[derive(Debug)]
pub(super) struct Touched {
    blocks: Box<[OnceLock<Box<[AtomicU64; WORDS]>>]>,
}

impl Touched {
    /// None of a base of so many events.
    pub(super) fn new(nodes: u64) -> Self {
        let blocks = nodes.div_ceil(EVENTS);
        Self {
            blocks: (0..blocks).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Adds an event of the base; another is left out.
    pub(super) fn add(&self, id: NodeId) {
        if let Some(block) = self.blocks.get((id.0 / EVENTS) as usize) {
            let words = block.get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
            words[(id.0 % EVENTS / 64) as usize].fetch_or(1 << (id.0 % 64), Ordering::Release);
        }
    }

    /// Of 64 events, the n-th such word of them, which were added: a bit each.
    pub(super) fn word(&self, n: u64) -> u64 {
        let block = self.blocks.get((n / WORDS as u64) as usize);
        block.and_then(OnceLock::get).map_or(0, |words| {
            words[(n % WORDS as u64) as usize].load(Ordering::Acquire)
        })
    }

    /// True if it was added.
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
    fn what_was_added_is_there_and_nothing_else() {
        let touched = Touched::new(100_000);
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
