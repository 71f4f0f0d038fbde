//! What one add, update or delete commits, whole or not at all.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use amem_format::types::Micros;

use crate::conversation::Role;
use crate::graph::FactGraph;
use crate::hash::text_hash;
use crate::kind::{FactKind, FactSource};
use crate::pending::PendingWork;
use crate::relations::fact_graph;
use crate::scope::FactScope;
use crate::slots::slot_keys;
use crate::validity::Validity;

/// A turn that is stored as a source.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// Its id.
    pub id: Uuid,
    /// Who speaks.
    pub role: Role,
    /// The speaker's name.
    pub name: Option<String>,
    /// What is said.
    pub text: String,
    /// The MD5 of the text.
    pub hash: String,
    /// When it was said.
    pub time: Micros,
}

/// A version of a memory that is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFact {
    /// The text.
    pub text: String,
    /// The MD5 of the text.
    pub hash: String,
    /// What it is.
    pub kind: FactKind,
    /// What found it.
    pub source: FactSource,
    /// 0 to 1.
    pub confidence: f32,
    /// Its vector, `None` if the text has no terms or the embedder failed.
    pub vector: Option<Vec<f32>>,
    /// Keys under which the store finds it as a candidate (`slot_keys`).
    pub slots: Vec<String>,
    /// Who and what it names, and how they are related.
    pub graph: FactGraph,
    /// The caller's own keys.
    pub metadata: Map<String, Value>,
    /// When it ends by itself.
    pub expires: Option<Micros>,
    /// When it is so.
    pub validity: Validity,
    /// The turns that it is from.
    pub sources: Vec<Uuid>,
    /// Facts of the same batch or before that it follows from.
    pub because: Vec<Uuid>,
    /// True if it gives orders to a model.
    pub is_quarantined: bool,
    /// What decided, such as `rule:home`.
    pub why: String,
    /// Why the caller changes it.
    pub reason: Option<String>,
}

impl NewFact {
    /// The same with another text, and what is read from it: hash, slots and graph. Its vector is the caller's matter.
    pub fn with_text(self, text: &str) -> Self {
        Self {
            hash: text_hash(text),
            slots: slot_keys(text),
            graph: fact_graph(text, &[]),
            text: text.to_owned(),
            ..self
        }
    }
}

/// One change of a memory. Changes of a batch are applied in order: a later one may change what an earlier one adds.
#[derive(Debug, Clone, PartialEq)]
pub enum FactOp {
    /// A new memory.
    Add {
        /// Its id.
        id: Uuid,
        /// Its first version.
        fact: NewFact,
        /// Memories that it may contradict: `contradicts` edges of weight `CONFLICT_WEIGHT`.
        conflicts: Vec<Uuid>,
    },
    /// A new version that supersedes the one before.
    Update {
        /// The memory.
        id: Uuid,
        /// Its text before.
        old: String,
        /// The new version.
        fact: NewFact,
        /// True if the new text joins more to the one before: it is from the turns of both, and needs them all.
        joins: bool,
    },
    /// A version that the memory had, also of one that ended: it is there again.
    Restore {
        /// The memory.
        id: Uuid,
        /// The version as it was.
        fact: NewFact,
        /// Memories that it may contradict.
        conflicts: Vec<Uuid>,
    },
    /// What a memory says was said again: its text is from these turns as well.
    Support {
        /// The memory.
        id: Uuid,
        /// Its text.
        old: String,
        /// The turns that say it.
        sources: Vec<Uuid>,
        /// When it ends as far as they go. A memory that would end before ends then.
        expires: Option<Micros>,
    },
    /// The memory ends: it is forgotten, its history stays.
    Delete {
        /// The memory.
        id: Uuid,
        /// Its text.
        old: String,
        /// The turns that end it.
        sources: Vec<Uuid>,
        /// The memory that replaces it, if one does.
        replaced_by: Option<Uuid>,
        /// What decided.
        why: String,
        /// Why the caller ends it.
        reason: Option<String>,
    },
}

/// What became of a rejected fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RejectionState {
    /// It waits for a review.
    Open,
    /// A review stored it: it is a memory.
    Accepted,
    /// A review left it out.
    Dropped,
}

/// A fact that is no memory, kept for a review.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRejection {
    /// Its id; that of the memory, once it is accepted.
    pub id: Uuid,
    /// What it says.
    pub text: String,
    /// Why it is no memory.
    pub why: String,
    /// What it would be.
    pub kind: FactKind,
    /// The turns that it is from.
    pub sources: Vec<Uuid>,
    /// What became of it.
    pub state: RejectionState,
}

/// An answer that is kept, so that a repetition of the request gets it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewAnswer {
    /// The idempotency key.
    pub key: String,
    /// The hash of the request.
    pub request_hash: String,
    /// The answer.
    pub answer: Value,
    /// The memories and turns whose texts are in the answer: it goes with any of them.
    pub names: Vec<Uuid>,
}

/// What is committed together.
#[derive(Debug, Clone, PartialEq)]
pub struct FactBatch {
    /// Whose memories they are; no field for changes of any scopes. Memories that are changed keep their own.
    pub scope: FactScope,
    /// The session of new events.
    pub session: Option<u32>,
    /// The present of the request.
    pub at: Micros,
    /// When memories without turns were said; `at` if `None`.
    pub said: Option<Micros>,
    /// The version of the scope that the decisions are from; the store refuses with `Error::Changed` if the scope has
    /// changed since. `None`: no decision depends on what is stored.
    pub expected_version: Option<u64>,
    /// Turns that are not stored yet.
    pub turns: Vec<NewTurn>,
    /// The changes.
    pub ops: Vec<FactOp>,
    /// Facts that are kept for a review, or what became of them.
    pub rejected: Vec<NewRejection>,
    /// Work that is left; of a batch of any scopes each piece is about memories of one.
    pub pending: Vec<PendingWork>,
    /// What a repetition of the request gets.
    pub answered: Option<NewAnswer>,
}

impl FactBatch {
    /// No changes yet, of any scopes: each memory keeps its own, and is checked by its text.
    pub fn of_any_scopes(at: Micros) -> Self {
        Self {
            scope: FactScope::default(),
            session: None,
            at,
            said: None,
            expected_version: None,
            turns: Vec::new(),
            ops: Vec::new(),
            rejected: Vec::new(),
            pending: Vec::new(),
            answered: None,
        }
    }
}
