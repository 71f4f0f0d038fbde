//! The edges of one event, as a view sees them.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use super::snapshot::View;
use crate::base::adjacency::Neighbours;
use crate::base::history::PriorValue;
use crate::delta::entry::END;
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::types::{EdgeType, Micros, NodeId};

/// Which end of its edges an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The event is the source.
    Outgoing,
    /// The event is the target.
    Incoming,
}

/// One edge, seen from one of its ends. `View::edge` reads the rest of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeRef {
    /// The event at the other end.
    pub other: NodeId,
    pub edge_type: EdgeType,
    location: EdgeLocation,
}

/// An edge by other end and type, with weight and recorded time; `None` if it was retracted.
type EdgeEdit = ((u64, u8), Option<(f32, Micros)>);

/// Where weight and recorded time of an edge are.
#[derive(Debug, Clone, Copy, PartialEq)]
enum EdgeLocation {
    /// At this position of the base's edge table.
    Base(u64),
    /// Among the base's outgoing edges of the event at the other end.
    Source,
    /// In the delta or the history: weight and recorded time.
    Value(f32, Micros),
}

/// The edges of one event in one direction, by (other event, type).
#[derive(Debug, Clone)]
pub enum EdgeList<'v> {
    /// The base's list, in place: the journal changed none of them.
    Base(Neighbours<'v>),
    /// The base's edges with the changes of the delta or the history.
    Merged(Vec<EdgeRef>),
}

impl EdgeList<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Base(list) => list.others.len(),
            Self::Merged(list) => list.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    pub fn get(&self, i: usize) -> Option<EdgeRef> {
        match self {
            Self::Base(list) => Some(EdgeRef {
                other: NodeId((*list.others.get(i)?).into()),
                edge_type: EdgeType(*list.types.get(i)?),
                location: match list.first {
                    Some(first) => EdgeLocation::Base(u64::from(first) + i as u64),
                    None => EdgeLocation::Source,
                },
            }),
            Self::Merged(list) => list.get(i).copied(),
        }
    }

    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = EdgeRef> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
}

impl View {
    /// The edges of an event, by (other event, type).
    pub fn edges_of(&self, id: NodeId, direction: Direction) -> Result<EdgeList<'_>> {
        let base = if id.0 < self.brain.base.nodes() {
            let adjacency = self.brain.base.adjacency()?;
            match direction {
                Direction::Outgoing => adjacency.outgoing(id)?,
                Direction::Incoming => adjacency.incoming(id)?,
            }
        } else {
            Neighbours::default()
        };
        self.merged_edges(id, direction, base)
    }

    /// The edges of an event whose edges in the base are `base`.
    pub(super) fn merged_edges<'v>(
        &'v self,
        id: NodeId,
        direction: Direction,
        base: Neighbours<'v>,
    ) -> Result<EdgeList<'v>> {
        if self.before_base() {
            return self.edges_before_base(id, direction, base);
        }
        let head = self.chain_head(id, direction);
        if head == END {
            return Ok(EdgeList::Base(base));
        }
        Ok(self.merge(base, head, direction))
    }

    /// True for a base event whose state and edges the journal leaves unchanged.
    #[inline]
    pub(super) fn is_plain(&self, id: NodeId) -> bool {
        id.0 < self.brain.base.nodes() && !self.brain.delta.events.is_changed(id)
    }

    fn chain_head(&self, id: NodeId, direction: Direction) -> u32 {
        let events = &self.brain.delta.events;
        let slot = match id.0.checked_sub(self.brain.base.nodes()) {
            None => events.base_slot(id),
            Some(at) => events.nodes.get(at as u32).map(|node| &node.slot),
        };
        slot.map_or(END, |slot| match direction {
            Direction::Outgoing => slot.outgoing.get(),
            Direction::Incoming => slot.incoming.get(),
        })
    }

    fn merge<'v>(&'v self, base: Neighbours<'v>, head: u32, direction: Direction) -> EdgeList<'v> {
        let outgoing = direction == Direction::Outgoing;
        let edges = &self.brain.delta.edges;
        let mut newer: Vec<EdgeEdit> = edges
            .chain(head, outgoing)
            .filter_map(|slot| {
                let other = if outgoing { slot.target } else { slot.source };
                Some(((other.0, slot.edge_type.0), edges.value(slot, self.at.lsn)?))
            })
            .collect();
        if newer.is_empty() {
            return EdgeList::Base(base);
        }
        newer.sort_unstable_by_key(|(key, _)| *key);
        let mut out = Vec::with_capacity(base.others.len() + newer.len());
        let mut newer = newer.into_iter().peekable();
        let push = |out: &mut Vec<EdgeRef>, (key, value): EdgeEdit| {
            if let Some((weight, created_at)) = value {
                let (other, edge_type) = (NodeId(key.0), EdgeType(key.1));
                out.push(EdgeRef {
                    other,
                    edge_type,
                    location: EdgeLocation::Value(weight, created_at),
                });
            }
        };
        for edge_ref in EdgeList::Base(base).iter() {
            let key = (edge_ref.other.0, edge_ref.edge_type.0);
            while let Some(entry) = newer.next_if(|(other, _)| *other < key) {
                push(&mut out, entry);
            }
            match newer.next_if(|(other, _)| *other == key) {
                Some(entry) => push(&mut out, entry),
                None => out.push(edge_ref),
            }
        }
        newer.for_each(|entry| push(&mut out, entry));
        EdgeList::Merged(out)
    }

    /// The base's edges without those younger than the moment, every later change undone.
    fn edges_before_base<'v>(
        &'v self,
        id: NodeId,
        direction: Direction,
        base: Neighbours<'v>,
    ) -> Result<EdgeList<'v>> {
        let mut then = Vec::with_capacity(base.others.len());
        for edge_ref in EdgeList::Base(base).iter() {
            let edge = self.edge(id, direction, &edge_ref)?;
            if edge.created_at <= self.at.time && edge_ref.other.0 < self.at.nodes {
                then.push(edge_ref);
            }
        }
        let history = self.brain.base.history()?;
        let mut undone: Vec<EdgeEdit> = Vec::new();
        for change in history.of(id) {
            let change = change?;
            let PriorValue::Edge {
                target,
                edge_type,
                existed,
            } = change.before
            else {
                continue;
            };
            let other = match direction {
                Direction::Outgoing if change.target == id => target,
                Direction::Incoming if target == id => change.target,
                _ => continue,
            };
            let key = (other.0, edge_type.0);
            // The first change past the moment holds the value at the moment.
            if change.lsn > self.at.lsn && !undone.iter().any(|(known, _)| *known == key) {
                undone.push((key, existed));
            }
        }
        for (key, existed) in undone {
            then.retain(|edge_ref| (edge_ref.other.0, edge_ref.edge_type.0) != key);
            if let Some((weight, created_at)) = existed
                && created_at <= self.at.time
                && key.0 < self.at.nodes
            {
                let (other, edge_type) = (NodeId(key.0), EdgeType(key.1));
                then.push(EdgeRef {
                    other,
                    edge_type,
                    location: EdgeLocation::Value(weight, created_at),
                });
            }
        }
        then.sort_unstable_by_key(|edge_ref| (edge_ref.other, edge_ref.edge_type));
        Ok(EdgeList::Merged(then))
    }

    /// The whole edge behind `edge_ref`, an edge of event `id` in `direction`.
    pub fn edge(&self, id: NodeId, direction: Direction, edge_ref: &EdgeRef) -> Result<Edge> {
        match edge_ref.location {
            EdgeLocation::Base(position) => self.brain.base.edge(position),
            EdgeLocation::Source => {
                let found = self
                    .brain
                    .base_edge(edge_ref.other, id, edge_ref.edge_type)?;
                found.ok_or_else(|| {
                    let why = format!(
                        "the edge {} {} {id} has no record",
                        edge_ref.other, edge_ref.edge_type
                    );
                    Error::corrupt("adjacency", 0, why)
                })
            }
            EdgeLocation::Value(weight, created_at) => {
                let (source, target) = match direction {
                    Direction::Outgoing => (id, edge_ref.other),
                    Direction::Incoming => (edge_ref.other, id),
                };
                Ok(Edge {
                    source,
                    target,
                    edge_type: edge_ref.edge_type,
                    weight,
                    created_at,
                })
            }
        }
    }

    /// One edge, if it exists at the view's moment.
    pub fn find_edge(
        &self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Result<Option<Edge>> {
        if self.before_base() {
            let edges = self.edges_of(source, Direction::Outgoing)?;
            let found = edges
                .iter()
                .find(|edge_ref| edge_ref.other == target && edge_ref.edge_type == edge_type);
            return found
                .map(|edge_ref| self.edge(source, Direction::Outgoing, &edge_ref))
                .transpose();
        }
        let edges = &self.brain.delta.edges;
        let newest = self.chain_head(source, Direction::Outgoing);
        let known = edges.find(newest, (source, target, edge_type));
        if let Some(slot) = known.and_then(|at| edges.slots.get(at))
            && let Some(value) = edges.value(slot, self.at.lsn)
        {
            return Ok(value.map(|value| slot.edge(value)));
        }
        self.brain.base_edge(source, target, edge_type)
    }
}
