//! Traverse: the events that can be reached from an event.

use crate::answer::check_limit;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::limits::DEPTH_MAX;
use crate::planner::scope::{Scope, Sight};
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Follows edges from an event, breadth first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traverse {
    /// The start.
    pub start: NodeId,
    /// The edge types to follow; empty for all.
    pub types: Vec<EdgeType>,
    /// The direction; default `Outgoing`.
    pub follow: Follow,
    /// Maximum edges from the start; default 5.
    pub depth: u32,
    /// Maximum events shown, the start included, 1 to `limits::PAGE_MAX`; default 1,000.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Show forgotten events instead of stubs.
    pub include_forgotten: bool,
}

impl Default for Traverse {
    fn default() -> Self {
        Self {
            start: NodeId(0),
            types: Vec::new(),
            follow: Follow::Outgoing,
            depth: 5,
            limit: 1_000,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

impl Traverse {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<Tree> {
        check_limit(self.limit)?;
        check_depth(self.depth)?;
        BreadthFirst {
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            follow: self.follow,
            types: &self.types,
            depth: self.depth,
            limit: self.limit,
            is_evidence: false,
        }
        .tree(view, &[self.start])
    }
}

/// Checks the depth of a request.
pub(crate) fn check_depth(depth: u32) -> Result<()> {
    Error::check_limit("the depth", depth.into(), DEPTH_MAX.into())
}
