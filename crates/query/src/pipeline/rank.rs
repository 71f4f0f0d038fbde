//! Scores of rows: a weighted sum of what is known of an event.

use super::row::{PipelineRow, ScoreParts};
use crate::planner::order::Axis;
use crate::planner::subject::Strength;
use amem_format::error::{Error, Result};
use amem_format::types::Micros;
use amem_format::view::View;

/// By what rows are ranked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBy {
    /// What each part weighs.
    pub weights: RankWeights,
    /// After how many days an event is half as recent; 30 unless told otherwise.
    pub half_life_days: f32,
    /// By which of its times an event is recent: recorded, unless told otherwise.
    pub axis: Axis,
    /// Strength is that of this time instead of the last decay run.
    pub strength_at: Option<Micros>,
}

/// What each part weighs, from 0; one of them more than 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    /// Of what the source says, at most 1; weighs 1 unless told otherwise, and the others nothing.
    pub found: f32,
    /// Of effective confidence, 0 to 1.
    pub confidence: f32,
    /// Of strength, 0 to 1.
    pub strength: f32,
    /// Of 2^(−age / half-life), 0 to 1: the age is told from the moment that the view is of.
    pub recency: f32,
    /// Of 1 / (1 + edges from the row of a source).
    pub nearness: f32,
}

impl Default for RankWeights {
    fn default() -> Self {
        Self {
            found: 1.0,
            confidence: 0.0,
            strength: 0.0,
            recency: 0.0,
            nearness: 0.0,
        }
    }
}

impl Default for RankBy {
    fn default() -> Self {
        Self {
            weights: RankWeights::default(),
            half_life_days: 30.0,
            axis: Axis::Recorded,
            strength_at: None,
        }
    }
}

impl RankBy {
    pub(super) fn check(&self) -> Result<()> {
        let RankWeights {
            found,
            confidence,
            strength,
            recency,
            nearness,
        } = self.weights;
        let weights = [found, confidence, strength, recency, nearness];
        if weights.iter().any(|w| !w.is_finite() || *w < 0.0) {
            let why = format!("{weights:?} are not all numbers from 0 on");
            return Err(Error::invalid("the weights of a rank", why));
        }
        if weights.iter().all(|w| *w == 0.0) {
            let why = "all are 0: say by what rows are ranked";
            return Err(Error::invalid("the weights of a rank", why));
        }
        if !self.half_life_days.is_finite() || self.half_life_days <= 0.0 {
            let why = format!("{} is not a number above 0", self.half_life_days);
            return Err(Error::invalid("half_life_days", why));
        }
        Ok(())
    }

    /// Gives rows their scores, and puts them in order.
    pub(super) fn apply(
        &self,
        view: &View,
        rows: &mut [PipelineRow],
        order: &mut [usize],
    ) -> Result<()> {
        let strength = Strength::new(view, self.strength_at)?;
        let now = view.moment().1;
        for &at in order.iter() {
            let row = &mut rows[at];
            let node = view.node(row.id)?;
            let time = match self.axis {
                Axis::Recorded => node.created_at(),
                Axis::Happened => node.happened()?,
            };
            row.parts = ScoreParts {
                found: self.weights.found * row.found,
                confidence: self.weights.confidence * node.confidence(),
                strength: self.weights.strength * strength.of(&node),
                recency: self.weights.recency * self.recency(now, time),
                nearness: self.weights.nearness / (1.0 + row.depth as f32),
            };
            row.score = row.parts.sum();
        }
        order.sort_by(|&a, &b| {
            let (a, b) = (&rows[a], &rows[b]);
            b.score.total_cmp(&a.score).then(b.id.cmp(&a.id))
        });
        Ok(())
    }

    fn recency(&self, now: Micros, time: Micros) -> f32 {
        let age = now.0.saturating_sub(time.0).max(0) as f64 / Micros::DAY as f64;
        (-age / f64::from(self.half_life_days)).exp2() as f32
    }
}
