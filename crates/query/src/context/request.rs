//! The request and the answer of a context.

use crate::answer::AnswerStamp;
use crate::graph::marks::BeliefMark;
use crate::planner::selection::Selection;
use crate::search::LIKELY_RELEVANCE;
use crate::time_phrase::Clock;
use amem_format::types::NodeId;

/// Builds a text of what a brain knows about a question.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextRequest {
    /// The question in words; empty for none.
    pub question: String,
    /// The question as a vector of the brain's space; empty for none.
    pub vector: Vec<f32>,
    /// The events to search. Only scope and forgetting restrict what replaced them and what explains them.
    pub selection: Selection,
    /// Maximum tokens, 1 to `limits::CONTEXT_TOKENS_MAX`; default 2,000.
    pub budget: usize,
    /// Maximum search hits to consider, 1 to `limits::CONTEXT_CANDIDATES_MAX`; default 200, and 1,000 for a budget of
    /// more than 4,000 tokens.
    pub candidates: Option<usize>,
    /// Maximum edges from an event to what explains it, at most `limits::DEPTH_MAX`; default 2, 0 for no explanations.
    /// Considers the nearest `limits::CONTEXT_REASONS_MAX` explanations of an event.
    pub reasons_depth: u32,
    /// The context is empty unless one of the first 20 hits has at least this relevance, 0 to 1; default
    /// `LIKELY_RELEVANCE`: nothing rather than noise.
    pub min_relevance: f32,
    /// The present and the zone of who asks: times in the question refer to them, and dates in the text are those of
    /// the zone; UTC without one.
    pub clock: Clock,
}

impl Default for ContextRequest {
    fn default() -> Self {
        Self {
            question: String::new(),
            vector: Vec::new(),
            selection: Selection::default(),
            budget: 2_000,
            candidates: None,
            reasons_depth: 2,
            min_relevance: LIKELY_RELEVANCE,
            clock: Clock::default(),
        }
    }
}

/// An event that was packed or left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackedEvent {
    /// The event.
    pub id: NodeId,
    /// The hit: the event itself, or an event that it replaced; for an explanation, the event itself.
    pub found: NodeId,
    /// The packed event that it explains; none for a hit.
    pub explains: Option<NodeId>,
    /// Its score.
    pub score: f32,
    /// The tokens that it adds; the first event's include the heading. Of an event that is left out, about what it
    /// would add.
    pub tokens: usize,
    /// Whether it is contested or superseded.
    pub mark: BeliefMark,
    /// Whether the line leaves out parts of the event's text.
    pub is_excerpt: bool,
}

/// A context.
#[derive(Debug, Clone, PartialEq)]
pub struct PackedContext {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The text; empty if no event was found or none fits.
    pub text: String,
    /// The tokens of the text (`count_tokens`), at most the budget: the sum over `items`.
    pub tokens: usize,
    /// The greatest relevance of the first 20 hits; 0 without a hit.
    pub relevance: f32,
    /// The packed events, in order.
    pub items: Vec<PackedEvent>,
    /// The events that did not fit, in packing order. Explanations of these are not searched.
    pub left_out: Vec<PackedEvent>,
}
