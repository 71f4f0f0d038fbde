//! Scores of rows: a weighted sum of properties of an event.

use super::row::{PipelineRow, ScoreParts};
use crate::planner::order::Axis;
use crate::planner::subject::Strength;
use amem_format::error::{Error, Result};
use amem_format::types::Micros;
use amem_format::view::View;

/// How rows are scored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBy {
    /// The weights.
    pub weights: RankWeights,
    /// Days after which recency halves; default 30.
    pub half_life_days: f32,
    /// The time that recency uses; default `Recorded`.
    pub axis: Axis,
    /// Use the strength at this time instead of that of the last decay run.
    pub strength_at: Option<Micros>,
}

/// Weights, 0 or more; at least one above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankWeights {
    /// The weight of relevance, which is 0 to 1. Default 1; all others default to 0.
    pub found: f32,
    /// The weight of effective confidence, 0 to 1.
    pub confidence: f32,
    /// The weight of strength, 0 to 1.
    pub strength: f32,
    /// The weight of 2^(−age / half-life), 0 to 1; age counts from the view's moment.
    pub recency: f32,
    /// The weight of 1 / (1 + edges from a source's row).
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
            let why = format!("{weights:?} are not all numbers of 0 or more");
            return Err(Error::invalid("the weights of a rank", why));
        }
        if weights.iter().all(|w| *w == 0.0) {
            let why = "all are 0: give at least one above 0";
            return Err(Error::invalid("the weights of a rank", why));
        }
        if !self.half_life_days.is_finite() || self.half_life_days <= 0.0 {
            let why = format!("{} is not a number above 0", self.half_life_days);
            return Err(Error::invalid("half_life_days", why));
        }
        Ok(())
    }

    /// Scores the rows and sorts them.
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
