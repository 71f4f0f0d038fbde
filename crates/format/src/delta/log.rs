//! Commits, sessions and requests of the delta.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use super::entry::Span;
use crate::append::{AppendVec, AtomicIndex, NONE, Trie};
use crate::journal::op::Commit;
use crate::sync::{AtomicU32, OnceLock, Ordering};
use crate::types::{Lsn, Micros, SessionId};

/// A commit, its place in the journal and the brain's sizes after it.
#[derive(Debug, Clone, Copy)]
pub struct CommitEntry {
    pub commit: Commit,
    /// Offset of its first frame in the file.
    pub position: u64,
    /// Offset of the end of its last frame.
    pub end: u64,
    /// Events after the commit.
    pub nodes: u64,
    /// Edges after the commit, retracted ones not counted.
    pub edges: u64,
}

/// The commits of the delta.
#[derive(Debug, Default)]
pub struct Log {
    entries: AppendVec<CommitEntry>,
    published: AtomicU32,
}

impl Log {
    /// Appends a commit that is applied completely.
    pub(crate) fn push(&self, entry: CommitEntry) {
        self.entries.push(entry);
    }

    /// Makes the first `count` commits visible to readers.
    pub fn publish(&self, count: u32) {
        self.published.store(count, Ordering::Release);
    }

    /// The number of visible commits.
    #[inline]
    pub fn published(&self) -> u32 {
        self.published.load(Ordering::Acquire)
    }

    /// The number of commits applied, published or not.
    pub fn applied(&self) -> u32 {
        self.entries.len()
    }

    pub fn get(&self, index: u32) -> Option<&CommitEntry> {
        self.entries.get(index)
    }

    /// How many of the first `count` commits are not past an LSN.
    pub fn until_lsn(&self, count: u32, lsn: Lsn) -> u32 {
        self.entries.partition_point(count, |e| e.commit.lsn <= lsn)
    }

    /// How many of the first `count` commits are not past a time.
    pub fn until_time(&self, count: u32, time: Micros) -> u32 {
        self.entries
            .partition_point(count, |e| e.commit.time <= time)
    }
}

/// An answered request, for idempotent retries.
#[derive(Debug, Clone, Copy)]
pub struct RequestEntry {
    pub lsn: Lsn,
    pub id: Uuid,
    /// Hash of the request's body.
    pub body: u128,
    /// The stored answer.
    pub answer: Span,
}

/// A session that the journal names.
#[derive(Debug)]
pub struct SessionSlot {
    pub id: SessionId,
    /// The first commit that named it.
    pub lsn: Lsn,
    /// Recorded time of its first event in this journal.
    pub first_event: OnceLock<Micros>,
    /// The newest version, if the session was opened or closed explicitly.
    pub version: AtomicIndex,
    /// Its newest event, as an index into the delta's events.
    pub newest: AtomicIndex,
}

/// A version of a session's key, agent, outcome and times.
#[derive(Debug, Clone, Copy)]
pub struct SessionVersion {
    pub lsn: Lsn,
    /// Key, agent and time, if it was opened in this journal.
    pub opened: Option<(Span, Span, Micros)>,
    /// Outcome and time, if it was closed in this journal and not opened again since.
    pub closed: Option<(Span, Micros)>,
    /// How often this journal has opened it again after a close.
    pub reopenings: u32,
    /// The previous version; `END` if there is none.
    pub previous: u32,
}

/// The sessions of the delta.
#[derive(Debug, Default)]
pub struct DeltaSessions {
    /// In the order in which the journal first names them.
    pub slots: AppendVec<SessionSlot>,
    /// Versions, by LSN.
    pub versions: AppendVec<SessionVersion>,
    pub(super) index: Trie<u64>,
    pub(super) keys: Trie<u128>,
    largest: AtomicU32,
}

impl DeltaSessions {
    /// A session by id.
    pub fn find(&self, id: SessionId) -> Option<&SessionSlot> {
        self.slots.get(self.index.get(id.0.into())?)
    }

    /// The id of the session that this journal opened with a key.
    pub fn find_key(&self, key: &str) -> Option<SessionId> {
        self.keys.get(xxh3_128(key.as_bytes())).map(SessionId)
    }

    /// The newest version of a slot up to `bound`.
    pub fn version(&self, slot: &SessionSlot, bound: Lsn) -> Option<&SessionVersion> {
        let mut at = slot.version.get();
        loop {
            let version = self.versions.get(at)?;
            if version.lsn <= bound {
                return Some(version);
            }
            at = version.previous;
        }
    }

    /// The largest session id that the journal names.
    pub fn largest(&self) -> SessionId {
        SessionId(self.largest.load(Ordering::Relaxed))
    }

    /// The slot of a session, created if absent.
    pub(crate) fn slot_or_new(&self, id: SessionId, lsn: Lsn) -> Option<&SessionSlot> {
        if let Some(slot) = self.find(id) {
            return Some(slot);
        }
        let at = self.slots.push(SessionSlot {
            id,
            lsn,
            first_event: OnceLock::new(),
            version: AtomicIndex::default(),
            newest: AtomicIndex::default(),
        });
        self.index.insert(id.0.into(), at);
        self.largest.fetch_max(id.0, Ordering::Relaxed);
        self.slots.get(at)
    }

    pub(crate) fn push(&self, id: SessionId, mut version: SessionVersion) {
        if let Some(slot) = self.slot_or_new(id, version.lsn) {
            version.previous = slot.version.get();
            slot.version.set(self.versions.push(version));
        }
    }

    pub(crate) fn push_key(&self, key: &str, id: SessionId) {
        if !key.is_empty() && self.find_key(key).is_none() {
            self.keys.insert(xxh3_128(key.as_bytes()), id.0);
        }
    }
}

/// The end of every chain.
pub const END: u32 = NONE;
