//! An event as filters read it, with the strength that the query uses.

use std::borrow::Cow;

use crate::filter::Subject;
use amem_format::error::Result;
use amem_format::event::Attributes;
use amem_format::types::{EventType, Micros, NodeId, SessionId};
use amem_format::view::{Node, View};

/// The strength that filters, ranges and orders of one query use.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Strength {
    /// The strength of the last decay run.
    LastRun,
    /// The strength at a time, with the brain's decay rates.
    At(Micros, [f32; 6]),
}

impl Strength {
    pub(crate) fn new(view: &View, at: Option<Micros>) -> Result<Self> {
        match at {
            None => Ok(Self::LastRun),
            Some(time) => Ok(Self::At(time, view.settings()?.decay.by_type())),
        }
    }

    /// The time and rates that give the strength of an event the delta does not change; `None` if there are none.
    pub(crate) fn moment(&self, view: &View) -> Option<(Micros, [f32; 6])> {
        match self {
            Self::At(time, rates) => Some((*time, *rates)),
            Self::LastRun if view.is_of_moment() => None,
            Self::LastRun => view
                .decay_run()
                .filter(|run| run.lsn > view.identity().base_lsn)
                .map(|run| (run.at, run.rates)),
        }
    }

    #[inline]
    pub(crate) fn of(&self, node: &Node<'_>) -> f32 {
        match self {
            Self::LastRun => node.strength(),
            Self::At(time, rates) => node.strength_with(*time, rates),
        }
    }
}

/// An event and the strength to use.
pub(crate) struct NodeSubject<'c, 'v> {
    node: &'c Node<'v>,
    strength: &'c Strength,
}

impl<'c, 'v> NodeSubject<'c, 'v> {
    pub(crate) fn new(node: &'c Node<'v>, strength: &'c Strength) -> Self {
        Self { node, strength }
    }
}

impl Subject for NodeSubject<'_, '_> {
    fn id(&self) -> NodeId {
        self.node.id()
    }

    fn event_type(&self) -> EventType {
        self.node.event_type()
    }

    fn session(&self) -> SessionId {
        self.node.session()
    }

    fn confidence(&self) -> f32 {
        self.node.confidence()
    }

    fn strength(&self) -> f32 {
        self.strength.of(self.node)
    }

    fn created_at(&self) -> Micros {
        self.node.created_at()
    }

    fn event_time(&self) -> Result<Option<Micros>> {
        self.node.event_time()
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        self.node.text()
    }

    fn attributes(&self) -> Result<Option<Attributes>> {
        self.node.attributes()
    }
}
