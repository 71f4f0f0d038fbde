//! The graph of a view for traversals: sections that every step needs are looked up once.
//!
//! Promises: edges equal those of `View::edges_of`; `is_forgotten` equals `Node::is_forgotten`.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use super::edges::{Direction, EdgeList};
use super::snapshot::View;
use crate::base::adjacency::{Adjacency, Neighbours};
use crate::base::head_cache::CachedHeads;
use crate::base::summary_cache::ForgottenBits;
use crate::error::{Error, Result};
use crate::types::{Flags, NodeId};

/// Reads edges and flags of events. Cheap to copy.
#[derive(Debug, Clone, Copy)]
pub struct GraphReader<'v> {
    view: &'v View,
    adjacency: Adjacency<'v>,
    forgotten: ForgottenBits<'v>,
    base_nodes: u64,
    /// Events of the base that are in the view.
    base_nodes_in_view: u64,
    before_base: bool,
    /// The journal changes state and edges of no base event.
    is_unchanged: bool,
}

impl View {
    /// A reader of the graph, for traversals.
    pub fn graph(&self) -> Result<GraphReader<'_>> {
        Ok(GraphReader {
            view: self,
            adjacency: self.brain.base.adjacency()?,
            forgotten: self.brain.base.known_forgotten(),
            base_nodes: self.brain.base.nodes(),
            base_nodes_in_view: self.brain.base.nodes().min(self.at.nodes),
            before_base: self.before_base(),
            is_unchanged: self.brain.delta.events.is_unchanged(),
        })
    }
}

impl View {
    /// The cached replacements of base events; `None` in an `as_of` view.
    pub fn replacements(&self) -> Option<CachedHeads<'_>> {
        let changes = &self.brain.delta.replacements;
        let seen = || changes.partition_point(changes.len(), |&lsn| lsn <= self.lsn());
        (!self.is_as_of()).then(|| self.brain.base.replacements(seen()))
    }
}

impl<'v> GraphReader<'v> {
    pub fn view(&self) -> &'v View {
        self.view
    }

    /// The edges of an event, by (other event, type).
    #[inline]
    pub fn edges_of(&self, id: NodeId, direction: Direction) -> Result<EdgeList<'v>> {
        let base = if id.0 >= self.base_nodes {
            Neighbours::default()
        } else {
            match direction {
                Direction::Outgoing => self.adjacency.outgoing(id)?,
                Direction::Incoming => self.adjacency.incoming(id)?,
            }
        };
        if self.before_base || !self.is_plain(id) {
            return self.view.merged_edges(id, direction, base);
        }
        Ok(EdgeList::Base(base))
    }

    /// Other ends and types of an event's edges, in place, in the order of `edges_of`; `None` where only `edges_of`
    /// can answer.
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

    /// `is_forgotten` from the cache, without reading the record; `None` if it is not cached.
    #[inline(always)]
    pub fn known_forgotten(&self, id: NodeId) -> Option<bool> {
        if id.0 >= self.base_nodes_in_view || !(self.is_unchanged || self.view.is_plain(id)) {
            return None;
        }
        self.forgotten.has(id)
    }

    /// True if the event is hidden now, whatever the view's moment.
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

    /// Reads the record of a base event once, then the cache.
    fn forgotten_in_base(&self, id: NodeId) -> Result<bool> {
        if let Some(known) = self.forgotten.has(id) {
            return Ok(known);
        }
        let is_forgotten = self.view.brain.base.flags(id)?.has(Flags::FORGOTTEN);
        self.forgotten.set(id, is_forgotten);
        Ok(is_forgotten)
    }

    /// The flags of an event that the journal changed or added.
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

    /// Prefetches the event's record.
    #[inline]
    pub fn expect_event(&self, id: NodeId) {
        self.view.brain.base.expect(id);
    }

    /// Prefetches where an event's edges start, for an event that the traversal reaches soon.
    #[inline]
    pub fn expect(&self, id: NodeId, direction: Direction) {
        self.adjacency.expect(id, direction == Direction::Outgoing);
    }

    /// Prefetches the edges of an event for which `expect` was called before.
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
