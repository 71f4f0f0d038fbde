//! What a proof needs to know of a store.

use std::sync::Arc;

use super::violation::Violation;
use crate::disk::{AnsweredBounds, SimDisk};

/// Something a store does, and how to tell whether it kept its word.
///
/// Transactions are numbered from 1 in the order in which they are handed over. Both methods must do the same
/// whenever they are given the same disk, or no failure can be replayed.
pub trait Scenario: Sync {
    /// The disk that it works on, empty.
    fn disk(&self, seed: u64) -> SimDisk {
        SimDisk::new(seed)
    }

    /// Works on a disk, telling `trace` what it hands to the store and what the store answered. If operations
    /// fail it goes on as the program would, or ends.
    fn run(&self, disk: Arc<SimDisk>, trace: &Trace);

    /// Opens what a crash (or a fault) left, as the program would, and examines it: that the answered
    /// transactions are there, whole, and no other than those handed over. Returns how many there are, or what
    /// is wrong; the proof compares that number with `answered` itself.
    ///
    /// It may go on working on the disk, telling `trace`; the proof crashes what it does in turn. What it
    /// returned has been shown to a reader: a later crash must not take it away.
    fn check(
        &self,
        disk: Arc<SimDisk>,
        answered: AnsweredBounds,
        trace: &Trace,
    ) -> Result<u64, Violation>;
}

/// Notes in a disk's log what was promised when.
#[derive(Debug)]
pub struct Trace(Arc<SimDisk>);

impl Trace {
    /// The notes of one disk.
    pub fn new(disk: &Arc<SimDisk>) -> Self {
        Self(disk.clone())
    }

    /// The first `n` transactions have been handed to the store: they may be there.
    pub fn submit(&self, n: u64) {
        self.0.submitted(n);
    }

    /// The first `n` transactions have been answered: they must be there.
    pub fn acknowledge(&self, n: u64) {
        self.0.answered(n);
    }
}
