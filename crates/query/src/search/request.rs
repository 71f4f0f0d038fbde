//! The request and the answer of a search.

use crate::answer::AnswerStamp;
use crate::planner::selection::Selection;
use crate::time_phrase::Clock;
use amem_format::types::NodeId;

/// Finds events by words, by a vector, or by both.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The question in words; empty for none.
    pub question: String,
    /// The question as a vector of the brain's space; empty for none.
    pub vector: Vec<f32>,
    /// The events to search.
    pub selection: Selection,
    /// Maximum hits, 1 to `limits::PAGE_MAX`; default 10.
    pub limit: usize,
    /// The weight of text, 0 or more; default `default_weights`.
    pub text_weight: Option<f32>,
    /// The weight of vectors, 0 or more; default `default_weights`.
    pub vector_weight: Option<f32>,
    /// The share of its base score that a neighbour spreads, 0 to 1; default 0.25. One two steps away spreads half of
    /// it.
    pub neighbour_share: f32,
    /// The share that the best event of a session spreads, 0 to 1; default 0.25.
    pub session_share: f32,
    /// The share of its base score that a short question adds to the event behind it, 0 to 1; default 0.25. Above 0, a
    /// short question's own score is damped: its answer is worth more than itself.
    pub question_share: f32,
    /// What is added to 1 for the events of a speaker whom the question names, or whose role it means, 0 or more;
    /// default 0.5.
    pub speaker_boost: f32,
    /// What is added to 1 for the events of a time that the question names, 0 or more; default 0.5.
    pub time_boost: f32,
    /// The present and the zone of who asks: without a present only times that need none are read in the question,
    /// without a zone in UTC.
    pub clock: Clock,
    /// Return superseded events themselves, beside their heads.
    pub include_superseded: bool,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            question: String::new(),
            vector: Vec::new(),
            selection: Selection::default(),
            limit: 10,
            text_weight: None,
            vector_weight: None,
            neighbour_share: 0.25,
            session_share: 0.25,
            question_share: 0.25,
            speaker_boost: 0.5,
            time_boost: 0.5,
            clock: Clock::default(),
            include_superseded: false,
        }
    }
}

/// The hits of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The greatest score first; of equals, the highest id found. Every score is above 0.
    pub hits: Vec<Hit>,
}

/// A hit, and the parts of its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The event.
    pub id: NodeId,
    /// The event that the parts describe: the hit itself or, with a greater score, an event that it replaces.
    pub found: NodeId,
    /// `(text + vector + neighbours + session) · speaker · time`, computed in this order.
    pub score: f32,
    /// The part of its words.
    pub text: f32,
    /// The part of its vector.
    pub vector: f32,
    /// The part of its neighbours.
    pub neighbours: f32,
    /// The part of its session.
    pub session: f32,
    /// The factor of its speaker: 1, or more if the question means who spoke.
    pub speaker: f32,
    /// The factor of its time: 1, or more if the question names a time that it is near.
    pub time: f32,
}
