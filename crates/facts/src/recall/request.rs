//! The request and the answer of a recall.

use amem_format::NodeId;
use amem_format::types::{Micros, SessionId};
use amem_memory::store::MemoryItem;
use amem_memory::{FactFilter, FactScope};
use amem_query::time_phrase::Clock;
use uuid::Uuid;

/// A question about everything that is known in some scopes.
#[derive(Debug, Clone)]
pub struct Recall {
    /// The question; not empty.
    pub question: String,
    /// Whose memory; a filter may name it instead.
    pub scope: FactScope,
    /// What must hold as well.
    pub filter: Option<FactFilter>,
    /// Entries, 1 to `limits::RECALL_ENTRIES_MAX`.
    pub limit: usize,
    /// The least relevance of an entry, 0 to 1; if `None`, one has `LIKELY_RELEVANCE` and each `BESIDE_RELEVANCE`.
    pub relevance_min: Option<f32>,
    /// What was so then; `None` for what is current.
    pub at: Option<Micros>,
    /// The present and the zone of the caller.
    pub clock: Clock,
    /// The present.
    pub now: Micros,
    /// True for the standing instructions alone, the newest first, up to `limit`; the question may be empty.
    pub standing_only: bool,
}

/// Where an entry is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecalledSource {
    /// A memory that was formed.
    Formed,
    /// A turn of a conversation.
    Said,
    /// Another event: a note, an agent's event, an episode.
    Written,
}

/// One entry of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct RecalledEntry {
    /// Where it is from.
    pub source: RecalledSource,
    /// The event of the memory's version, of the turn, or the event itself.
    pub event: NodeId,
    /// The memory or the turn; `None` for other events.
    pub id: Option<Uuid>,
    /// What is shown: a memory's text, the words that were said, or a passage of them.
    pub text: String,
    /// True if `text` is a passage of a longer one.
    pub is_passage: bool,
    /// Who said it; empty if that is not known.
    pub speaker: String,
    /// When it was said, or happened.
    pub happened: Micros,
    /// Since when it does not hold any more.
    pub until: Option<Micros>,
    /// The rank of the search.
    pub rank: f32,
    /// How well it answers the question, 0 to 1.
    pub relevance: f32,
    /// True if words do not tell whether it answers the question.
    pub is_weak: bool,
    /// The memory, if one was formed.
    pub item: Option<MemoryItem>,
    /// Memories that hold and that it contradicts.
    pub conflicts: Vec<Uuid>,
    /// The events of the memories that it rests on.
    pub because: Vec<NodeId>,
    /// The session that it was said in.
    pub session: SessionId,
    /// Other events that say the same: turns of a memory, and memories of a turn.
    pub doubles: Vec<NodeId>,
}

/// The entries, the best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallAnswer {
    /// The best first.
    pub entries: Vec<RecalledEntry>,
    /// What came nearest where nothing likely answers, at most `limits::NEAREST_MAX`, all of them weak.
    pub nearest: Vec<RecalledEntry>,
    /// The greatest relevance of what was left out as irrelevant; 0 if nothing was.
    pub left_out_relevance: f32,
    /// Why vectors did not count, if they did not.
    pub words_only: Option<String>,
    /// Standing instructions and preferences of the scopes, those that concern the question first, then the newest: at
    /// most `limits::STANDING_ENTRIES_MAX`. Their relevance is the share of the question's words that they have. An
    /// entry may be the same turn.
    pub standing: Vec<RecalledEntry>,
}
