//! Walking the graph breadth first: what traverse, path, why and impact have in common.
//!
//! The neighbours of an event come by (other event, edge type), those at the end of outgoing edges first; the
//! event from which another is discovered first is its parent. So the way to an event has the fewest edges,
//! and of several such ways it is the one whose steps come first, compared from the start.
//!
//! A forgotten event is walked through: it stands as a stub, its id only, if something shown lies beyond it.
//! Events out of scope are not there. Events that an episode summarises are shown.

use super::answer::Answered;
use super::scope::{Seen, Sight};
use crate::error::Result;
use crate::limits::{TIES_MAX, VISITED_MAX};
use crate::types::{EdgeType, NodeId};
use crate::view::{Direction, View};

/// Which way edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Follow {
    /// From source to target.
    #[default]
    Outgoing,
    /// From target to source.
    Incoming,
    /// Either way, outgoing edges first.
    Both,
}

impl Follow {
    fn directions(self) -> &'static [Direction] {
        match self {
            Self::Outgoing => &[Direction::Outgoing],
            Self::Incoming => &[Direction::Incoming],
            Self::Both => &[Direction::Outgoing, Direction::Incoming],
        }
    }
}

/// An event of a tree, and how it was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The event.
    pub id: NodeId,
    /// Edges from the start.
    pub depth: u32,
    /// How it was reached; none for the start.
    pub via: Option<Via>,
    /// The event is forgotten: it is named only because the way to others leads through it.
    pub is_stub: bool,
}

/// The edge by which an event was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Via {
    /// Where the event before stands among the steps.
    pub parent: usize,
    /// The type of the edge.
    pub edge_type: EdgeType,
    /// `Outgoing` if the edge leads from the parent to the event.
    pub direction: Direction,
}

/// What was reached, in the order in which it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// Who answered.
    pub answered: Answered,
    /// The start, then what was reached; parents before children.
    pub steps: Vec<Step>,
    /// True if there is more within the depth than the limit allowed.
    pub is_cut: bool,
}

/// Where a walk may go, and how far.
#[derive(Debug)]
pub(crate) struct Walk<'r> {
    pub(crate) sight: Sight,
    pub(crate) follow: Follow,
    /// Edges of these types; none for all.
    pub(crate) types: &'r [EdgeType],
    pub(crate) depth: u32,
    /// Events shown, the start counted.
    pub(crate) limit: usize,
    /// The walk ends where this is reached.
    pub(crate) target: Option<NodeId>,
}

/// Events met so far: a bit each, so that a walk costs what it meets and not what there is.
struct Met(Vec<u64>);

impl Met {
    fn new(nodes: u64) -> Self {
        // Fresh zeros come from the system page by page, when they are touched.
        Self(vec![0; (nodes / 64 + 1) as usize])
    }

    /// True if it was not met before.
    #[inline]
    fn add(&mut self, id: NodeId) -> bool {
        let Some(word) = self.0.get_mut((id.0 / 64) as usize) else {
            return false;
        };
        let bit = 1 << (id.0 % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

impl Walk<'_> {
    /// Walks from events that may be shown, all of which are at depth 0. The target is the last step if it was
    /// reached; stubs that lead nowhere are still among the steps.
    pub(crate) fn run(&self, view: &View, starts: &[NodeId]) -> Result<(Vec<Step>, bool)> {
        let mut wanted = [self.types.is_empty(); 256];
        for edge_type in self.types {
            wanted[usize::from(edge_type.0)] = true;
        }
        let mut met = Met::new(view.nodes());
        let mut steps = Vec::new();
        for &start in starts {
            self.sight.open(view, start)?;
            if !met.add(start) {
                continue;
            }
            steps.push(Step {
                id: start,
                depth: 0,
                via: None,
                is_stub: false,
            });
            if self.target == Some(start) {
                return Ok((steps, false));
            }
        }
        let (mut shown, mut parent) = (steps.len(), 0);
        // Hidden ties cost as much as those that are followed.
        let mut looked = 0;
        while parent < steps.len() && steps[parent].depth < self.depth {
            let Step { id, depth, .. } = steps[parent];
            for &direction in self.follow.directions() {
                for tie in view.ties(id, direction)?.iter() {
                    looked += 1;
                    if looked > TIES_MAX {
                        return Ok((steps, true));
                    }
                    if !wanted[usize::from(tie.edge_type.0)] || !met.add(tie.other) {
                        continue;
                    }
                    let seen = self.sight.of(&view.node(tie.other)?)?;
                    if seen == Seen::Outside {
                        continue;
                    }
                    let is_stub = seen == Seen::Stub;
                    if (!is_stub && shown >= self.limit) || steps.len() == VISITED_MAX {
                        return Ok((steps, true));
                    }
                    shown += usize::from(!is_stub);
                    steps.push(Step {
                        id: tie.other,
                        depth: depth + 1,
                        via: Some(Via {
                            parent,
                            edge_type: tie.edge_type,
                            direction,
                        }),
                        is_stub,
                    });
                    if self.target == Some(tie.other) {
                        return Ok((steps, false));
                    }
                }
            }
            parent += 1;
        }
        Ok((steps, false))
    }

    /// The tree of all that is reached from an event, or the trees of all that is reached from several.
    pub(crate) fn tree(&self, view: &View, starts: &[NodeId]) -> Result<Tree> {
        let (steps, is_cut) = self.run(view, starts)?;
        Ok(Tree {
            answered: Answered::by(view),
            steps: without_dead_stubs(steps),
            is_cut,
        })
    }
}

/// Leaves out the stubs beyond which nothing is shown.
fn without_dead_stubs(mut steps: Vec<Step>) -> Vec<Step> {
    if steps.iter().all(|step| !step.is_stub) {
        return steps;
    }
    let mut is_kept: Vec<bool> = steps.iter().map(|step| !step.is_stub).collect();
    for i in (0..steps.len()).rev() {
        if let Some(via) = steps[i].via
            && is_kept[i]
        {
            is_kept[via.parent] = true;
        }
    }
    let mut places = Vec::with_capacity(steps.len());
    let mut place = 0;
    for &is_kept in &is_kept {
        places.push(place);
        place += usize::from(is_kept);
    }
    let mut i = 0;
    steps.retain_mut(|step| {
        if let Some(via) = &mut step.via {
            via.parent = places[via.parent];
        }
        i += 1;
        is_kept[i - 1]
    });
    steps
}
