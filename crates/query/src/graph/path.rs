//! The shortest path from one event to another.

use crate::answer::AnswerStamp;
use crate::graph::traverse::check_depth;
use crate::graph::visited::NodeMap;
use crate::graph::walk::{Follow, TreeEdge, TreeStep, wanted};
use crate::limits::{EDGES_VISITED_MAX, VISITED_MAX};
use crate::planner::scope::{Scope, Sight, Visibility};
use amem_format::error::{Error, Result};
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, EdgeRef, GraphReader, View};

/// Finds a path with the fewest edges; of several, the one whose steps come first in the order of `walk`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShortestPath {
    /// The start.
    pub from: NodeId,
    /// The goal.
    pub to: NodeId,
    /// The edge types to follow; empty for all.
    pub types: Vec<EdgeType>,
    /// The direction; default `Both`.
    pub follow: Follow,
    /// Maximum edges; default 20.
    pub depth: u32,
    /// User, agent and run.
    pub scope: Scope,
    /// Show forgotten events instead of stubs.
    pub include_forgotten: bool,
}

impl Default for ShortestPath {
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

/// A path, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The steps from start to goal, each one's parent before it; empty if no path is short enough.
    pub steps: Vec<TreeStep>,
}

impl ShortestPath {
    /// Runs the query on a view.
    pub fn run(&self, view: &View) -> Result<Route> {
        check_depth(self.depth)?;
        let sight = Sight::new(&self.scope, self.include_forgotten)?;
        sight.open(view, self.to)?;
        sight.open(view, self.from)?;
        let steps = BidirectionalSearch::new(self, view.graph()?, sight).shortest()?;
        Ok(Route {
            answered: AnswerStamp::by(view),
            steps,
        })
    }
}

/// A search from both ends, level by level, until they meet. It visits what is within half the distance of each end
/// instead of the whole distance of one.
struct BidirectionalSearch<'r, 'v> {
    path: &'r ShortestPath,
    web: GraphReader<'v>,
    sight: Sight,
    wanted: [bool; 256],
    /// Events visited, and edges visited.
    visited: usize,
    edges_visited: usize,
}

/// The events reached from one end.
struct Frontier {
    follow: Follow,
    /// Distances from the end; `OUTSIDE` for events out of scope.
    depths: NodeMap,
    /// All events at the greatest depth.
    edge: Vec<NodeId>,
    depth: u32,
}

/// The depth of an event that is out of scope.
const OUTSIDE: u32 = u32::MAX;

impl Frontier {
    fn new(end: NodeId, follow: Follow) -> Self {
        let mut depths = NodeMap::new();
        depths.put(end, 0);
        Self {
            follow,
            depths,
            edge: vec![end],
            depth: 0,
        }
    }

    /// The distance of a reached event.
    fn depth_of(&self, id: NodeId) -> Option<u32> {
        self.depths.get(id).filter(|&depth| depth != OUTSIDE)
    }
}

impl<'r, 'v> BidirectionalSearch<'r, 'v> {
    fn new(path: &'r ShortestPath, web: GraphReader<'v>, sight: Sight) -> Self {
        Self {
            path,
            web,
            sight,
            wanted: wanted(&path.types),
            visited: 0,
            edges_visited: 0,
        }
    }

    /// The steps of the path; empty if no path is short enough.
    fn shortest(&mut self) -> Result<Vec<TreeStep>> {
        let ShortestPath { from, to, .. } = *self.path;
        let mut here = Frontier::new(from, self.path.follow);
        let mut there = Frontier::new(to, self.path.follow.reversed());
        let mut is_met = from == to;
        while !is_met {
            let is_over = here.edge.is_empty() || there.edge.is_empty();
            if is_over || here.depth + there.depth == self.path.depth {
                return Ok(Vec::new());
            }
            is_met = if here.edge.len() <= there.edge.len() {
                self.advance(&mut here, &there)?
            } else {
                self.advance(&mut there, &here)?
            };
        }
        self.first(&here, &there)
    }

    /// Advances one edge from an end; true if the ends met.
    fn advance(&mut self, side: &mut Frontier, other: &Frontier) -> Result<bool> {
        let mut next = Vec::new();
        let mut is_met = false;
        for id in std::mem::take(&mut side.edge) {
            for &direction in side.follow.directions() {
                for tie in self.web.edges_of(id, direction)?.iter() {
                    self.count_edge()?;
                    let is_wanted = self.wanted[usize::from(tie.edge_type.0)];
                    if !is_wanted || side.depths.get(tie.other).is_some() {
                        continue;
                    }
                    if self.sight.at(&self.web, tie.other)? == Visibility::Outside {
                        side.depths.put(tie.other, OUTSIDE);
                        continue;
                    }
                    side.depths.put(tie.other, side.depth + 1);
                    next.push(tie.other);
                    is_met |= other.depth_of(tie.other).is_some();
                    self.visited += 1;
                    let what = "the number of events that a path search visits";
                    Error::check_limit(what, self.visited as u64, VISITED_MAX as u64)?;
                }
            }
        }
        side.edge = next;
        side.depth += 1;
        Ok(is_met)
    }

    /// Of all shortest paths, the one whose steps come first: from the start, always the first edge that leads one edge
    /// closer to the goal.
    fn first(&mut self, here: &Frontier, there: &Frontier) -> Result<Vec<TreeStep>> {
        let length = here.depth + there.depth;
        let onward = self.onward(here, there)?;
        let step = |id, depth, via, is_stub| TreeStep {
            id,
            depth,
            via,
            is_stub,
        };
        let mut steps = vec![step(self.path.from, 0, None, false)];
        for depth in 1..=length {
            let left = length - depth;
            let parent = steps.len() - 1;
            let found = self.tie(steps[parent].id, |id| {
                let to_goal = if left > there.depth {
                    onward.get(id)
                } else {
                    there.depth_of(id)
                };
                to_goal == Some(left)
            })?;
            let Some((tie, direction)) = found else { break };
            let via = TreeEdge {
                parent: parent as u32,
                edge_type: tie.edge_type,
                direction,
            };
            let is_stub = self.sight.at(&self.web, tie.other)? == Visibility::Stub;
            steps.push(step(tie.other, depth, Some(via), is_stub));
        }
        Ok(steps)
    }

    /// Of the events reached from the start, those on a shortest path, with their distances to the goal.
    fn onward(&mut self, here: &Frontier, there: &Frontier) -> Result<NodeMap> {
        let length = here.depth + there.depth;
        let mut onward = NodeMap::new();
        // If the start's side advanced last, its frontier has all meeting points; otherwise they are in the goal's
        // frontier.
        let mut level: Vec<NodeId> = if here.edge.len() <= there.edge.len() {
            let is_met = |id: &NodeId| there.depth_of(*id) == Some(there.depth);
            here.edge.iter().copied().filter(is_met).collect()
        } else {
            let is_met = |id: &NodeId| here.depth_of(*id) == Some(here.depth);
            there.edge.iter().copied().filter(is_met).collect()
        };
        for depth in (1..here.depth).rev() {
            let mut before = Vec::new();
            for id in level {
                for &direction in there.follow.directions() {
                    for tie in self.web.edges_of(id, direction)?.iter() {
                        self.count_edge()?;
                        if self.wanted[usize::from(tie.edge_type.0)]
                            && here.depth_of(tie.other) == Some(depth)
                            && onward.put(tie.other, length - depth).is_none()
                        {
                            before.push(tie.other);
                        }
                    }
                }
            }
            level = before;
        }
        Ok(onward)
    }

    /// The first edge of an event to an event that `is_one` accepts.
    fn tie(
        &mut self,
        id: NodeId,
        is_one: impl Fn(NodeId) -> bool,
    ) -> Result<Option<(EdgeRef, Direction)>> {
        for &direction in self.path.follow.directions() {
            for tie in self.web.edges_of(id, direction)?.iter() {
                self.count_edge()?;
                if self.wanted[usize::from(tie.edge_type.0)] && is_one(tie.other) {
                    return Ok(Some((tie, direction)));
                }
            }
        }
        Ok(None)
    }

    fn count_edge(&mut self) -> Result<()> {
        self.edges_visited += 1;
        let what = "the number of edges that a query visits";
        Error::check_limit(what, self.edges_visited as u64, EDGES_VISITED_MAX as u64)
    }
}
