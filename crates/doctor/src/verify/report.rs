//! The report of a check.

use super::finding::{Finding, Findings};
use amem_interop::Layout;

/// What was looked at, and what was found.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyReport {
    /// The file's layout.
    pub layout: Layout,
    /// Its bytes.
    pub bytes: u64,
    /// Events in its tables, the journal left out.
    pub events: u64,
    /// Edges in its tables, the journal left out.
    pub edges: u64,
    /// Ranges with a checksum.
    pub checksums: u64,
    /// Whole commits of the journal.
    pub commits: u64,
    /// True if a daemon owns the file now, so that only what it has committed was looked at.
    pub live: bool,
    /// What is wrong, in order of the checks.
    pub findings: Vec<Finding>,
    /// Findings past those kept.
    pub more: u64,
    /// What stands behind the last whole commit, if not zeros.
    pub tail: Option<Tail>,
}

/// Bytes behind the last whole commit of a journal.
///
/// A copy that was taken while the daemon wrote ends so, and has lost nothing that was acknowledged before.
/// In a file that nobody was writing it is damage, and what stood there is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Where they begin.
    pub offset: u64,
    /// How many there are up to the last that is not zero.
    pub bytes: u64,
    /// Why they are no commit.
    pub why: String,
}

impl VerifyReport {
    pub(super) fn new(layout: Layout, bytes: u64) -> Self {
        Self {
            layout,
            bytes,
            events: 0,
            edges: 0,
            checksums: 0,
            commits: 0,
            live: false,
            findings: Vec::new(),
            more: 0,
            tail: None,
        }
    }

    pub(super) fn with(mut self, findings: Findings) -> Self {
        (self.findings, self.more) = findings.into_parts();
        self
    }

    /// True if nothing is wrong and nothing is cut off.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty() && self.tail.is_none()
    }
}
