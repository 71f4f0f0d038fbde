//! The request and the answer of a pipeline.

use super::rank::RankBy;
use super::row::PipelineRow;
use crate::answer::AnswerStamp;
use crate::events::pattern::Pattern;
use crate::graph::walk::Follow;
use crate::nearest::similar::Similar;
use crate::planner::scope::Scope;
use crate::planner::selection::Selection;
use crate::search::Search;
use crate::search::text::TextSearch;
use amem_format::types::{EdgeType, NodeId};

/// Runs rows of events through stages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    /// The sources of rows, 1 to `limits::PIPELINE_SOURCES_MAX`. Scope and forgetting apply before a source's limit. An
    /// event that several sources find has the row of the first source and the greatest relevance.
    pub sources: Vec<RowSource>,
    /// The stages, at most `limits::PIPELINE_STAGES_MAX`, in this order.
    pub stages: Vec<PipelineStage>,
    /// User, agent and run; every row must match.
    pub scope: Scope,
    /// Include forgotten events.
    pub include_forgotten: bool,
}

/// A source of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    /// These events, in this order, each with relevance 1.
    Events(Vec<NodeId>),
    /// The hits of a search.
    Search(Search),
    /// The hits of a text search.
    Text(TextSearch),
    /// The hits of a similarity query.
    Similar(Similar),
    /// The events of a pattern, each with relevance 1.
    Pattern(Pattern),
}

/// A stage.
#[derive(Debug, Clone, PartialEq)]
pub enum PipelineStage {
    /// Appends events that can be reached from the rows.
    Traverse(TraverseStage),
    /// Replaces each row by its newest head; of rows with the same head, the first remains.
    Resolve,
    /// Keeps the events of a selection.
    Filter(Box<Selection>),
    /// Scores the rows again and sorts them, the greatest first; of equals, the highest id.
    Rank(RankBy),
    /// Keeps the first rows, 1 to `limits::PAGE_MAX`.
    Limit(usize),
}

/// A traversal from all rows at once, breadth first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraverseStage {
    /// The edge types to follow; empty for all.
    pub types: Vec<EdgeType>,
    /// The direction; default `Outgoing`.
    pub follow: Follow,
    /// Maximum edges from the nearest row; default 1.
    pub depth: u32,
    /// Maximum rows, the existing ones included, 1 to `limits::PAGE_MAX`; default 1,000.
    pub limit: usize,
}

impl Default for TraverseStage {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            follow: Follow::Outgoing,
            depth: 1,
            limit: 1_000,
        }
    }
}

/// The answer of a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineResult {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The rows of the last stage, in order.
    pub rows: Vec<PipelineRow>,
    /// Rows of earlier stages from which these were made, in the order in which they were made.
    pub origins: Vec<PipelineRow>,
    /// True if a limit cut a traversal off.
    pub is_cut: bool,
}
