//! What events have of their own for a search: what their words and their vector add to a score.

use std::collections::HashSet;

use super::text;
use super::vectors::{self, Direction, Vectors};
use crate::error::Result;
use crate::text::{Scored, Scores};
use crate::types::Flags;
use crate::view::View;

/// What events have of their own.
pub(super) struct Own {
    text_weight: f32,
    vector_weight: f32,
    scores: Scores,
    cosines: Option<Cosines>,
    /// By id, text and vector of every event; only if vectors count, otherwise few events have anything.
    sums: Vec<f32>,
}

impl Own {
    /// Of every event of a view. The two weights are made to sum to 1; without words, or without cosines that tell events
    /// apart, the other has all of it.
    pub(super) fn new(
        view: &View,
        question: &str,
        vector: &[f32],
        weights: (f32, f32),
    ) -> Result<Self> {
        let words = text::parse(question)?;
        let scores = match words.is_empty() {
            true => Scores::default(),
            false => {
                let erased = erased_in_delta(view);
                view.texts()?.scores(&words, |id| erased.contains(&id))?
            }
        };
        let cosines = match vector.is_empty() {
            true => None,
            false => {
                vectors::check(view, vector)?;
                let vectors = Vectors::new(view)?;
                match Cosines::new(view, &vectors, vector)? {
                    None if words.is_empty() => Some(Cosines::all_alike(view, &vectors)?),
                    cosines => cosines,
                }
            }
        };
        let given = |is_given: bool, weight: f32| if is_given { f64::from(weight) } else { 0.0 };
        let text = given(!words.is_empty(), weights.0);
        let vector = given(cosines.is_some(), weights.1);
        let part = |weight: f64| match text + vector {
            0.0 => 0.0,
            all => (weight / all) as f32,
        };
        let mut own = Self {
            text_weight: part(text),
            vector_weight: part(vector),
            scores,
            cosines,
            sums: Vec::new(),
        };
        own.sums = own.add_up();
        Ok(own)
    }

    fn add_up(&self) -> Vec<f32> {
        let Some(cosines) = &self.cosines else {
            return Vec::new();
        };
        let ids = 0..cosines.of.len() as u32;
        let mut sums: Vec<f32> = ids.map(|id| self.vector(id)).collect();
        for &(id, score) in &self.scores.events {
            if let Some(sum) = sums.get_mut(id as usize) {
                *sum = self.text(score) + self.vector(id);
            }
        }
        sums
    }

    /// Text and vector.
    pub(super) fn parts(&self, id: u32) -> (f32, f32) {
        (self.text(self.scores.of(id)), self.vector(id))
    }

    /// Their sum.
    pub(super) fn sum(&self, id: u32) -> f32 {
        match self.cosines {
            None => self.text(self.scores.of(id)),
            Some(_) => self.sums.get(id as usize).copied().unwrap_or_default(),
        }
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
        let scored = |(id, score): (u32, f32)| (score > 0.0).then_some(Scored { score, id });
        match self.cosines {
            None => {
                let said = self.scores.events.iter();
                said.filter_map(|&(id, score)| scored((id, self.text(score))))
                    .collect()
            }
            Some(_) => (0..)
                .zip(self.sums.iter().copied())
                .filter_map(scored)
                .collect(),
        }
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
    /// `None` if they tell no two events apart: all are equal, the question is where the mean is, or every vector is.
    fn new(view: &View, vectors: &Vectors<'_>, question: &[f32]) -> Result<Option<Self>> {
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

    /// As if every vector that is not of zeros were the greatest: where nothing else was asked for, a brain's only vector
    /// is found, and so are those that all are the same.
    fn all_alike(view: &View, vectors: &Vectors<'_>) -> Result<Self> {
        let mut of = vec![f32::NAN; view.nodes() as usize];
        vectors.for_each(|id, _, inverse| {
            if inverse != 0.0 {
                of[id as usize] = 1.0;
            }
            Ok(())
        })?;
        let (least, range) = (0.0, 1.0);
        Ok(Self { of, least, range })
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
