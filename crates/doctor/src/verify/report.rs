//! The report of a check.

use super::finding::{Finding, Findings};
use amem_interop::Layout;

/// What was checked, and the findings.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifyReport {
    /// The file's layout.
    pub layout: Layout,
    /// Its size in bytes.
    pub bytes: u64,
    /// Number of events in base and journal.
    pub events: u64,
    /// Number of edges in base and journal.
    pub edges: u64,
    /// Number of ranges with a checksum.
    pub checksums: u64,
    /// Number of complete commits in the journal.
    pub commits: u64,
    /// True if a daemon owns the file; then only its committed bytes were checked.
    pub live: bool,
    /// The damage, in order of the checks.
    pub findings: Vec<Finding>,
    /// Number of further findings.
    pub more: u64,
    /// Bytes other than zeros after the last complete commit.
    pub tail: Option<Tail>,
}

/// Bytes after the last complete commit of a journal.
///
/// In a copy taken while the daemon was writing, this is normal: no acknowledged commit is lost. In any other file it
/// is damage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Their offset.
    pub offset: u64,
    /// Their number, up to the last one that is not zero.
    pub bytes: u64,
    /// Why they are not a commit.
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

    /// True if there are no findings and no tail.
    pub fn is_whole(&self) -> bool {
        self.findings.is_empty() && self.tail.is_none()
    }
}
