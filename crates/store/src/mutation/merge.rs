//! The source and the report of a merge.

use std::sync::Arc;

use amem_format::view::View;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::Result;
use crate::limits::{MERGE_COMMIT_BYTES_MAX, MERGE_JOURNAL_BYTES_MAX, MERGE_MEMORY_BYTES_MAX};

/// Another brain, for a merge into this one.
#[derive(Debug, Clone)]
pub struct MergeSource {
    /// All of it, as of one moment.
    pub view: Arc<View>,
    /// Bytes of a merge that is appended to the journal; a larger one goes into a new generation.
    pub journal_bytes: usize,
    /// Bytes of the merge's one commit: a larger merge is refused.
    pub commit_bytes_max: u64,
    /// Bytes of memory that the merge may take: a larger one is refused before it takes them.
    pub bytes_max: u64,
}

impl MergeSource {
    /// A brain as of a view.
    pub fn new(view: View) -> Self {
        Self {
            view: Arc::new(view),
            journal_bytes: MERGE_JOURNAL_BYTES_MAX,
            commit_bytes_max: MERGE_COMMIT_BYTES_MAX,
            bytes_max: MERGE_MEMORY_BYTES_MAX,
        }
    }
}

impl PartialEq for MergeSource {
    fn eq(&self, other: &Self) -> bool {
        let moment = |view: &View| (view.instance(), view.lsn(), view.time());
        moment(&self.view) == moment(&other.view)
    }
}

impl Serialize for MergeSource {
    /// Instance, LSN and time, by which a retry is recognised. Two brains whose disk was cloned have different commits
    /// under one LSN, so the time is part of it.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let view = &self.view;
        (view.instance(), view.lsn().0, view.time().0).serialize(serializer)
    }
}

/// The report of a merge, or of a dry run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergeReport {
    /// Events of the other brain that were here already.
    pub matched: u64,
    /// New events.
    pub events: u64,
    /// Edges that are new or have a new weight.
    pub edges: u64,
    /// Edges that were retracted.
    pub retracted: u64,
    /// Events that were here and have other attributes, another vector, or are pinned, forgotten, compressed otherwise.
    pub changed: u64,
    /// Events whose uses were counted.
    pub touched: u64,
    /// Sessions that are new here, or were closed there, or later and otherwise.
    pub sessions: u64,
    /// Supersedes edges that are on a cycle of both brains' edges, and were left out.
    pub cycles: u64,
    /// Vectors of another space, which were left out, or made again by the built-in embedder.
    pub other_vectors: u64,
    /// Events that are erased in the other brain and not here: they stay until they are erased here.
    pub erased_there: u64,
    /// Events of the other brain that were left out, as they may be what was erased here: at one moment and of one type
    /// the other brain has more events than were erased.
    pub withheld: u64,
}
