//! What an import did, and what it skipped.

use std::collections::BTreeMap;

use amem_sources::SkippedEntry;
use serde::Serialize;

/// Skipped entries that are listed.
const SKIPPED_SHOWN_MAX: usize = 50;

/// What became of items.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ImportCounts {
    /// Events or memories that are new.
    pub(crate) added: u64,
    /// Events that replaced those of items that changed, or memories that were updated.
    pub(crate) changed: u64,
    /// Events that were hidden because their items are gone, or memories that ended.
    pub(crate) gone: u64,
    /// Items that were there already.
    pub(crate) known: u64,
    /// Edges.
    pub(crate) edges: u64,
    /// Connections to items that are not there.
    pub(crate) unresolved: u64,
    /// Turns of which a model or patterns still have to make memories.
    pub(crate) pending: u64,
}

/// A skipped entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct SkippedJson {
    pub(crate) place: String,
    pub(crate) reason: &'static str,
    pub(crate) detail: String,
}

/// What a reader skipped: faults are listed, what is left out by design is counted.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ReadNotes {
    /// Faults, the first of them.
    pub(crate) skipped: Vec<SkippedJson>,
    /// All that was skipped, by reason.
    pub(crate) counts: BTreeMap<&'static str, u64>,
}

impl ReadNotes {
    pub(crate) fn take(&mut self, entry: &SkippedEntry) {
        *self.counts.entry(entry.reason.name()).or_default() += 1;
        if entry.reason.is_fault() && self.skipped.len() < SKIPPED_SHOWN_MAX {
            self.skipped.push(SkippedJson {
                place: entry.place.to_string(),
                reason: entry.reason.name(),
                detail: entry.detail.clone(),
            });
        }
    }
}
