//! Impact: what rests on an event.

use crate::answer::check_limit;
use crate::graph::traverse::check_depth;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::planner::scope::{Scope, Sight};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Asks for what an event caused and speaks for, and what that caused: incoming caused-by and supports edges,
/// breadth first (`walk`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impact {
    /// Of which event.
    pub event: NodeId,
    /// Incoming part-of edges, too: what belongs to an event rests on it.
    pub include_parts: bool,
    /// Edges from it, at most; 10 unless told otherwise.
    pub depth: u32,
    /// Events shown, the first counted, 1 to `limits::PAGE_MAX`; 1,000 unless told otherwise.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Forgotten events whole, not as stubs.
    pub include_forgotten: bool,
}

impl Default for Impact {
    fn default() -> Self {
        Self {
            event: NodeId(0),
            include_parts: false,
            depth: 10,
            limit: 1_000,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

impl Impact {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Tree> {
        check_limit(self.limit)?;
        check_depth(self.depth)?;
        let types = [EdgeType::CAUSED_BY, EdgeType::SUPPORTS, EdgeType::PART_OF];
        BreadthFirst {
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            follow: Follow::Incoming,
            types: &types[..if self.include_parts { 3 } else { 2 }],
            depth: self.depth,
            limit: self.limit,
        }
        .tree(view, &[self.event])
    }
}
