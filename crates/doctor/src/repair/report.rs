//! The report of a repair.

use amem_format::base_builder::Options;
use amem_format::view::View;

use crate::verify::{Finding, Tail};

/// The attribute that lists what an event lost in a repair: "record", "time", "text", "vector", "attributes".
pub const LOST: &str = "amem.lost";

/// What a repair corrected and what is lost. Offsets are positions in the damaged file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepairReport {
    /// Ranges that were restored completely.
    pub healed: Vec<Finding>,
    /// Data that could not be recovered.
    pub lost: Vec<Finding>,
    /// Ranges that do not match their checksum: what was read from them may have changed.
    pub doubtful: Vec<Finding>,
    /// Bytes after the last complete commit.
    pub tail: Option<Tail>,
}

/// The recovered brain.
#[derive(Debug)]
pub struct RepairedBrain {
    /// Its events and edges.
    pub view: View,
    /// How to build its base: same lineage, new instance.
    pub options: Options,
    /// What was corrected and what is lost.
    pub report: RepairReport,
}

impl RepairReport {
    /// True if the new brain has all data of the file, unchanged.
    pub fn lost_nothing(&self) -> bool {
        self.lost.is_empty() && self.doubtful.is_empty() && self.tail.is_none()
    }
}

/// Reports lost data.
pub(super) fn lose(report: &mut RepairReport, part: &str, offset: u64, why: impl Into<String>) {
    report.lost.push(Finding {
        part: part.to_owned(),
        offset: Some(offset),
        why: why.into(),
    });
}
