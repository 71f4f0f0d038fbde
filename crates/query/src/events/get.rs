//! Get: one event and its edges.

use crate::answer::{AnswerStamp, check_limit};
use crate::planner::scope::{Scope, Sight, Visibility};
use amem_format::error::Result;
use amem_format::event::Edge;
use amem_format::types::NodeId;
use amem_format::view::{Direction, Node, View};

/// Asks for one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Get {
    /// The event.
    pub event: NodeId,
    /// Maximum edges in each direction, 1 to `limits::PAGE_MAX`; default 100.
    pub edges: usize,
    /// User, agent and run.
    pub scope: Scope,
    /// Include the event if it is forgotten, and edges to forgotten events.
    pub include_forgotten: bool,
}

impl Default for Get {
    fn default() -> Self {
        Self {
            event: NodeId(0),
            edges: 100,
            scope: Scope::default(),
            include_forgotten: false,
        }
    }
}

/// An event and its edges.
#[derive(Debug, Clone)]
pub struct EventWithEdges<'v> {
    /// The origin of the answer.
    pub answered: AnswerStamp,
    /// The event.
    pub node: Node<'v>,
    /// Outgoing edges, by (target, type).
    pub outgoing: Vec<Edge>,
    /// Incoming edges, by (source, type).
    pub incoming: Vec<Edge>,
    /// True if the event has more edges than `Get::edges`.
    pub is_cut: bool,
}

impl Get {
    /// Runs the query on a view.
    pub fn run<'v>(&self, view: &'v View) -> Result<EventWithEdges<'v>> {
        check_limit(self.edges)?;
        let sight = Sight::new(&self.scope, self.include_forgotten)?;
        let node = sight.open(view, self.event)?;
        let (outgoing, more_out) = self.edges(view, &sight, Direction::Outgoing)?;
        let (incoming, more_in) = self.edges(view, &sight, Direction::Incoming)?;
        Ok(EventWithEdges {
            answered: AnswerStamp::by(view),
            node,
            outgoing,
            incoming,
            is_cut: more_out || more_in,
        })
    }

    fn edges(&self, view: &View, sight: &Sight, direction: Direction) -> Result<(Vec<Edge>, bool)> {
        let mut edges = Vec::new();
        for tie in view.edges_of(self.event, direction)?.iter() {
            if sight.of(&view.node(tie.other)?)? != Visibility::Shown {
                continue;
            }
            if edges.len() == self.edges {
                return Ok((edges, true));
            }
            edges.push(view.edge(self.event, direction, &tie)?);
        }
        Ok((edges, false))
    }
}
