//! Memories as they are stored, and the port to their store.

mod batch;
mod embedder;
mod item;
mod port;

pub use crate::hash::words_hash;
pub use crate::relations::aliases_said;
pub use batch::{FactBatch, FactOp, NewAnswer, NewFact, NewRejection, NewTurn, RejectionState};
pub use embedder::{BuiltinEmbedder, Embedder};
pub use item::{HistoryEvent, HistoryRecord, MemoryItem};
pub use port::{
    Candidate, CandidateKey, CandidateSet, FactStore, Ids, MemoryPage, StoredAnswer, StoredMemory,
    TurnKey,
};
