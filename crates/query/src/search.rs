//! Search: words, meaning, neighbourhood and session in one score.
//!
//! The score of an event is the sum of four parts:
//! - `text`: its BM25 score over the greatest of any event, times the weight of text;
//! - `vector`: the cosine between its vector and the question's, scaled so that the greatest of any event is 1, the
//!   mean of 256 events spread evenly over all 0.1, and what is below that falls towards 0, times the weight of
//!   vectors;
//! - `neighbours`: a share of what the best event before it and the best event after it have of the two parts
//!   above, and half that share of what the best ones two steps before and after it have. Before and after are
//!   told by temporal-next edges;
//! - `session`: a share of what the best event of its session has of the two first parts; of an event in no
//!   session, of what it has itself. It adds to what has another part, and finds nothing alone.
//!
//! Cosines that tell no two events apart, as those of a brain's only vector, count for nothing beside words; without
//! words, every event whose vector is not of zeros then has 1 instead.
//!
//! The two weights are made to sum to 1; without words, or without a vector, the other has all of it. The
//! greatest score and the scale of the cosine are those of all events of the view, hidden ones
//! counted. An event that the selection leaves out neither is found nor lends, and no step leads over it.
//!
//! What was superseded is found as its newest head (`resolve`), which then has the score of the best that it
//! replaces, or its own if that is greater; if the selection leaves the head out, it is not found.
//!
//! How these defaults were chosen, and what they find: docs/decisions/0013-search-defaults.md.

use super::answer::{Answered, check_limit};
use super::fusion::Fusion;
use super::own::Own;
use super::selection::Selection;
use crate::embed::Embedder;
use amem_format::error::{Error, Result};
use amem_format::types::NodeId;
use amem_format::view::View;

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

/// The weights of text and of vectors unless told otherwise: 0.9 and 0.1 in the space of the built-in embedder,
/// whose vectors know words and little more; 0.4 and 0.6 in that of a model.
pub fn default_weights(view: &View) -> (f32, f32) {
    if view.identity().space == Embedder::builtin().space() {
        (0.9, 0.1)
    } else {
        (0.4, 0.6)
    }
}

/// The events found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Who answered.
    pub answered: Answered,
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

impl Search {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Ranking> {
        check_limit(self.limit)?;
        self.check_weights()?;
        if self.question.is_empty() && self.vector.is_empty() {
            return Err(Error::invalid("search", "neither a question nor a vector"));
        }
        let (text, vector) = default_weights(view);
        let weights = (
            self.text_weight.unwrap_or(text),
            self.vector_weight.unwrap_or(vector),
        );
        let own = Own::new(view, &self.question, &self.vector, weights)?;
        let hits = Fusion::new(view, self, &own)?.best(self.limit)?;
        Ok(Ranking {
            answered: Answered::by(view),
            hits,
        })
    }

    fn check_weights(&self) -> Result<()> {
        let weights = [self.text_weight, self.vector_weight];
        let mut given = weights.into_iter().flatten();
        if given.any(|weight| !weight.is_finite() || weight < 0.0) {
            let why = format!("{weights:?} are not both numbers from 0 on");
            return Err(Error::invalid("the weights of text and vectors", why));
        }
        for (what, share) in [
            ("neighbour_share", self.neighbour_share),
            ("session_share", self.session_share),
        ] {
            if !(0.0..=1.0).contains(&share) {
                let why = format!("{share} is not within 0 and 1");
                return Err(Error::invalid(what, why));
            }
        }
        Ok(())
    }
}
