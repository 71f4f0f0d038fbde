//! Pipeline: stages composed in one call on one view, such as search → traverse → resolve → rank.
//!
//! Sources make rows, each stage makes rows of the rows before it. A row is an event, with a score and where the row
//! came from, so that an answer explains itself; the rows of a stage have each event once. What is forgotten, or out of
//! the pipeline's scope, is never a row; a traversal goes through it as a stub.
//!
//! Promises: the answer is what its stages give when they are run one after the other on the same view; a stage has
//! at most `limits::PAGE_MAX` rows, and all stages together make at most `limits::PIPELINE_ROWS_MAX`.

mod rank;
mod run;

use super::answer::Answered;
use super::pattern::Pattern;
use super::scope::Scope;
use super::search::Search;
use super::selection::Selection;
use super::similar::Similar;
use super::text::Text;
use super::walk::Follow;
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, View};

pub use rank::{Parts, RankBy, Weights};

/// Asks for what comes out of stages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pipeline {
    /// Where rows come from, each bound by scope and forgetting before it is limited; 1 to
    /// `limits::PIPELINE_SOURCES_MAX`. An event that several find keeps the row of the first, and the best of what they
    /// say it is worth.
    pub sources: Vec<Source>,
    /// What is done with the rows, at most `limits::PIPELINE_STAGES_MAX`, in this order.
    pub stages: Vec<Stage>,
    /// User, agent and run: of every row.
    pub scope: Scope,
    /// Forgotten events become rows.
    pub include_forgotten: bool,
}

/// Where rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// These events, in this order, each worth 1.
    Events(Vec<NodeId>),
    /// What a search finds.
    Search(Search),
    /// What words find.
    Text(Text),
    /// What vectors find.
    Similar(Similar),
    /// What meets conditions, each worth 1.
    Pattern(Pattern),
}

/// What is done with rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Stage {
    /// Behind the rows, what can be reached from them.
    Traverse(Reach),
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
pub struct Reach {
    /// Along edges of these types; none for all.
    pub types: Vec<EdgeType>,
    /// Which way; outgoing unless told otherwise.
    pub follow: Follow,
    /// Edges from the nearest row, at most; 1 unless told otherwise.
    pub depth: u32,
    /// Rows, those that there are counted, 1 to `limits::PAGE_MAX`; 1,000 unless told otherwise.
    pub limit: usize,
}

impl Default for Reach {
    fn default() -> Self {
        Self {
            types: Vec::new(),
            follow: Follow::Outgoing,
            depth: 1,
            limit: 1_000,
        }
    }
}

/// An event, its score, and where it came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
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
    pub parts: Parts,
    /// The row that it was made of, as a place in the answer's rows or, from their number on, in its origins; none for
    /// the row of a source.
    pub from: Option<usize>,
    /// The edge by which it was reached from there; none if it is the head of that one.
    pub via: Option<(EdgeType, Direction)>,
    /// The event is forgotten: it is named only because others were reached through it.
    pub is_stub: bool,
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// Who answered.
    pub answered: Answered,
    /// The rows of the last stage, in order.
    pub rows: Vec<Row>,
    /// Rows of earlier stages that these came from, in the order in which they were made.
    pub origins: Vec<Row>,
    /// True if a traversal found more than its limit allowed.
    pub is_cut: bool,
}

impl Pipeline {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Flow> {
        run::Run::new(view, self)?.all()
    }
}
