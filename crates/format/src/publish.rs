//! Publication to readers: the writer stores bytes, then a word that says how far they reach.
//!
//! One word is in the file's live page: the writer stores it, readers in other processes load it. The other belongs to
//! a reader and its threads: how far the reader has applied the first.
//!
//! Promises: a thread that loads a word sees everything written before its store. Not here: the word's place in the
//! file (`journal::live`), and how it is mapped (`mapping`).

use crate::sync::{AtomicU64, Ordering, fence};

/// Stores a word of the file with release.
#[inline]
pub(crate) fn store(word: &AtomicU64, value: u64) {
    word.store(value, Ordering::Release);
}

/// Loads a word of the file with acquire. The mapping may be read-only, where Rust allows only relaxed loads: hence
/// the fence.
#[inline]
pub(crate) fn load(word: &AtomicU64) -> u64 {
    let value = word.load(Ordering::Relaxed);
    fence(Ordering::Acquire);
    value
}

/// The mark of a file without a writer.
const OFFLINE: u64 = u64::MAX;

/// How far a reader has applied the published frames.
#[derive(Debug)]
pub(crate) struct AppliedMark(AtomicU64);

impl AppliedMark {
    /// For a file without a writer, which was read completely when it was opened.
    pub(crate) fn offline() -> Self {
        Self(AtomicU64::new(OFFLINE))
    }

    /// For a file with a writer: nothing is applied yet.
    pub(crate) fn nothing() -> Self {
        Self(AtomicU64::new(0))
    }

    /// True for a file with a writer; that never changes.
    pub(crate) fn is_live(&self) -> bool {
        self.0.load(Ordering::Relaxed) != OFFLINE
    }

    /// The file's word as of the last `reach`; `None` for a file without a writer. The caller sees everything applied
    /// up to it.
    #[inline]
    pub(crate) fn up_to(&self) -> Option<u64> {
        let word = self.0.load(Ordering::Acquire);
        (word != OFFLINE).then_some(word)
    }

    /// Records that everything up to `word` is applied and visible to views.
    pub(crate) fn reach(&self, word: u64) {
        self.0.store(word, Ordering::Release);
    }
}
