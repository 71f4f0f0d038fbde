//! The graph of a view made ready for a walk: what every event of it needs is looked up once.
//!
//! Promises: the ties are those of `View::ties`, and what is forgotten is what `Node::is_forgotten` says.

use super::edges::{Direction, Ties};
use super::snapshot::View;
use crate::base::adjacency::{Adjacency, Neighbours};
use crate::base::learnt::Forgotten;
use crate::base::replaced::Replacements;
use crate::error::{Error, Result};
use crate::types::{Flags, NodeId};

/// The graph of a view.
#[derive(Debug, Clone, Copy)]
pub struct Web<'v> {
    view: &'v View,
    adjacency: Adjacency<'v>,
    forgotten: Forgotten<'v>,
    base_nodes: u64,
    /// Events of the base that are in the view.
    based: u64,
    before_base: bool,
    /// The journal says nothing of the state and the edges of any event of the base.
    is_unchanged: bool,
}

impl View {
    /// The graph, made ready for a walk.
    pub fn web(&self) -> Result<Web<'_>> {
        Ok(Web {
            view: self,
            adjacency: self.brain.base.adjacency()?,
            forgotten: self.brain.base.known_forgotten(),
            base_nodes: self.brain.base.nodes(),
            based: self.brain.base.nodes().min(self.at.nodes),
            before_base: self.before_base(),
            is_unchanged: self.brain.delta.events.is_unchanged(),
        })
    }
}

impl View {
    /// What replaces events of the base, as far as it was worked out; none of a moment before now.
    pub fn replacements(&self) -> Option<Replacements<'_>> {
        let changes = &self.brain.delta.replacements;
        let seen = || changes.partition_point(changes.len(), |&lsn| lsn <= self.lsn());
        (!self.is_as_of()).then(|| self.brain.base.replacements(seen()))
    }
}

impl<'v> Web<'v> {
    /// The view.
    pub fn view(&self) -> &'v View {
        self.view
    }

    /// The edges of an event, by (other event, type).
    #[inline]
    pub fn ties(&self, id: NodeId, direction: Direction) -> Result<Ties<'v>> {
        let base = if id.0 >= self.base_nodes {
            Neighbours::default()
        } else {
            match direction {
                Direction::Outgoing => self.adjacency.outgoing(id)?,
                Direction::Incoming => self.adjacency.incoming(id)?,
            }
        };
        if self.before_base || !self.is_plain(id) {
            return self.view.ties_on(id, direction, base);
        }
        Ok(Ties::Base(base))
    }

    /// The other ends and the types of an event's edges, in place and in the order of `ties`; none where only `ties`
    /// can tell.
    #[inline(always)]
    pub fn plain(&self, id: NodeId, direction: Direction) -> Option<(&'v [u32], &'v [u8])> {
        if self.before_base || !self.is_plain(id) {
            return None;
        }
        let outgoing = direction == Direction::Outgoing;
        self.adjacency.lists(id, outgoing)
    }

    #[inline(always)]
    fn is_plain(&self, id: NodeId) -> bool {
        if self.is_unchanged {
            id.0 < self.base_nodes
        } else {
            self.view.is_plain(id)
        }
    }

    /// As `is_forgotten`, of an event of which it is known already: then it costs no record.
    #[inline(always)]
    pub fn known_forgotten(&self, id: NodeId) -> Option<bool> {
        if id.0 >= self.based || !(self.is_unchanged || self.view.is_plain(id)) {
            return None;
        }
        self.forgotten.has(id)
    }

    /// True if an event is hidden, as of now whatever the moment.
    #[inline]
    pub fn is_forgotten(&self, id: NodeId) -> Result<bool> {
        if id.0 >= self.view.at.nodes {
            return Err(self.unknown(id));
        }
        if self.is_plain(id) {
            return self.forgotten_in_base(id);
        }
        Ok(self.flags_now(id)?.has(Flags::FORGOTTEN))
    }

    /// Of an event of the base: its record is read the first time that anybody asks.
    fn forgotten_in_base(&self, id: NodeId) -> Result<bool> {
        if let Some(known) = self.forgotten.has(id) {
            return Ok(known);
        }
        let is_forgotten = self.view.brain.base.flags(id)?.has(Flags::FORGOTTEN);
        self.forgotten.set(id, is_forgotten);
        Ok(is_forgotten)
    }

    /// The flags of an event about which the journal says something.
    fn flags_now(&self, id: NodeId) -> Result<Flags> {
        let brain = &self.view.brain;
        let events = &brain.delta.events;
        let (slot, initial) = match id.0.checked_sub(self.base_nodes) {
            None => (events.base_slot(id), brain.base.flags(id)?),
            Some(at) => match events.nodes.get(at as u32) {
                Some(node) => (Some(&node.slot), node.flags),
                None => return Err(self.unknown(id)),
            },
        };
        let state = slot.and_then(|slot| events.state(slot, self.view.now.lsn));
        Ok(state.map_or(initial, |state| state.flags))
    }

    /// Has the event itself loaded, likewise.
    #[inline]
    pub fn expect_event(&self, id: NodeId) {
        self.view.brain.base.expect(id);
    }

    /// Has the places of an event's edges loaded: for an event that the walk comes to in a while.
    #[inline]
    pub fn expect(&self, id: NodeId, direction: Direction) {
        self.adjacency.expect(id, direction == Direction::Outgoing);
    }

    /// Has the edges themselves loaded, of an event that was expected a while ago.
    #[inline]
    pub fn expect_edges(&self, id: NodeId, direction: Direction) {
        self.adjacency
            .expect_edges(id, direction == Direction::Outgoing);
    }

    #[cold]
    fn unknown(&self, id: NodeId) -> Error {
        let count = self.view.at.nodes;
        Error::UnknownEvent { id, count }
    }
}
