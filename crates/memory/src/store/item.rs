//! A memory as clients see it, and its history.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use amem_format::NodeId;
use amem_format::types::Micros;

use crate::kind::FactKind;
use crate::scope::FactScope;
use crate::validity::Validity;

/// The current state of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryItem {
    /// Stable over all versions; UUID v4.
    pub id: Uuid,
    /// The text.
    pub memory: String,
    /// The MD5 of the text.
    pub hash: String,
    /// Whose it is.
    pub scope: FactScope,
    /// The caller's own keys.
    pub metadata: Map<String, Value>,
    /// What it is.
    pub kind: FactKind,
    /// When it is so.
    pub validity: Validity,
    /// 0 to 1.
    pub confidence: f32,
    /// When its first version was stored.
    pub created_at: Micros,
    /// When this version was stored.
    pub updated_at: Micros,
    /// When it ends by itself.
    pub expires_at: Option<Micros>,
    /// True if it gives orders to a model: it is never shown in context.
    pub is_quarantined: bool,
    /// The turns that this version is from.
    pub sources: Vec<Uuid>,
    /// The memories that it follows from.
    pub because: Vec<Uuid>,
    /// When it happened, or was said; `None` if the store does not know.
    pub happened_at: Option<Micros>,
    /// The event of this version; `None` if it is not stored yet.
    pub event: Option<NodeId>,
}

/// What happened to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HistoryEvent {
    /// It was stored.
    Add,
    /// It has another text.
    Update,
    /// It ended.
    Delete,
    /// A caller said what it thinks of it; its text is unchanged.
    Feedback,
}

/// One version of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRecord {
    /// The id of the version.
    pub id: Uuid,
    /// The memory.
    pub memory_id: Uuid,
    /// What happened.
    pub event: HistoryEvent,
    /// The text before.
    pub old_memory: Option<String>,
    /// The text after.
    pub new_memory: Option<String>,
    /// When.
    pub at: Micros,
    /// The turns that it is from.
    pub sources: Vec<Uuid>,
    /// What decided, such as `rule:home`.
    pub why: String,
}
