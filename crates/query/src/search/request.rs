//! What a search asks, and what it answers.

use crate::answer::AnswerStamp;
use crate::planner::selection::Selection;
use amem_format::types::NodeId;

/// Asks for events by words, by a vector, or by both.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The question in words; empty for none.
    pub question: String,
    /// The question as a vector of the brain's space; empty for none.
    pub vector: Vec<f32>,
    /// Which events.
    pub selection: Selection,
    /// Events of the answer, 1 to `limits::PAGE_MAX`; 10 unless told otherwise.
    pub limit: usize,
    /// The weight of text, from 0; that of the brain's vector space (`default_weights`) unless told otherwise.
    pub text_weight: Option<f32>,
    /// The weight of vectors, likewise.
    pub vector_weight: Option<f32>,
    /// What a neighbour lends of what it has of its own, 0 to 1; 0.25 unless told otherwise. One two steps away
    /// lends half of that share.
    pub neighbour_share: f32,
    /// What the best of a session lends, 0 to 1; 0.25 unless told otherwise.
    pub session_share: f32,
    /// Superseded events are found as they are, beside their heads.
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
            include_superseded: false,
        }
    }
}

/// The events found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Who answered.
    pub answered: AnswerStamp,
    /// The greatest score first; of equals, the highest id found. Every score is above 0.
    pub hits: Vec<Hit>,
}

/// An event found, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The event.
    pub id: NodeId,
    /// The event whose parts these are: itself or, if that has a greater score, one that it replaces.
    pub found: NodeId,
    /// `text + vector + neighbours + session`, added in this order.
    pub score: f32,
    /// What its words add.
    pub text: f32,
    /// What its vector adds.
    pub vector: f32,
    /// What its neighbours lend.
    pub neighbours: f32,
    /// What the best of its session lends.
    pub session: f32,
}
