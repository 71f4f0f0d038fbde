//! What an import did, and what it skipped.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use amem_sources::{SkipReason, SkippedEntry};
use serde::Serialize;

/// Skipped entries that are listed.
const SKIPPED_SHOWN_MAX: usize = 50;

/// What became of items.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ImportCounts {
    /// Events or memories that are new.
    pub added: u64,
    /// Events that replaced those of items that changed, or memories that were updated.
    pub changed: u64,
    /// Events whose items say the same elsewhere: under other headings, with other properties or links.
    pub moved: u64,
    /// Events that were hidden because their items are gone, or memories that ended.
    pub gone: u64,
    /// Items that were there already.
    pub known: u64,
    /// Edges.
    pub edges: u64,
    /// Connections to items that are not there.
    pub unresolved: u64,
    /// Items of which some properties did not fit into an event.
    pub cut: u64,
    /// Memories that another store had ended: they are not remembered.
    pub ended: u64,
    /// Turns of which a model or patterns still have to make memories.
    pub pending: u64,
}

impl ImportCounts {
    /// True if anything was written.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.added + self.changed + self.moved + self.gone + self.edges > 0
    }
}

/// A skipped entry, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedPlace {
    /// Where it stands.
    pub place: String,
    /// Why it was skipped.
    pub reason: &'static str,
    /// The same in more words.
    pub detail: String,
}

/// What a reader skipped: faults are listed, what is left out by design is counted.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct ReadNotes {
    /// Faults, the first of them.
    pub skipped: Vec<SkippedPlace>,
    /// All that was skipped, by reason.
    pub counts: BTreeMap<&'static str, u64>,
    /// Files of which not everything was read.
    #[serde(skip)]
    pub(crate) unread: HashSet<PathBuf>,
}

impl ReadNotes {
    pub(crate) fn take(&mut self, entry: &SkippedEntry) {
        *self.counts.entry(entry.reason.name()).or_default() += 1;
        if !entry.reason.is_fault() {
            return;
        }
        // What these skip is a part of an item, which is there.
        if !matches!(entry.reason, SkipReason::BadTime | SkipReason::Dangling) {
            self.unread.insert(PathBuf::from(&entry.place.file));
        }
        if self.skipped.len() < SKIPPED_SHOWN_MAX {
            self.skipped.push(SkippedPlace {
                place: entry.place.to_string(),
                reason: entry.reason.name(),
                detail: entry.detail.clone(),
            });
        }
    }
}
