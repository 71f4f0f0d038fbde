//! Commits of the delta, and what belongs to a commit and to no event: sessions and requests.

use uuid::Uuid;
use xxhash_rust::xxh3::xxh3_128;

use super::entry::Span;
use crate::append::{AppendVec, Link, NONE, Trie};
use crate::journal::op::Commit;
use crate::sync::{AtomicU32, OnceLock, Ordering};
use crate::types::{Lsn, Micros, SessionId};

/// A commit, and how much there was after it.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Number, time, actor, kind.
    pub commit: Commit,
    /// Where its first frame begins in the file.
    pub position: u64,
    /// Where its last frame ends.
    pub end: u64,
    /// Events of the brain after it.
    pub nodes: u64,
    /// Live edges of the brain after it.
    pub edges: u64,
}

/// The commits of the delta.
#[derive(Debug, Default)]
pub struct Log {
    entries: AppendVec<Entry>,
    published: AtomicU32,
}

impl Log {
    /// Adds a commit that has been applied whole.
    pub(crate) fn push(&self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Lets readers see the first `count` commits.
    pub fn publish(&self, count: u32) {
        self.published.store(count, Ordering::Release);
    }

    /// The number of commits that readers may see.
    #[inline]
    pub fn published(&self) -> u32 {
        self.published.load(Ordering::Acquire)
    }

    /// The number of commits applied, published or not.
    pub fn applied(&self) -> u32 {
        self.entries.len()
    }

    /// A commit by its place in the delta.
    pub fn get(&self, index: u32) -> Option<&Entry> {
        self.entries.get(index)
    }

    /// The number of commits of the first `count` that are not past an LSN.
    pub fn until_lsn(&self, count: u32, lsn: Lsn) -> u32 {
        self.entries.partition_point(count, |e| e.commit.lsn <= lsn)
    }

    /// The number of commits of the first `count` that are not past a time.
    pub fn until_time(&self, count: u32, time: Micros) -> u32 {
        self.entries
            .partition_point(count, |e| e.commit.time <= time)
    }
}

/// A request that the journal answered.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// The commit.
    pub lsn: Lsn,
    /// The request's id.
    pub id: Uuid,
    /// Hash of its body.
    pub body: u128,
    /// What was answered.
    pub answer: Span,
}

/// A session about which the journal says something.
#[derive(Debug)]
pub struct SessionSlot {
    /// Its number.
    pub id: SessionId,
    /// The first commit that named it.
    pub lsn: Lsn,
    /// Recorded time of its first event in this journal.
    pub first_event: OnceLock<Micros>,
    /// The newest version of what is known, if it was opened or closed.
    pub version: Link,
    /// Its newest event, as an index into the delta's events.
    pub newest: Link,
}

/// A version of what is known of a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionVersion {
    /// The commit.
    pub lsn: Lsn,
    /// Opened in this journal: key, agent, when.
    pub opened: Option<(Span, Span, Micros)>,
    /// Closed: outcome, when.
    pub closed: Option<(Span, Micros)>,
    /// The version before.
    pub previous: u32,
}

/// The sessions of the delta.
#[derive(Debug, Default)]
pub struct Sessions {
    /// In order of their first mention.
    pub slots: AppendVec<SessionSlot>,
    /// Versions, by LSN.
    pub versions: AppendVec<SessionVersion>,
    pub(super) index: Trie<u64>,
    pub(super) keys: Trie<u128>,
    largest: AtomicU32,
}

impl Sessions {
    /// A session by number.
    pub fn find(&self, id: SessionId) -> Option<&SessionSlot> {
        self.slots.get(self.index.get(id.0.into())?)
    }

    /// The number of the session that was opened with a key in this journal.
    pub fn find_key(&self, key: &str) -> Option<SessionId> {
        self.keys.get(xxh3_128(key.as_bytes())).map(SessionId)
    }

    /// The newest version that a bound may see.
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

    /// The largest number that the journal names.
    pub fn largest(&self) -> SessionId {
        SessionId(self.largest.load(Ordering::Relaxed))
    }

    /// The slot of a session, made if it is not there.
    pub(crate) fn slot_or_new(&self, id: SessionId, lsn: Lsn) -> Option<&SessionSlot> {
        if let Some(slot) = self.find(id) {
            return Some(slot);
        }
        let at = self.slots.push(SessionSlot {
            id,
            lsn,
            first_event: OnceLock::new(),
            version: Link::default(),
            newest: Link::default(),
        });
        self.index.insert(id.0.into(), at);
        self.largest.fetch_max(id.0, Ordering::Relaxed);
        self.slots.get(at)
    }

    /// Adds a version.
    pub(crate) fn push(&self, id: SessionId, mut version: SessionVersion) {
        if let Some(slot) = self.slot_or_new(id, version.lsn) {
            version.previous = slot.version.get();
            slot.version.set(self.versions.push(version));
        }
    }

    /// Remembers a key.
    pub(crate) fn push_key(&self, key: &str, id: SessionId) {
        if !key.is_empty() && self.find_key(key).is_none() {
            self.keys.insert(xxh3_128(key.as_bytes()), id.0);
        }
    }
}

/// No entry.
pub const END: u32 = NONE;
