//! Traverse: what can be reached from an event.

use crate::answer::check_limit;
use crate::graph::walk::{BreadthFirst, Follow, Tree};
use crate::limits::DEPTH_MAX;
use crate::planner::scope::{Scope, Sight};
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::View;

/// Asks for what can be reached from an event, breadth first (`walk`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traverse {
    /// From where.
    pub start: NodeId,
    /// Along edges of these types; none for all.
    pub types: Vec<EdgeType>,
    /// Which way; outgoing unless told otherwise.
    pub follow: Follow,
    /// Edges from the start, at most; 5 unless told otherwise.
    pub depth: u32,
    /// Events shown, the start counted, 1 to `limits::PAGE_MAX`; 1,000 unless told otherwise.
    pub limit: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Forgotten events whole, not as stubs.
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
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Tree> {
        check_limit(self.limit)?;
        check_depth(self.depth)?;
        BreadthFirst {
            sight: Sight::new(&self.scope, self.include_forgotten)?,
            follow: self.follow,
            types: &self.types,
            depth: self.depth,
            limit: self.limit,
        }
        .tree(view, &[self.start])
    }
}

/// A depth that a request asks for, checked.
pub(crate) fn check_depth(depth: u32) -> Result<()> {
    Error::check_limit("the depth", depth.into(), DEPTH_MAX.into())
}
