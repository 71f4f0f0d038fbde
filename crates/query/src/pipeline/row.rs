//! Rows of a pipeline.

use amem_format::types::{EdgeType, NodeId};
use amem_format::view::Direction;

/// An event, its score, and the row that it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipelineRow {
    /// The event.
    pub id: NodeId,
    /// The stage that made the row: 0 for the sources, n for the n-th stage.
    pub stage: usize,
    /// Edges from a source's row.
    pub depth: u32,
    /// Relevance by its source: the score divided by the greatest of that source, 0 to 1. Scores below 0, such as some
    /// cosines, count as 0, so all may be 0. A row made from another has the other's value.
    pub found: f32,
    /// The sum of its parts, added in order; `found` until rows are ranked.
    pub score: f32,
    /// The parts of the score.
    pub parts: ScoreParts,
    /// The row that it was made from, as an index into the answer's rows, continued by its origins; none for a source's
    /// row.
    pub from: Option<usize>,
    /// The edge that reached it; none if it is the head of the other row.
    pub via: Option<(EdgeType, Direction)>,
    /// The event is forgotten: it appears only because a path leads through it.
    pub is_stub: bool,
}

/// The parts of a score, weighted.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ScoreParts {
    /// Relevance by the source.
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
    /// The sum, added in order.
    pub fn sum(&self) -> f32 {
        self.found + self.confidence + self.strength + self.recency + self.nearness
    }
}
