//! Breadth-first walks over the graph, which traverse, path, why and impact share.
//!
//! Neighbours come by (other event, edge type), outgoing edges first. The parent of an event is the one from which it
//! is first discovered. So the path to an event has the fewest edges, and of several such paths it is the one whose
//! steps come first, compared from the start.
//!
//! A walk goes through forgotten events: each appears as a stub, its id only, if a shown event lies beyond it. Events
//! out of scope do not appear. Events that an episode summarises do.

use crate::answer::AnswerStamp;
use crate::graph::evidence;
use crate::graph::visited::VisitedSet;
use crate::limits::{EDGES_VISITED_MAX, VISITED_MAX};
use crate::planner::scope::{Sight, Visibility};
use amem_format::error::Result;
use amem_format::types::{EdgeType, NodeId};
use amem_format::view::{Direction, GraphReader, View};

/// The direction in which edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Follow {
    /// From source to target.
    #[default]
    Outgoing,
    /// From target to source.
    Incoming,
    /// Both directions, outgoing edges first.
    Both,
}

impl Follow {
    pub(crate) fn directions(self) -> &'static [Direction] {
        match self {
            Self::Outgoing => &[Direction::Outgoing],
            Self::Incoming => &[Direction::Incoming],
            Self::Both => &[Direction::Outgoing, Direction::Incoming],
        }
    }

    /// The opposite direction.
    pub(crate) fn reversed(self) -> Self {
        match self {
            Self::Outgoing => Self::Incoming,
            Self::Incoming => Self::Outgoing,
            Self::Both => Self::Both,
        }
    }
}

/// An event of a tree, and the edge that reached it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeStep {
    /// The event.
    pub id: NodeId,
    /// Edges from the start.
    pub depth: u32,
    /// The edge that reached it; none for the start.
    pub via: Option<TreeEdge>,
    /// The event is forgotten: it appears only because a path leads through it.
    pub is_stub: bool,
}

const _: () = assert!(VISITED_MAX <= u32::MAX as usize && size_of::<TreeStep>() == 24);

/// The edge by which an event was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeEdge {
    /// The index of the parent's step.
    pub parent: u32,
    /// The type of the edge.
    pub edge_type: EdgeType,
    /// `Outgoing` if the edge leads from the parent to the event.
    pub direction: Direction,
}

/// The events reached, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The start, then the events reached; parents before children.
    pub steps: Vec<TreeStep>,
    /// True if the limit cut off events within the depth.
    pub is_cut: bool,
}

/// A breadth-first walk: its directions, types and limits.
#[derive(Debug)]
pub(crate) struct BreadthFirst<'r> {
    pub(crate) sight: Sight,
    pub(crate) follow: Follow,
    /// Empty for all.
    pub(crate) types: &'r [EdgeType],
    pub(crate) depth: u32,
    /// Maximum events shown, the start included.
    pub(crate) limit: usize,
    /// Supports edges are followed from what rests on evidence to the evidence, or back; see `evidence`.
    pub(crate) is_evidence: bool,
}

/// Steps between prefetching an event's edges and reading them; their start is prefetched when the event is discovered.
const AHEAD: usize = 8;

/// The state of a running walk.
struct Traversal<'w, 'v> {
    walk: &'w BreadthFirst<'w>,
    web: GraphReader<'v>,
    wanted: [bool; 256],
    visited: VisitedSet,
    steps: Vec<TreeStep>,
    shown: usize,
    /// Steps whose edges were prefetched.
    prefetched: usize,
    /// Edges visited, hidden ones included: they cost the same.
    edges_visited: usize,
    /// Some supports edges may be read against their direction.
    may_be_reversed: bool,
}

impl BreadthFirst<'_> {
    /// Walks from events that must be visible; all are at depth 0. May leave stubs without children to the caller.
    fn run(&self, view: &View, starts: &[NodeId]) -> Result<(Vec<TreeStep>, bool)> {
        let mut traversal = Traversal {
            walk: self,
            web: view.graph()?,
            wanted: wanted(self.types),
            visited: VisitedSet::new(view.nodes()),
            steps: Vec::with_capacity(self.limit.min(512)),
            shown: 0,
            prefetched: 0,
            edges_visited: 0,
            may_be_reversed: self.is_evidence && evidence::may_be_reversed(view)?,
        };
        for &start in starts {
            self.sight.open(view, start)?;
            if traversal.visited.add(start) {
                traversal.steps.push(TreeStep {
                    id: start,
                    depth: 0,
                    via: None,
                    is_stub: false,
                });
            }
        }
        traversal.shown = traversal.steps.len();
        let is_cut = traversal.on()?;
        let is_whole = traversal.shown == traversal.steps.len();
        let steps = if is_whole {
            traversal.steps
        } else {
            without_leaf_stubs(traversal.steps)
        };
        Ok((steps, is_cut))
    }

    /// The tree of the events reached from one event, or the forest from several.
    pub(crate) fn tree(&self, view: &View, starts: &[NodeId]) -> Result<Tree> {
        let (steps, is_cut) = self.run(view, starts)?;
        Ok(Tree {
            answered: AnswerStamp::by(view),
            steps,
            is_cut,
        })
    }
}

impl Traversal<'_, '_> {
    /// Runs the walk; true if a limit cut it off.
    fn on(&mut self) -> Result<bool> {
        let mut parent = 0;
        while let Some(&TreeStep { id, depth, .. }) = self.steps.get(parent) {
            if depth >= self.walk.depth {
                break;
            }
            self.prefetch(parent);
            for &direction in self.walk.follow.directions() {
                if self.along(parent, id, depth + 1, direction)? {
                    return Ok(true);
                }
            }
            parent += 1;
        }
        Ok(false)
    }

    /// Prefetches the edges of the steps after one.
    #[inline]
    fn prefetch(&mut self, parent: usize) {
        let until = self.steps.len().min(parent + AHEAD);
        while let Some(step) = self.steps[..until].get(self.prefetched) {
            if step.depth >= self.walk.depth {
                return;
            }
            for &direction in self.walk.follow.directions() {
                self.web.expect_edges(step.id, direction);
            }
            self.prefetched += 1;
        }
    }

    /// Follows the edges of one event in one direction; true if a limit cut the walk off.
    #[inline]
    fn along(
        &mut self,
        parent: usize,
        id: NodeId,
        depth: u32,
        direction: Direction,
    ) -> Result<bool> {
        if self.may_be_reversed {
            return self.along_evidence(parent, id, depth, direction);
        }
        let via = |edge_type| TreeEdge {
            parent: parent as u32,
            edge_type,
            direction,
        };
        if let Some((others, types)) = self.web.plain(id, direction) {
            if others.len() <= self.room() && self.visited.is_bits() {
                self.along_within_limits(others, types, depth, via)?;
                return Ok(false);
            }
            for (&other, &edge_type) in others.iter().zip(types) {
                if self.meet(NodeId(other.into()), depth, via(EdgeType(edge_type)))? {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        for tie in self.web.edges_of(id, direction)?.iter() {
            if self.meet(tie.other, depth, via(tie.edge_type))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// `along` for a brain with edges that are read against their direction.
    fn along_evidence(
        &mut self,
        parent: usize,
        id: NodeId,
        depth: u32,
        direction: Direction,
    ) -> Result<bool> {
        for (edge, direction) in evidence::edges_along(&self.web, id, direction)? {
            let via = TreeEdge {
                parent: parent as u32,
                edge_type: edge.edge_type,
                direction,
            };
            if self.meet(edge.other, depth, via)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many more edges can be followed before any limit applies.
    #[inline]
    fn room(&self) -> usize {
        let shown = self.walk.limit.saturating_sub(self.shown);
        let steps = VISITED_MAX.saturating_sub(self.steps.len());
        shown
            .min(steps)
            .min(EDGES_VISITED_MAX.saturating_sub(self.edges_visited))
    }

    /// Follows edges that fit all limits: `meet` without a check of the limits per edge.
    #[inline(always)]
    fn along_within_limits(
        &mut self,
        others: &[u32],
        types: &[u8],
        depth: u32,
        via: impl Fn(EdgeType) -> TreeEdge,
    ) -> Result<()> {
        let first = self.steps.len();
        let mut stubs = 0;
        self.edges_visited += others.len();
        for (&other, &edge_type) in others.iter().zip(types) {
            let id = NodeId(other.into());
            if !self.wanted[usize::from(edge_type)] || !self.visited.add_bit(id) {
                continue;
            }
            let seen = self.walk.sight.at(&self.web, id)?;
            if seen == Visibility::Outside {
                continue;
            }
            let is_stub = seen == Visibility::Stub;
            stubs += usize::from(is_stub);
            self.steps.push(TreeStep {
                id,
                depth,
                via: Some(via(EdgeType(edge_type))),
                is_stub,
            });
        }
        self.shown += self.steps.len() - first - stubs;
        self.prefetch_starts(first, depth);
        Ok(())
    }

    /// Prefetches where the edges begin, for the steps from `first` on.
    #[inline]
    fn prefetch_starts(&self, first: usize, depth: u32) {
        if depth == self.walk.depth {
            return;
        }
        for &direction in self.walk.follow.directions() {
            for step in &self.steps[first..] {
                self.web.expect(step.id, direction);
            }
        }
    }

    /// Visits the event at the end of an edge; true if it exceeds a limit.
    #[inline(always)]
    fn meet(&mut self, id: NodeId, depth: u32, via: TreeEdge) -> Result<bool> {
        self.edges_visited += 1;
        if self.edges_visited > EDGES_VISITED_MAX {
            return Ok(true);
        }
        if !self.wanted[usize::from(via.edge_type.0)] || !self.visited.add(id) {
            return Ok(false);
        }
        let seen = self.walk.sight.at(&self.web, id)?;
        if seen == Visibility::Outside {
            return Ok(false);
        }
        let is_stub = seen == Visibility::Stub;
        if (!is_stub && self.shown >= self.walk.limit) || self.steps.len() == VISITED_MAX {
            return Ok(true);
        }
        self.shown += usize::from(!is_stub);
        self.steps.push(TreeStep {
            id,
            depth,
            via: Some(via),
            is_stub,
        });
        Ok(false)
    }
}

/// The edge types to follow, as a table; all if `types` is empty.
pub(crate) fn wanted(types: &[EdgeType]) -> [bool; 256] {
    let mut wanted = [types.is_empty(); 256];
    for edge_type in types {
        wanted[usize::from(edge_type.0)] = true;
    }
    wanted
}

/// Removes stubs beyond which no event is shown.
fn without_leaf_stubs(mut steps: Vec<TreeStep>) -> Vec<TreeStep> {
    let mut is_kept: Vec<bool> = steps.iter().map(|step| !step.is_stub).collect();
    for i in (0..steps.len()).rev() {
        if let Some(via) = steps[i].via
            && is_kept[i]
        {
            is_kept[via.parent as usize] = true;
        }
    }
    let mut places = Vec::with_capacity(steps.len());
    let mut place = 0u32;
    for &is_kept in &is_kept {
        places.push(place);
        place += u32::from(is_kept);
    }
    let mut i = 0;
    steps.retain_mut(|step| {
        if let Some(via) = &mut step.via {
            via.parent = places[via.parent as usize];
        }
        i += 1;
        is_kept[i - 1]
    });
    steps
}
