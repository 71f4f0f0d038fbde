//! Why: what an event rests on.

use crate::answer::check_limit;
use crate::graph::traverse::check_depth;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::planner::scope::{Scope, Sight};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Asks for what caused an event and what speaks for it, and what caused that: outgoing caused-by and supports
/// edges, breadth first (`walk`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// Of which event.
    pub event: NodeId,
    /// Edges from it, at most; 10 unless told otherwise.
    pub depth: u32,
    /// Events shown, the first counted, 1 to `limits::PAGE_MAX`; 1,000 unless told otherwise.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Forgotten events whole, not as stubs.
    pub include_forgotten: bool,
}

impl Default for Why {
    fn default() -> Self {
        Self {
            event: NodeId(0),
            depth: 10,
            limit: 1_000,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

impl Why {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Tree> {
        check_limit(self.limit)?;
        check_depth(self.depth)?;
        BreadthFirst {
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            follow: Follow::Outgoing,
            types: &[EdgeType::CAUSED_BY, EdgeType::SUPPORTS],
            depth: self.depth,
            limit: self.limit,
        }
        .tree(view, &[self.event])
    }
}
