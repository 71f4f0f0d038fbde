//! Base scores: what an event's own words and vector add to its score.
//!
//! For most events only an upper bound is known, from their quantised vectors. `sum` and `parts` are exact and read a
//! vector.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use crate::embed::Embedder;
use crate::nearest::cosines::{self, Cosines};
use crate::search::request::Search;
use crate::text::{FoundTerms, Scores};
use amem_format::brain::ScopeList;
use amem_format::error::Result;
use amem_format::top::ScoredEvent;
use amem_format::types::Flags;
use amem_format::view::View;
use amem_kernels::Kernels;

/// Events per bucket of text scores.
const BUCKET_EVENTS: usize = 64;

/// The events that are searched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SearchedEvents<'a> {
    /// Those of the scope; `None` for all.
    pub(super) scope: Option<&'a Arc<ScopeList>>,
    /// The few of them that may be found; `None` for all.
    pub(super) few: Option<&'a Arc<ScopeList>>,
}

/// The base scores of all events of a view.
pub(super) struct BaseScores<'v> {
    text_weight: f32,
    vector_weight: f32,
    scores: Scores,
    /// Start of each bucket in the text scores; empty in a scope, which has few.
    buckets: Vec<u32>,
    cosines: Option<Cosines<'v>>,
    /// The events that may score; `None` for all.
    scope: Option<Arc<ScopeList>>,
    /// Upper bounds of text plus vector, by id, or by place in the scope; empty if vectors do not count, as then few
    /// events score.
    upper_bounds: Vec<f32>,
    /// The vectors say more than the words do.
    has_meaning: bool,
}

impl<'v> BaseScores<'v> {
    /// Computes the text scores and bounds of a view, of a scope's events only if there is one, and of few of them if
    /// others cannot be found; what the scores are relative to is that of the scope. The weights are
    /// normalised to sum to 1; without words, or without cosines that distinguish events, the other has all of it.
    pub(super) fn new(
        view: &'v View,
        searched: SearchedEvents<'_>,
        terms: &mut FoundTerms<'v>,
        search: &Search,
        weights: (f32, f32),
    ) -> Result<Self> {
        let SearchedEvents { scope, few } = searched;
        let has_words = terms.has_words();
        let scores = if has_words {
            let erased = erased_in_delta(view);
            match few {
                Some(few) => terms.scores_of(&few.ids, |id| erased.contains(&id))?,
                None => terms.scores(|id| erased.contains(&id))?,
            }
        } else {
            Scores::default()
        };
        let is_builtin = view.identity().space == Embedder::builtin().space();
        let ids = scope.map(|scope| scope.ids.as_slice());
        let few_ids = few.map(|few| few.ids.as_slice());
        let listed = few.or(scope);
        let centred = match search.centred && !is_builtin && !search.vector.is_empty() {
            true => cosines::centred(view, ids, &search.vector)?,
            false => None,
        };
        let vector = centred.as_deref().unwrap_or(&search.vector);
        let mut upper_bounds = Vec::new();
        let cosines = if vector.is_empty() {
            None
        } else {
            match Cosines::new(view, ids, few_ids, vector, &mut upper_bounds)? {
                None if !has_words => {
                    let ids = few_ids.or(ids);
                    Some(Cosines::all_equal(view, ids, &mut upper_bounds)?)
                }
                cosines => cosines,
            }
        };
        let given = |is_given: bool, weight: f32| if is_given { f64::from(weight) } else { 0.0 };
        let text = given(has_words, weights.0);
        let vector = given(cosines.is_some(), weights.1);
        let part = |weight: f64| match text + vector {
            0.0 => 0.0,
            all => (weight / all) as f32,
        };
        let mut base = Self {
            text_weight: part(text),
            vector_weight: part(vector),
            buckets: match listed {
                Some(_) => Vec::new(),
                None => buckets(&scores, view.nodes()),
            },
            scope: listed.cloned(),
            scores,
            cosines,
            upper_bounds,
            has_meaning: !is_builtin || !has_words,
        };
        base.add_text_bounds();
        Ok(base)
    }

    /// Adds text scores to the bounds of cosines.
    fn add_text_bounds(&mut self) {
        let Some(cosines) = &self.cosines else {
            self.upper_bounds = Vec::new();
            return;
        };
        cosines.scale_bounds(self.vector_weight, &mut self.upper_bounds);
        for &(id, score) in &self.scores.events {
            let text = self.text(score);
            if let Some(bound) =
                place(self.scope.as_deref(), id).and_then(|at| self.upper_bounds.get_mut(at))
            {
                *bound += text;
            }
        }
    }

    /// The BM25 score of an event; 0 if it contains no term.
    fn score(&self, id: u32) -> f32 {
        if self.scope.is_some() {
            let events = &self.scores.events;
            let found = events.binary_search_by_key(&id, |entry| entry.0);
            return found.map_or(0.0, |at| events[at].1);
        }
        let bucket = id as usize / BUCKET_EVENTS;
        let Some(&[from, until]) = self.buckets.get(bucket..bucket + 2) else {
            return 0.0;
        };
        let mut within = self.scores.events[from as usize..until as usize].iter();
        within
            .find(|entry| entry.0 == id)
            .map_or(0.0, |entry| entry.1)
    }

    /// The text part and the vector part.
    pub(super) fn parts(&self, id: u32) -> Result<(f32, f32)> {
        Ok((self.text(self.score(id)), self.vector(id)?))
    }

    /// The part of an event's vector in its relevance.
    pub(super) fn meaning(&self, id: u32) -> Result<f32> {
        match &self.cosines {
            Some(cosines) if self.has_meaning => cosines.relevance(id),
            _ => Ok(0.0),
        }
    }

    /// The base score.
    pub(super) fn sum(&self, id: u32) -> Result<f32> {
        let (text, vector) = self.parts(id)?;
        Ok(text + vector)
    }

    /// An upper bound of the base score.
    pub(super) fn upper_bound(&self, id: u32) -> f32 {
        match self.cosines {
            None => self.text(self.score(id)),
            Some(_) => {
                let at = place(self.scope.as_deref(), id);
                let bound = at.and_then(|at| self.upper_bounds.get(at));
                bound.copied().unwrap_or_default()
            }
        }
    }

    /// Upper bounds of the base scores of all events that may score, in the order of `event`.
    pub(super) fn upper_bounds(&self) -> Cow<'_, [f32]> {
        match self.cosines {
            Some(_) => Cow::Borrowed(&self.upper_bounds),
            None => self.text_scores().map(|(_, text)| text).collect(),
        }
    }

    /// The event at a place of `upper_bounds`.
    pub(super) fn event(&self, at: usize) -> u32 {
        match (&self.cosines, &self.scope) {
            (None, _) => self.scores.events[at].0,
            (Some(_), None) => at as u32,
            (Some(_), Some(scope)) => scope.ids[at],
        }
    }

    /// The events whose bounds reach `low`, with their bounds; `None` if they are more than `most`.
    pub(super) fn reaching(&self, low: f32, most: usize) -> Option<Vec<ScoredEvent>> {
        let mut found = Vec::new();
        let mut count = 0;
        let mut take = |score: f32, id: u32| {
            count += 1;
            if count <= most {
                found.push(ScoredEvent { score, id });
            }
        };
        let bounds = self.upper_bounds();
        Kernels::best().reaching(&bounds, low, &mut |at| take(bounds[at], self.event(at)));
        (count <= most).then_some(found)
    }

    /// The events that contain a term, with their text parts.
    fn text_scores(&self) -> impl Iterator<Item = (u32, f32)> {
        self.scores
            .events
            .iter()
            .map(|&(id, score)| (id, self.text(score)))
    }

    fn text(&self, score: f32) -> f32 {
        if self.scores.max > 0.0 {
            self.text_weight * (score / self.scores.max)
        } else {
            0.0
        }
    }

    fn vector(&self, id: u32) -> Result<f32> {
        match &self.cosines {
            None => Ok(0.0),
            Some(cosines) => Ok(self.vector_weight * cosines.scaled(id)?),
        }
    }
}

/// The place of an event's bound: its id, or its place in the scope.
fn place(scope: Option<&ScopeList>, id: u32) -> Option<usize> {
    match scope {
        None => Some(id as usize),
        Some(scope) => scope.ids.binary_search(&id).ok(),
    }
}

/// The start of each bucket in the text scores, and the end.
fn buckets(scores: &Scores, nodes: u64) -> Vec<u32> {
    let mut starts = vec![0; (nodes as usize).div_ceil(BUCKET_EVENTS) + 1];
    for &(id, _) in &scores.events {
        if let Some(start) = starts.get_mut(id as usize / BUCKET_EVENTS + 1) {
            *start += 1;
        }
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    starts
}

/// Events erased since the last checkpoint: the index still has their terms.
fn erased_in_delta(view: &View) -> HashSet<u32> {
    let states = &view.brain().delta().events.states;
    let until = states.partition_point(states.len(), |state| state.lsn <= view.lsn());
    (0..until)
        .filter_map(|at| states.get(at))
        .filter(|state| state.flags.has(Flags::ERASED))
        .map(|state| state.node.0 as u32)
        .collect()
}
