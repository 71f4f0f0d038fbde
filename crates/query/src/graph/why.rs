//! Why: the events that an event depends on.

use crate::answer::check_limit;
use crate::graph::traverse::check_depth;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::planner::scope::{Scope, Sight};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Follows outgoing caused-by and supports edges from an event, breadth first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why {
    /// The start.
    pub event: NodeId,
    /// Maximum edges from the start; default 10.
    pub depth: u32,
    /// Maximum events shown, the start included, 1 to `limits::PAGE_MAX`; default 1,000.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Show forgotten events instead of stubs.
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
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<Tree> {
        check_limit(self.limit)?;
        check_depth(self.depth)?;
        BreadthFirst {
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            follow: Follow::Outgoing,
            types: &[EdgeType::CAUSED_BY, EdgeType::SUPPORTS],
            depth: self.depth,
            limit: self.limit,
            is_evidence: true,
        }
        .tree(view, &[self.event])
    }
}
