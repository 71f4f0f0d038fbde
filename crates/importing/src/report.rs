//! What an import found, read and did.

use std::collections::BTreeMap;

use amem_sources::ReadCounts;
use serde::Serialize;

use crate::import_path::ImportPath;
use crate::outcome::{ImportCounts, ReadNotes};

/// What is in a path, by kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FoundFiles {
    /// The kind of source.
    pub kind: &'static str,
    /// Where they are.
    pub path: String,
    /// How many files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Why the first of them is of the kind.
    pub reason: String,
}

/// What an import found, read and did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The brain.
    pub brain: String,
    /// True if nothing was written.
    pub dry_run: bool,
    /// What is in the paths.
    pub found: Vec<FoundFiles>,
    /// Items read, by type.
    pub read: BTreeMap<&'static str, u64>,
    /// What became of them.
    #[serde(flatten)]
    pub counts: ImportCounts,
    /// Secrets masked or refused, by kind.
    pub secrets: BTreeMap<&'static str, u64>,
    /// Elements of injected context that were left out.
    pub injected: u64,
    /// What was skipped.
    pub notes: ReadNotes,
}

impl ImportReport {
    pub(crate) fn found(&mut self, from: &ImportPath) {
        self.found.extend(from.found.iter().map(|found| FoundFiles {
            kind: found.kind.name(),
            path: from.path.display().to_string(),
            files: found.files,
            bytes: found.bytes,
            reason: found.reason.clone(),
        }));
    }

    pub(crate) fn read_of(&mut self, counts: &ReadCounts) {
        for (item, n) in &counts.items {
            *self.read.entry(item).or_default() += n;
        }
        for (kind, n) in &counts.secrets {
            *self.secrets.entry(kind.name()).or_default() += n;
        }
        self.injected += counts.injected;
    }

    pub(crate) fn took(&mut self, counts: &ImportCounts, notes: &ReadNotes) {
        let own = &mut self.counts;
        own.added += counts.added;
        own.changed += counts.changed;
        own.moved += counts.moved;
        own.gone += counts.gone;
        own.cut += counts.cut;
        own.ended += counts.ended;
        own.known += counts.known;
        own.edges += counts.edges;
        own.unresolved += counts.unresolved;
        own.pending += counts.pending;
        self.notes.skipped.extend(notes.skipped.iter().cloned());
        for (reason, n) in &notes.counts {
            *self.notes.counts.entry(reason).or_default() += n;
        }
    }
}
