//! What a pipeline is asked, and what it answers.

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

/// Asks for what comes out of stages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    /// Where rows come from, each bound by scope and forgetting before it is limited; 1 to
    /// `limits::PIPELINE_SOURCES_MAX`. An event that several find keeps the row of the first, and the best of what they
    /// say it is worth.
    pub sources: Vec<RowSource>,
    /// What is done with the rows, at most `limits::PIPELINE_STAGES_MAX`, in this order.
    pub stages: Vec<PipelineStage>,
    /// User, agent and run: of every row.
    pub scope: Scope,
    /// Forgotten events become rows.
    pub include_forgotten: bool,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum RowSource {
    /// These events, in this order, each worth 1.
    Events(Vec<NodeId>),
    /// What a search finds.
    Search(Search),
    /// What words find.
    Text(TextSearch),
    /// What vectors find.
    Similar(Similar),
    /// What meets conditions, each worth 1.
    Pattern(Pattern),
}

/// What is done with rows.
#[derive(Debug, Clone, PartialEq)]
pub enum PipelineStage {
    /// Behind the rows, what can be reached from them.
    Traverse(TraverseStage),
    /// In place of each row, its newest head; of rows with the same head, the first stays.
    Resolve,
    /// Those that a selection wants.
    Filter(Box<Selection>),
    /// The same rows with another score, the greatest first; of equals, the highest id.
    Rank(RankBy),
    /// The first ones, 1 to `limits::PAGE_MAX`.
    Limit(usize),
}

/// How far a traversal goes from all rows at once, breadth first (`walk`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraverseStage {
    /// Along edges of these types; none for all.
    pub types: Vec<EdgeType>,
    /// Which way; outgoing unless told otherwise.
    pub follow: Follow,
    /// Edges from the nearest row, at most; 1 unless told otherwise.
    pub depth: u32,
    /// Rows, those that there are counted, 1 to `limits::PAGE_MAX`; 1,000 unless told otherwise.
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

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct PipelineResult {
    /// Who answered.
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The rows of the last stage, in order.
    pub rows: Vec<PipelineRow>,
    /// Rows of earlier stages that these came from, in the order in which they were made.
    pub origins: Vec<PipelineRow>,
    /// True if a traversal found more than its limit allowed.
    pub is_cut: bool,
}
