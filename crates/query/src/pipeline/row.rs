//! Rows of a pipeline.

use amem_format::types::{EdgeType, NodeId};
use amem_format::view::Direction;

/// An event, its score, and where it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipelineRow {
    /// The event.
    pub id: NodeId,
    /// Which stage made the row: 0 for the sources, n for the n-th stage behind them.
    pub stage: usize,
    /// Edges from the row of a source.
    pub depth: u32,
    /// What its source says it is worth, over the most of any event of that source, 0 to 1: 1 for the best, 0 for what
    /// is not more than 0, such as a cosine; so all may have 0. A row that comes from another has what that one has.
    pub found: f32,
    /// The sum of its parts, added in their order. `found`, until rows are ranked.
    pub score: f32,
    /// What the score is made of.
    pub parts: ScoreParts,
    /// The row that it was made of, as a place in the answer's rows or, from their number on, in its origins; none for
    /// the row of a source.
    pub from: Option<usize>,
    /// The edge by which it was reached from there; none if it is the head of that one.
    pub via: Option<(EdgeType, Direction)>,
    /// The event is forgotten: it is named only because others were reached through it.
    pub is_stub: bool,
}

/// What a score is made of: each part with its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreParts {
    /// What the source says.
    pub found: f32,
    /// Confidence.
    pub confidence: f32,
    /// Strength.
    pub strength: f32,
    /// Recency.
    pub recency: f32,
    /// Nearness.
    pub nearness: f32,
}

impl ScoreParts {
    /// Their sum, added in their order.
    pub fn sum(&self) -> f32 {
        self.found + self.confidence + self.strength + self.recency + self.nearness
    }
}
