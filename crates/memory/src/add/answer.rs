//! The answer of an add: every fact is accounted for.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::graph::FactGraph;
use crate::kind::FactKind;
use crate::pending::PendingWork;
use crate::validity::Validity;

/// What an add did with a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AddEvent {
    /// A new memory.
    Add,
    /// A memory has a new version.
    Update,
    /// A memory ended.
    Delete,
    /// A memory says so already.
    None,
}

/// Why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DecisionReason {
    /// `hash`, `model`, `caller`, or a rule such as `rule:home`.
    pub by: String,
    /// The confidence of the fact, 0 to 1.
    pub confidence: f32,
    /// The turns that it is from.
    pub source_turns: Vec<Uuid>,
}

/// What became of one fact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FactResult {
    /// What happened.
    pub event: AddEvent,
    /// The memory.
    pub id: Uuid,
    /// Its text now; for a delete the text that ended.
    pub memory: String,
    /// Its text before, of an update or a delete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_memory: Option<String>,
    /// What the fact is.
    pub kind: FactKind,
    /// When it is so.
    pub validity: Validity,
    /// Why.
    pub why: DecisionReason,
    /// Memories that it may contradict.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<Uuid>,
    /// True if it gives orders to a model, and is never shown in context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_quarantined: bool,
    /// Who and what its text names, and how they are related.
    #[serde(default, skip_serializing_if = "FactGraph::is_empty")]
    pub graph: FactGraph,
}

/// A fact that is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedFact {
    /// Names it in a review; `None` if there is nothing to review.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// Its text.
    pub text: String,
    /// Why.
    pub why: String,
}

/// What one stage of an add did, in numbers.
///
/// Stages in order: `observe` (turns, new_turns, context, skipped), `extract` (facts, by_model, rejected, quarantined),
/// `store` (added, updated, ended, known), `relate` (sources, causes, replaced, conflicts, entities, relations).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddStage {
    /// Its name.
    pub stage: String,
    /// What was counted, and how much of it.
    pub counts: Vec<(String, u64)>,
}

/// What models did for an add.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddUsage {
    /// Calls, retries included.
    pub calls: u32,
    /// Calls that repeated one before.
    pub retries: u32,
    /// Tokens of requests.
    pub tokens_in: u64,
    /// Tokens of answers.
    pub tokens_out: u64,
    /// Milliseconds of calls.
    pub model_millis: u64,
}

/// How an add ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AddStatus {
    /// Everything is done.
    Succeeded,
    /// Turns are stored, and their facts are not known yet, or facts have no vector yet.
    Pending,
}

/// The answer of an add.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddAnswer {
    /// What became of each fact.
    pub results: Vec<FactResult>,
    /// Work that is left.
    pub pending: Vec<PendingWork>,
    /// Facts that were not stored.
    pub rejected: Vec<RejectedFact>,
    /// Parts of the request that are not remembered.
    pub skipped: Vec<crate::conversation::SkippedPart>,
    /// What models did.
    pub usage: AddUsage,
    /// How it ended.
    pub status: AddStatus,
    /// What each of the four stages did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<AddStage>,
    /// The turns of the request, stored now or before.
    pub turns: Vec<Uuid>,
    /// True if nothing was stored because the request asked so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_dry_run: bool,
}
