//! Path: the shortest way from one event to another.

use super::answer::Answered;
use super::scope::{Scope, Sight};
use super::traverse::check_depth;
use super::walk::{Follow, Step, Walk};
use crate::error::{Error, Result};
use crate::limits::VISITED_MAX;
use crate::types::{EdgeType, NodeId};
use crate::view::View;

/// Asks for a way with the fewest edges; of several, the one whose steps come first (`walk`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// From where.
    pub from: NodeId,
    /// To where.
    pub to: NodeId,
    /// Along edges of these types; none for all.
    pub types: Vec<EdgeType>,
    /// Which way; both unless told otherwise.
    pub follow: Follow,
    /// Edges, at most; 20 unless told otherwise.
    pub depth: u32,
    /// User, agent and run.
    pub scope: Scope,
    /// Forgotten events whole, not as stubs.
    pub include_forgotten: bool,
}

impl Default for Path {
    fn default() -> Self {
        Self {
            from: NodeId(0),
            to: NodeId(0),
            types: Vec::new(),
            follow: Follow::Both,
            depth: 20,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

/// A way, or that there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Who answered.
    pub answered: Answered,
    /// From the one event to the other, each step's parent the one before it; empty if no way is short enough.
    pub steps: Vec<Step>,
}

impl Path {
    /// Answers from a view.
    pub fn run(&self, view: &View) -> Result<Route> {
        check_depth(self.depth)?;
        let sight = Sight::new(&self.scope, self.include_forgotten)?;
        sight.open(view, self.to)?;
        let walk = Walk {
            sight,
            follow: self.follow,
            types: &self.types,
            depth: self.depth,
            limit: VISITED_MAX,
            target: Some(self.to),
        };
        let (met, is_cut) = walk.run(view, &[self.from])?;
        if is_cut {
            let (value, max) = (VISITED_MAX as u64 + 1, VISITED_MAX as u64);
            let what = "the number of events that a path search meets";
            return Err(Error::Limit { what, value, max });
        }
        let is_found = met.last().is_some_and(|last| last.id == self.to);
        Ok(Route {
            answered: Answered::by(view),
            steps: if is_found {
                way_to_last(&met)
            } else {
                Vec::new()
            },
        })
    }
}

/// The steps from the start to the last one.
fn way_to_last(met: &[Step]) -> Vec<Step> {
    let mut next = met.last();
    let mut steps = Vec::new();
    while let Some(step) = next {
        steps.push(*step);
        next = step.via.and_then(|via| met.get(via.parent));
    }
    steps.reverse();
    for (i, step) in steps.iter_mut().enumerate() {
        if let Some(via) = &mut step.via {
            via.parent = i - 1;
        }
    }
    steps
}
