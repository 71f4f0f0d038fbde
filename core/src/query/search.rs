//! Search: words, meaning and neighbourhood in one score.
//!
//! The score of an event is the sum of three parts:
//! - `text`: its BM25 score over the greatest of any event, times the weight of text;
//! - `vector`: the cosine between its vector and the question's, both seen from the mean of all vectors,
//!   scaled so that the smallest of any event is 0 and the greatest 1, times the weight of vectors;
//! - `neighbours`: a share of what the best event before it and the best event after it have of the two parts
//!   above. Before and after are told by temporal-next edges.
//!
//! The two weights are made to sum to 1; without words, or without a vector, the other has all of it. The
//! greatest score, the extremes of the cosine and the mean are those of all events of the view, hidden ones
//! counted. An event that the selection leaves out neither is found nor lends.
//!
//! The way of scaling, the weights and the share are those that did best on three sets of conversations
//! (weighted sum against reciprocal ranks; 0.4 and 0.6; a fifth).

use std::collections::HashSet;

use super::answer::{Answered, check_limit};
use super::fusion::Fusion;
use super::selected::Selected;
use super::selection::Selection;
use super::text;
use super::vectors::{self, Direction, Vectors};
use crate::error::{Error, Result};
use crate::text::{Scored, Scores};
use crate::types::{Flags, NodeId};
use crate::view::View;

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
    /// The weight of text, from 0; 0.4 unless told otherwise.
    pub text_weight: f32,
    /// The weight of vectors, from 0; 0.6 unless told otherwise.
    pub vector_weight: f32,
    /// What a neighbour lends of its score, 0 to 1; 0.2 unless told otherwise.
    pub neighbour_share: f32,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            question: String::new(),
            vector: Vec::new(),
            selection: Selection::default(),
            limit: 10,
            text_weight: 0.4,
            vector_weight: 0.6,
            neighbour_share: 0.2,
        }
    }
}

/// The events found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Who answered.
    pub answered: Answered,
    /// The greatest score first; of equals, the highest id. Every score is above 0.
    pub hits: Vec<Hit>,
}

/// An event found, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The event.
    pub id: NodeId,
    /// `text + vector + neighbours`, added in this order.
    pub score: f32,
    /// What its words add.
    pub text: f32,
    /// What its vector adds.
    pub vector: f32,
    /// What its neighbours lend.
    pub neighbours: f32,
}

impl Search {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Ranking> {
        check_limit(self.limit)?;
        self.check_weights()?;
        if self.question.is_empty() && self.vector.is_empty() {
            return Err(Error::invalid("search", "neither a question nor a vector"));
        }
        let own = self.own(view)?;
        let selected = Selected::new(view, &self.selection, view.nodes())?;
        let hits = Fusion::new(view, &own, selected, self.neighbour_share).best(self.limit)?;
        Ok(Ranking {
            answered: Answered::by(view),
            hits,
        })
    }

    fn check_weights(&self) -> Result<()> {
        let weights = [self.text_weight, self.vector_weight];
        if weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
            let why = format!("{weights:?} are not both numbers from 0 on");
            return Err(Error::invalid("the weights of text and vectors", why));
        }
        if !(0.0..=1.0).contains(&self.neighbour_share) {
            let why = format!("{} is not within 0 and 1", self.neighbour_share);
            return Err(Error::invalid("neighbour_share", why));
        }
        Ok(())
    }

    /// What each event has of its own.
    fn own(&self, view: &View) -> Result<Own> {
        let words = text::parse(&self.question)?;
        let scores = match words.is_empty() {
            true => Scores::default(),
            false => {
                let erased = erased_in_delta(view);
                view.texts()?.scores(&words, |id| erased.contains(&id))?
            }
        };
        let cosines = match self.vector.is_empty() {
            true => None,
            false => {
                vectors::check(view, &self.vector)?;
                Cosines::new(view, &self.vector)?
            }
        };
        let has_words = !words.is_empty();
        let given = |is_given: bool, weight: f32| if is_given { f64::from(weight) } else { 0.0 };
        let text = given(has_words, self.text_weight);
        let vector = given(cosines.is_some(), self.vector_weight);
        let part = |weight: f64| match text + vector {
            0.0 => 0.0,
            all => (weight / all) as f32,
        };
        Ok(Own {
            text_weight: part(text),
            vector_weight: part(vector),
            scores,
            cosines,
        })
    }
}

/// Events that were erased since the last base, whose words are still in its index.
fn erased_in_delta(view: &View) -> HashSet<u32> {
    let states = &view.brain().delta().events.states;
    let until = states.partition_point(states.len(), |state| state.lsn <= view.lsn());
    (0..until)
        .filter_map(|at| states.get(at))
        .filter(|state| state.flags.has(Flags::ERASED))
        .map(|state| state.node.0 as u32)
        .collect()
}

/// The cosine of every event, by id; not a number where there is none.
struct Cosines {
    of: Vec<f32>,
    least: f32,
    range: f32,
}

impl Cosines {
    /// `None` if the question is where the mean is, or there are no vectors.
    fn new(view: &View, question: &[f32]) -> Result<Option<Self>> {
        let vectors = Vectors::new(view)?;
        let Some(mean) = vectors.mean()? else {
            return Ok(None);
        };
        let Some(direction) = Direction::from_mean(question, mean) else {
            return Ok(None);
        };
        let mut of = vec![f32::NAN; view.nodes() as usize];
        let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
        vectors.for_each(|id, vector, inverse| {
            if inverse != 0.0
                && let Some(cosine) = direction.cosine(vector, inverse)?
            {
                of[id as usize] = cosine;
                (least, most) = (least.min(cosine), most.max(cosine));
            }
            Ok(())
        })?;
        let range = most - least;
        Ok((range > 0.0).then_some(Self { of, least, range }))
    }

    fn scaled(&self, id: u32) -> f32 {
        let cosine = self.of[id as usize];
        if cosine.is_nan() {
            0.0
        } else {
            (cosine - self.least) / self.range
        }
    }
}

/// What events have of their own.
pub(super) struct Own {
    text_weight: f32,
    vector_weight: f32,
    scores: Scores,
    cosines: Option<Cosines>,
}

impl Own {
    /// Text and vector.
    pub(super) fn parts(&self, id: u32) -> (f32, f32) {
        (self.text(self.scores.of(id)), self.vector(id))
    }

    fn text(&self, score: f32) -> f32 {
        if self.scores.max > 0.0 {
            self.text_weight * (score / self.scores.max)
        } else {
            0.0
        }
    }

    fn vector(&self, id: u32) -> f32 {
        let scaled = self.cosines.as_ref().map_or(0.0, |c| c.scaled(id));
        self.vector_weight * scaled
    }

    /// Every event that has something, and how much.
    pub(super) fn all(&self) -> Vec<Scored> {
        let mut said = self.scores.events.iter().copied().peekable();
        let mut all = Vec::new();
        let mut push = |score: f32, id: u32| {
            if score > 0.0 {
                all.push(Scored { score, id });
            }
        };
        match &self.cosines {
            None => said.for_each(|(id, score)| push(self.text(score), id)),
            Some(cosines) => {
                for id in 0..cosines.of.len() as u32 {
                    let score = said.next_if(|(at, _)| *at == id).map_or(0.0, |(_, s)| s);
                    push(self.text(score) + self.vector(id), id);
                }
            }
        }
        all
    }
}
