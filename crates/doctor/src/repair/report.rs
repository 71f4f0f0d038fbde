//! The report of a repair.

use crate::verify::{Finding, Tail};

/// The attribute that tells what an event lost in a repair: a list of "record", "time", "text", "vector", "attributes".
pub const LOST: &str = "amem.lost";

/// What was done, and what is gone. Offsets are positions in the damaged file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepairReport {
    /// Single bits that were put right: nothing is lost there.
    pub healed: Vec<Finding>,
    /// What could not be carried over.
    pub lost: Vec<Finding>,
    /// What was carried over from ranges whose checksum does not hold: it reads well, but may have changed.
    pub doubtful: Vec<Finding>,
    /// What stood behind the last whole commit.
    pub tail: Option<Tail>,
}

impl RepairReport {
    /// True if everything that was in the file is in the new brain.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.doubtful.is_empty() && self.tail.is_none()
    }
}

/// Tells that something is gone.
pub(super) fn lose(report: &mut RepairReport, part: &str, offset: u64, why: impl Into<String>) {
    report.lost.push(Finding {
        part: part.to_owned(),
        offset: Some(offset),
        why: why.into(),
    });
}
