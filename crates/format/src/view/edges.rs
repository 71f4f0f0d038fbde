//! The edges of one event, as a view sees them.

use super::snapshot::View;
use crate::base::adjacency::Neighbours;
use crate::base::history::Before;
use crate::delta::entry::END;
use crate::error::{Error, Result};
use crate::event::Edge;
use crate::types::{EdgeType, Micros, NodeId};

/// Which edges of an event: those that start at it, or those that end at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Those that start at it.
    Outgoing,
    /// Those that end at it.
    Incoming,
}

/// One edge of an event, seen from there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tie {
    /// The event at the other end.
    pub other: NodeId,
    /// What the edge means.
    pub edge_type: EdgeType,
    place: Place,
}

/// An edge by its other end and type; weight and recorded time, or that it is not there.
type Edited = ((u64, u8), Option<(f32, Micros)>);

/// Where the rest of an edge is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// At this position of the edge table.
    Base(u64),
    /// Among the outgoing edges of the event at the other end.
    Source,
    /// Weight and recorded time.
    Value(f32, Micros),
}

/// The edges of one event in one direction, by (other event, type).
#[derive(Debug, Clone)]
pub enum Ties<'v> {
    /// All of them in the base, none changed since: in place.
    Base(Neighbours<'v>),
    /// Base and delta merged.
    Merged(Vec<Tie>),
}

impl Ties<'_> {
    /// Their number.
    pub fn len(&self) -> usize {
        match self {
            Self::Base(list) => list.others.len(),
            Self::Merged(list) => list.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The i-th.
    #[inline]
    pub fn get(&self, i: usize) -> Option<Tie> {
        match self {
            Self::Base(list) => Some(Tie {
                other: NodeId((*list.others.get(i)?).into()),
                edge_type: EdgeType(*list.types.get(i)?),
                place: match list.first {
                    Some(first) => Place::Base(u64::from(first) + i as u64),
                    None => Place::Source,
                },
            }),
            Self::Merged(list) => list.get(i).copied(),
        }
    }

    /// All of them, in order.
    #[inline]
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Tie> + '_ {
        (0..self.len()).filter_map(|i| self.get(i))
    }
}

impl View {
    /// The edges of an event, by (other event, type).
    pub fn ties(&self, id: NodeId, direction: Direction) -> Result<Ties<'_>> {
        let base = if id.0 < self.brain.base.nodes() {
            let adjacency = self.brain.base.adjacency()?;
            match direction {
                Direction::Outgoing => adjacency.outgoing(id)?,
                Direction::Incoming => adjacency.incoming(id)?,
            }
        } else {
            Neighbours::default()
        };
        self.ties_on(id, direction, base)
    }

    /// The edges of an event that has these in the base.
    pub(super) fn ties_on<'v>(
        &'v self,
        id: NodeId,
        direction: Direction,
        base: Neighbours<'v>,
    ) -> Result<Ties<'v>> {
        if self.before_base() {
            return self.ties_before_base(id, direction, base);
        }
        let head = self.chain_head(id, direction);
        if head == END {
            return Ok(Ties::Base(base));
        }
        Ok(self.merge(base, head, direction))
    }

    /// True if the event is one of the base, of whose state and edges the journal says nothing.
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

    fn merge<'v>(&'v self, base: Neighbours<'v>, head: u32, direction: Direction) -> Ties<'v> {
        let outgoing = direction == Direction::Outgoing;
        let edges = &self.brain.delta.edges;
        let mut newer: Vec<Edited> = edges
            .chain(head, outgoing)
            .filter_map(|slot| {
                let other = if outgoing { slot.target } else { slot.source };
                Some(((other.0, slot.edge_type.0), edges.value(slot, self.at.lsn)?))
            })
            .collect();
        if newer.is_empty() {
            return Ties::Base(base);
        }
        newer.sort_unstable_by_key(|(key, _)| *key);
        let mut out = Vec::with_capacity(base.others.len() + newer.len());
        let mut newer = newer.into_iter().peekable();
        let push = |out: &mut Vec<Tie>, (key, value): Edited| {
            if let Some((weight, created_at)) = value {
                let (other, edge_type) = (NodeId(key.0), EdgeType(key.1));
                out.push(Tie {
                    other,
                    edge_type,
                    place: Place::Value(weight, created_at),
                });
            }
        };
        for tie in Ties::Base(base).iter() {
            let key = (tie.other.0, tie.edge_type.0);
            while let Some(entry) = newer.next_if(|(other, _)| *other < key) {
                push(&mut out, entry);
            }
            match newer.next_if(|(other, _)| *other == key) {
                Some(entry) => push(&mut out, entry),
                None => out.push(tie),
            }
        }
        newer.for_each(|entry| push(&mut out, entry));
        Ties::Merged(out)
    }

    /// What the base has, less what is younger than the moment, with every later change undone.
    fn ties_before_base<'v>(
        &'v self,
        id: NodeId,
        direction: Direction,
        base: Neighbours<'v>,
    ) -> Result<Ties<'v>> {
        let mut then = Vec::with_capacity(base.others.len());
        for tie in Ties::Base(base).iter() {
            let edge = self.edge(id, direction, &tie)?;
            if edge.created_at <= self.at.time && tie.other.0 < self.at.nodes {
                then.push(tie);
            }
        }
        let history = self.brain.base.history()?;
        let mut undone: Vec<Edited> = Vec::new();
        for change in history.of(id) {
            let change = change?;
            let Before::Edge {
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
            // The first change past the moment tells what was there at it.
            if change.lsn > self.at.lsn && !undone.iter().any(|(known, _)| *known == key) {
                undone.push((key, existed));
            }
        }
        for (key, existed) in undone {
            then.retain(|tie| (tie.other.0, tie.edge_type.0) != key);
            if let Some((weight, created_at)) = existed
                && created_at <= self.at.time
                && key.0 < self.at.nodes
            {
                let (other, edge_type) = (NodeId(key.0), EdgeType(key.1));
                then.push(Tie {
                    other,
                    edge_type,
                    place: Place::Value(weight, created_at),
                });
            }
        }
        then.sort_unstable_by_key(|tie| (tie.other, tie.edge_type));
        Ok(Ties::Merged(then))
    }

    /// The whole edge of a tie of `id` in a direction.
    pub fn edge(&self, id: NodeId, direction: Direction, tie: &Tie) -> Result<Edge> {
        match tie.place {
            Place::Base(position) => self.brain.base.edge(position),
            Place::Source => {
                let found = self.brain.base_edge(tie.other, id, tie.edge_type)?;
                found.ok_or_else(|| {
                    let why = format!(
                        "the edge {} {} {id} has no record",
                        tie.other, tie.edge_type
                    );
                    Error::corrupt("adjacency", 0, why)
                })
            }
            Place::Value(weight, created_at) => {
                let (source, target) = match direction {
                    Direction::Outgoing => (id, tie.other),
                    Direction::Incoming => (tie.other, id),
                };
                Ok(Edge {
                    source,
                    target,
                    edge_type: tie.edge_type,
                    weight,
                    created_at,
                })
            }
        }
    }

    /// One edge, if it is there at the moment asked about.
    pub fn find_edge(
        &self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Result<Option<Edge>> {
        if self.before_base() {
            let ties = self.ties(source, Direction::Outgoing)?;
            let found = ties
                .iter()
                .find(|tie| tie.other == target && tie.edge_type == edge_type);
            return found
                .map(|tie| self.edge(source, Direction::Outgoing, &tie))
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
