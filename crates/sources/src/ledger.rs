//! What a store has of a source, compared with what the source says now.
//!
//! A store keeps the id and the hash of every item that it took. A line that moved keeps its id, and has another hash
//! only if its headings or its day changed; an edited line is one that is new and one that is gone.
//!
//! Promises: about a hundred bytes of memory for each item, whatever its text is.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_128;

use crate::item::{SourceId, SourceItem};

/// What became of an item since it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemChange<K> {
    /// The store does not have it.
    New,
    /// The store has it as it is, under this key.
    Known(K),
    /// The store has it with another hash.
    Edited(K),
    /// It came before in this very reading.
    Repeated,
}

#[derive(Debug)]
struct LedgerEntry<K> {
    hash: u128,
    key: K,
    is_seen: bool,
}

/// The items that a store has, by the hash of their id. `K` is what the store finds an item by.
#[derive(Debug)]
pub struct SourceLedger<K> {
    entries: HashMap<u128, LedgerEntry<K>>,
}

impl<K> Default for SourceLedger<K> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
        }
    }
}

impl SourceId {
    /// The key of an id in a ledger: the hash of its text.
    #[must_use]
    pub fn fingerprint(&self) -> u128 {
        xxh3_128(self.to_string().as_bytes())
    }
}

impl<K: Clone> SourceLedger<K> {
    /// Adds an item that the store has. The text of an id is that of [`SourceId`]'s `Display`; the last of equal ones
    /// counts.
    pub fn has(&mut self, id: &str, hash: u128, key: K) {
        let entry = LedgerEntry {
            hash,
            key,
            is_seen: false,
        };
        self.entries.insert(xxh3_128(id.as_bytes()), entry);
    }

    /// How many items the store has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if the store has nothing of the source.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Compares an item that was read, once. A new one is in the ledger from then on, under `new_key`.
    pub fn see(&mut self, item: &SourceItem, new_key: K) -> ItemChange<K> {
        let fingerprint = item.id.fingerprint();
        let Some(entry) = self.entries.get_mut(&fingerprint) else {
            let entry = LedgerEntry {
                hash: item.hash,
                key: new_key,
                is_seen: true,
            };
            self.entries.insert(fingerprint, entry);
            return ItemChange::New;
        };
        if std::mem::replace(&mut entry.is_seen, true) {
            ItemChange::Repeated
        } else if entry.hash == item.hash {
            ItemChange::Known(entry.key.clone())
        } else {
            ItemChange::Edited(entry.key.clone())
        }
    }

    /// The keys of the items that were not read, in no order. The caller knows which of them the reading should have
    /// had: a file that cannot be read, or lies beside the path, is not gone.
    pub fn unseen(&self) -> impl Iterator<Item = &K> {
        let unseen = self.entries.values().filter(|entry| !entry.is_seen);
        unseen.map(|entry| &entry.key)
    }
}
