//! Running a search: base scores, then score propagation.

use super::fusion::Fusion;
use super::request::{Ranking, Search};
use crate::answer::{AnswerStamp, check_limit, check_share};
use crate::embed::Embedder;
use crate::limits::BOOST_MAX;
use crate::planner::scope::Sight;
use crate::search::base_score::{BaseScores, SearchedEvents};
use crate::search::text;
use crate::text::Texts;
use amem_format::error::{Error, Result};
use amem_format::view::View;

/// The default weights of text and vectors: 0.9 and 0.1 in the space of the built-in embedder, whose vectors capture
/// little beyond words; 0.6 and 0.4 in that of a model.
pub fn default_weights(view: &View) -> (f32, f32) {
    if view.identity().space == Embedder::builtin().space() {
        (0.9, 0.1)
    } else {
        (0.6, 0.4)
    }
}

impl Search {
    /// Runs the query on a view.
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
        let scope = self.selection.scope.events(view)?;
        let words = text::parse(&self.question)?;
        let mut terms = Texts::of(view, scope.clone())?.find(&words)?;
        let few = self.candidates(view, scope.as_deref())?;
        let searched = SearchedEvents {
            scope: scope.as_ref(),
            few: few.as_ref(),
        };
        let base_scores = BaseScores::new(view, searched, &mut terms, self, weights)?;
        let sight = Sight::within(
            &self.selection.scope,
            self.selection.include_forgotten,
            scope.clone(),
        )?;
        let mut fusion = Fusion::new(view, self, &base_scores, &sight, few.or(scope))?;
        let mut hits = fusion.best(self.limit)?;
        hits.truncate(self.limit);
        fusion.add_relevance(&mut hits, &mut terms)?;
        hits.retain(|hit| hit.relevance.value >= self.min_relevance);
        Ok(Ranking {
            answered: AnswerStamp::by(view),
            hits,
        })
    }

    fn check_weights(&self) -> Result<()> {
        let weights = [self.text_weight, self.vector_weight];
        let mut given = weights.into_iter().flatten();
        if given.any(|weight| !weight.is_finite() || weight < 0.0) {
            let why = format!("{weights:?} are not both numbers of 0 or more");
            return Err(Error::invalid("the weights of text and vectors", why));
        }
        for (what, share) in [
            ("neighbour_share", self.neighbour_share),
            ("session_share", self.session_share),
            ("question_share", self.question_share),
            ("tie_margin", self.tie_margin),
            ("min_relevance", self.min_relevance),
        ] {
            check_share(what, share)?;
        }
        for (what, boost) in [
            ("speaker_boost", self.speaker_boost),
            ("time_boost", self.time_boost),
        ] {
            if !(0.0..=BOOST_MAX).contains(&boost) {
                let why = format!("{boost} is not between 0 and {BOOST_MAX}");
                return Err(Error::invalid(what, why));
            }
        }
        let half_life = self.recency_half_life;
        if !half_life.is_finite() || half_life < 0.0 {
            let why = format!("{half_life} is not a number of days: give 0 or more");
            return Err(Error::invalid("recency_half_life", why));
        }
        Ok(())
    }
}
