//! The port to a store of memories. The default is a brain.
//!
//! A store answers from one consistent state per call. `candidates` names the version of the scope that it read, and
//! `commit` refuses if the scope has changed since: so decisions hold without a lock over calls of a model.

use serde_json::Value;
use uuid::Uuid;

use amem_format::types::Micros;

use super::batch::FactBatch;
use super::item::MemoryItem;
use crate::error::Result;
use crate::filter::FactFilter;
use crate::scope::FactScope;

/// Makes ids.
pub trait Ids {
    /// A new id: UUID v4 in production, any unused one in tests.
    fn next(&self) -> Uuid;
}

/// What names a turn: said twice at different times it is two turns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TurnKey {
    /// The MD5 of its text.
    pub hash: String,
    /// When it was said.
    pub time: Micros,
}

/// A fact whose candidates are wanted.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateKey {
    /// The text of the fact.
    pub text: String,
    /// The MD5 of its text.
    pub hash: String,
    /// Its vector.
    pub vector: Option<Vec<f32>>,
    /// Its slots (`slot_keys`).
    pub slots: Vec<String>,
}

/// A memory that a fact may change.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The memory.
    pub id: Uuid,
    /// Its text.
    pub text: String,
    /// The cosine of its vector and the fact's; `None` without vectors.
    pub cosine: Option<f32>,
}

/// Candidates, from one state of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateSet {
    /// The version of the scope: it changes with every commit to memories that the scope covers.
    pub version: u64,
    /// For each key, at most `limits::CANDIDATES_MAX`: those of the same hash, those that share a slot, and the
    /// `limits::NEAREST_MAX` nearest, in this order of preference, the nearest first in each.
    pub candidates: Vec<Vec<Candidate>>,
}

/// A memory, current or deleted, and the version of its scope.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredMemory {
    /// The last version.
    pub item: MemoryItem,
    /// True if it was deleted.
    pub is_deleted: bool,
    /// As in `CandidateSet`.
    pub version: u64,
}

/// Memories of a scope, from one state of the store.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPage {
    /// Current memories, the oldest first.
    pub items: Vec<MemoryItem>,
    /// As in `CandidateSet`.
    pub version: u64,
}

/// An answer that is kept for repetitions.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredAnswer {
    /// The hash of the request.
    pub request_hash: String,
    /// The answer.
    pub answer: Value,
}

/// A store of memories.
pub trait FactStore {
    /// The answer to an earlier request with an idempotency key.
    fn answered(&self, scope: &FactScope, key: &str) -> Result<Option<StoredAnswer>>;

    /// The ids of turns that are stored under the scope, in order.
    fn known_turns(&self, scope: &FactScope, turns: &[TurnKey]) -> Result<Vec<Option<Uuid>>>;

    /// Which texts are memories of the scope that were served lately as context, by the MD5 of the whole text.
    fn served_lately(&self, scope: &FactScope, hashes: &[String]) -> Result<Vec<bool>>;

    /// Which texts were served lately to the scope, by `words_hash`, also if they are no memories any more.
    fn served_words(&self, scope: &FactScope, hashes: &[String]) -> Result<Vec<bool>>;

    /// The candidates of facts: memories that the scope may change, that are current, neither deleted nor expired at
    /// `now`, and match the filter.
    fn candidates(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        keys: &[CandidateKey],
        now: Micros,
    ) -> Result<CandidateSet>;

    /// A memory by its id, deleted ones included, whatever its scope.
    fn get(&self, id: Uuid) -> Result<Option<StoredMemory>>;

    /// At most `limit` current memories of a scope that match a filter, neither deleted nor expired at `now`.
    fn list(
        &self,
        scope: &FactScope,
        filter: Option<&FactFilter>,
        limit: usize,
        now: Micros,
    ) -> Result<MemoryPage>;

    /// Commits a batch, whole or not at all. `Error::Changed` if the text of a memory is not the `old` one, or the
    /// scope has changed since `expected_version`.
    fn commit(&self, batch: &FactBatch) -> Result<()>;
}
