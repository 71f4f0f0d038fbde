//! Impact: the events that depend on an event.

use crate::answer::check_limit;
use crate::graph::traverse::check_depth;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::planner::scope::{Scope, Sight};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Follows incoming caused-by and supports edges from an event, breadth first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impact {
    /// The start.
    pub event: NodeId,
    /// Also follow incoming part-of edges: the parts of an event depend on it.
    pub include_parts: bool,
    /// Maximum edges from the start; default 10.
    pub depth: u32,
    /// Maximum events shown, the start included, 1 to `limits::PAGE_MAX`; default 1,000.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Show forgotten events instead of stubs.
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
    /// Runs the query on a view.
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
            is_evidence: true,
        }
        .tree(view, &[self.event])
    }
}
