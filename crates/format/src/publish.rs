//! How what is written becomes visible: bytes first, then a word that says how far they reach.
//!
//! One word stands in the file, in the live page: the writer stores it, readers in other processes load it. The other
//! is a reader's own, for the threads that share it: up to where it has applied what the first one says.
//!
//! Promises: who loads a word sees whatever was written before it was stored. Not here: where the word stands
//! (`journal::live`), and how it is mapped (`mapping`).

use crate::sync::{AtomicU64, Ordering, fence};

/// Stores a word of the file: who loads it sees everything written before.
#[inline]
pub(crate) fn store(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Release);
}

/// Loads a word of the file, and sees what the writer wrote before it stored it. The mapping may be read-only, where
/// only relaxed loads are allowed; hence the fence.
#[inline]
pub(crate) fn load(word: &AtomicU64) -> u64 {
    let value = word.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    value
}

/// The word of a file that nobody publishes to.
const OFFLINE: u64 = u64::MAX;

/// Up to where a reader has applied what was published.
#[derive(Debug)]
pub(crate) struct Applied(AtomicU64);

impl Applied {
    /// Of a file to which nobody publishes: all of it was read when it was opened.
    pub(crate) fn offline() -> Self {
        Self(AtomicU64::new(OFFLINE))
    }

    /// Nothing yet, of a file that somebody owns.
    pub(crate) fn nothing() -> Self {
        Self(AtomicU64::new(0))
    }

    /// True if somebody publishes to the file; that does not change.
    pub(crate) fn is_live(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OFFLINE
    }

    /// What the word in the file said when it was last followed; none if nobody publishes to the file. Whoever gets
    /// it sees all that was applied by then.
    #[inline]
    pub(crate) fn up_to(&self) -> Option<u64> {
        let word = self.0.load(Ordering::Acquire);
        (word != OFFLINE).then_some(word)
    }

    /// All that the word in the file speaks of is applied, and views show it.
    pub(crate) fn reach(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }
}
