//! Similar: the events whose vectors point in the same direction.
//!
//! An exact answer equals a comparison with every vector, to the bit, although few are read (`amem_format::nearest`).
//! An approximate answer may miss some hits, as long as the brain's IVF lists keep their recall. Events without a
//! vector, or with a zero vector, never match.

use super::cosines;
use crate::answer::{AnswerStamp, check_limit, check_share};
use crate::planner::scope::Sight;
use crate::planner::selected::PlannedSelection;
use crate::planner::selection::Selection;
use amem_format::error::{Error, Result};
use amem_format::nearest::{Query, Rate, exact, probe};
use amem_format::top::{ScoredEvent, Top};
use amem_format::types::NodeId;
use amem_format::vectors::{self, UnitVector, Vectors};
use amem_format::view::View;

/// What events are compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum SimilarityTarget {
    /// A vector in the brain's vector space.
    Vector(Vec<f32>),
    /// The vector of an event; the answer leaves out the event itself.
    Event(NodeId),
}

/// Finds events by the cosine between vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct Similar {
    /// What to compare with.
    pub like: SimilarityTarget,
    /// The events to search.
    pub selection: Selection,
    /// Maximum hits, 1 to `limits::PAGE_MAX`; default 10.
    pub limit: usize,
    /// Minimum similarity, −1 to 1.
    pub min_similarity: Option<f32>,
    /// Minimum relevance, 0 to 1 (`SimilarHits::relevance`).
    pub min_relevance: Option<f32>,
    /// Allow a faster answer that misses about one in a hundred of the best hits, as measured when the base was made
    /// with the brain's own vectors as questions. The answer is exact if the index cannot keep that recall or the
    /// selection leaves too few hits.
    pub approximate: bool,
}

impl Default for Similar {
    fn default() -> Self {
        Self {
            like: SimilarityTarget::Vector(Vec::new()),
            selection: Selection::default(),
            limit: 10,
            min_similarity: None,
            min_relevance: None,
            approximate: false,
        }
    }
}

/// The most similar events.
#[derive(Debug, Clone, PartialEq)]
pub struct SimilarHits {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// True if no hit was missed.
    pub is_exact: bool,
    /// Events with their similarity, −1 to 1, the greatest first; of equals, the highest id.
    pub hits: Vec<(NodeId, f32)>,
}

/// The state of a running query.
struct SimilarityScan<'a, 'v> {
    vectors: &'a Vectors<'v>,
    direction: &'a UnitVector,
    selected: PlannedSelection<'v>,
    least: f32,
    itself: Option<NodeId>,
}

impl SimilarityScan<'_, '_> {
    /// Keeps an event if it is among the best and selected. Most events are not among the best, so that is checked
    /// first.
    fn compare(&mut self, id: u32, vector: &[f32], inverse: f32, top: &mut Top) -> Result<()> {
        let Some(score) = self.direction.cosine(vector, inverse)? else {
            return Ok(());
        };
        let (scored, node) = (ScoredEvent { score, id }, NodeId(id.into()));
        if score >= self.least
            && top.takes(scored)
            && Some(node) != self.itself
            && self.selected.admits_id(node)?
        {
            top.push(scored);
        }
        Ok(())
    }
}

impl Rate for SimilarityScan<'_, '_> {
    fn expect(&self, id: u32) {
        self.vectors.expect(id);
    }

    fn rate(&mut self, id: u32, top: &mut Top) -> Result<()> {
        match self.vectors.placed(id) {
            Some((vector, inverse)) => self.compare(id, vector, inverse, top),
            None => Ok(()),
        }
    }
}

impl Similar {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<SimilarHits> {
        check_limit(self.limit)?;
        let mut least = self.min_similarity.unwrap_or(-1.0);
        if !(-1.0..=1.0).contains(&least) {
            let why = format!("{least} is not between -1 and 1");
            return Err(Error::invalid("min_similarity", why));
        }
        let (direction, itself) = self.direction(view)?;
        let selected = PlannedSelection::new(view, &self.selection, view.nodes())?;
        let (driver, shortest) = selected.driver()?;
        let vectors = Vectors::new(view)?;
        if let Some(relevance) = self.min_relevance {
            check_share("min_relevance", relevance)?;
            let mean = self.mean(view, &vectors, &direction)?;
            least = least.max(cosines::of_relevance(relevance, mean));
        }
        let mut asked = SimilarityScan {
            vectors: &vectors,
            direction: &direction,
            selected,
            least,
            itself,
        };
        let mut top = Top::new(self.limit);
        // Sequential reads are ten times faster than random ones.
        let mut is_exact = true;
        if shortest < view.nodes() / 8 {
            let mut walk = driver.walk(asked.selected.ids.clone(), false);
            while let Some(id) = walk.next()? {
                vectors.look_at(id.0 as u32, &mut |id, vector, inverse| {
                    asked.compare(id, vector, inverse, &mut top)
                })?;
            }
        } else {
            vectors.for_each_moved(|id, vector, inverse| {
                asked.compare(id, vector, inverse, &mut top)
            })?;
            is_exact = self.in_place(view, &mut asked, &mut top)?;
        }
        Ok(SimilarHits {
            answered: AnswerStamp::by(view),
            is_exact,
            hits: top
                .into_sorted()
                .map(|(id, score)| (NodeId(id.into()), score))
                .collect(),
        })
    }

    /// The mean cosine of a sample of the scope's events.
    fn mean(&self, view: &View, vectors: &Vectors<'_>, direction: &UnitVector) -> Result<f32> {
        let scope = self.selection.scope.events(view)?;
        let ids = scope.as_ref().map(|scope| scope.ids.as_slice());
        let mean = cosines::mean_of_sample(view, ids, vectors, direction)?;
        Ok(mean.unwrap_or_default())
    }

    /// The relevance of hits of this query, in their order: the part of the way from the mean cosine of the scope's
    /// events (a sample of them) to 1, from 0 to 1.
    pub fn relevance(&self, view: &View, hits: &SimilarHits) -> Result<Vec<f32>> {
        let (direction, _) = self.direction(view)?;
        let mean = self.mean(view, &Vectors::new(view)?, &direction)?;
        let similarities = hits.hits.iter().map(|hit| hit.1);
        Ok(similarities
            .map(|cosine| cosines::relevance(cosine, mean))
            .collect())
    }

    /// Finds the best of the events whose vectors are in the base; true if the result is exact.
    fn in_place(
        &self,
        view: &View,
        asked: &mut SimilarityScan<'_, '_>,
        top: &mut Top,
    ) -> Result<bool> {
        let count = asked.vectors.in_place();
        let base = view.brain().base();
        let Some(codes) = base.codes()?.filter(|_| count > 0) else {
            return Ok(true);
        };
        let query = Query::new(asked.direction.unit(), &codes);
        let least = asked.least;
        if self.approximate && codes.ivf.probes > 0 {
            let before = top.clone();
            if probe::best(&codes, &query, count, self.limit, top, asked)? {
                return Ok(false);
            }
            *top = before;
        }
        exact::best(&codes, &query, count as usize, least, top, asked)?;
        Ok(true)
    }

    /// The direction to compare with, and the event that it comes from.
    fn direction(&self, view: &View) -> Result<(UnitVector, Option<NodeId>)> {
        let no_direction = |what, why| Error::invalid(what, why);
        match &self.like {
            SimilarityTarget::Vector(vector) => {
                vectors::check(view, vector)?;
                let direction = UnitVector::of(vector).ok_or_else(|| {
                    no_direction(
                        "vector",
                        "it is all zeros, so it has no direction to compare",
                    )
                })?;
                Ok((direction, None))
            }
            SimilarityTarget::Event(id) => {
                let selection = &self.selection;
                let sight = Sight::new(&selection.scope, selection.include_forgotten)?;
                let node = sight.open(view, *id)?;
                let direction = node.vector()?.and_then(UnitVector::of).ok_or_else(|| {
                    let why = format!("{id} has no vector: set one, or search by its text");
                    Error::invalid("event", why)
                })?;
                Ok((direction, Some(*id)))
            }
        }
    }
}

#[cfg(test)]
mod tests;
