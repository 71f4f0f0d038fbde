//! Edges of the delta: new ones, and new versions of base edges.

#![allow(missing_docs, reason = "fields and accessors whose names say all")]

use super::entry::Slot;
use crate::append::{AppendVec, AtomicIndex, Trie};
use crate::event::Edge;
use crate::types::{ActorId, EdgeType, Lsn, Micros, NodeId};

/// A source with at most this many edges in the delta is searched linearly; with more, all its edges are in the index.
/// Most sources have few, and indexing an edge is most of the cost of applying it.
const FEW: u32 = 8;

/// One (source, target, type) that the journal added or changed.
#[derive(Debug)]
pub struct EdgeSlot {
    pub source: NodeId,
    pub target: NodeId,
    pub edge_type: EdgeType,
    /// True if the base has it.
    pub in_base: bool,
    /// The newest version.
    pub version: AtomicIndex,
    /// The number of earlier slots of the same source.
    pub before: u32,
    /// The next slot of the same source.
    pub next_outgoing: u32,
    /// The next slot of the same target.
    pub next_incoming: u32,
}

/// A version of an edge.
#[derive(Debug, Clone, Copy)]
pub struct EdgeVersion {
    pub lsn: Lsn,
    pub time: Micros,
    pub actor: ActorId,
    pub slot: u32,
    /// Weight and recorded time; `None` if retracted.
    pub value: Option<(f32, Micros)>,
    /// The value before this version, so that history needs no search.
    pub before: Option<(f32, Micros)>,
    /// The previous version; `END` if there is none.
    pub previous: u32,
}

/// The edges of the delta.
#[derive(Debug, Default)]
pub struct DeltaEdges {
    /// One per (source, target, type).
    pub slots: AppendVec<EdgeSlot>,
    /// Versions, by LSN.
    pub versions: AppendVec<EdgeVersion>,
    index: Trie<(u64, u64, u8)>,
    /// Slots of contradicts edges.
    pub contradicts: AppendVec<u32>,
    /// Slots of supersedes edges.
    pub supersedes: AppendVec<u32>,
}

impl DeltaEdges {
    /// The index of the slot of a (source, target, type); `newest` is the newest slot of the source.
    pub fn find(
        &self,
        newest: u32,
        (source, target, edge_type): (NodeId, NodeId, EdgeType),
    ) -> Option<u32> {
        let mut at = newest;
        let mut slot = self.slots.get(at)?;
        if slot.before >= FEW {
            return self.index.get((source.0, target.0, edge_type.0));
        }
        while (slot.target, slot.edge_type) != (target, edge_type) {
            at = slot.next_outgoing;
            slot = self.slots.get(at)?;
        }
        Some(at)
    }

    /// Adds a slot, and makes it the newest of its source and of its target.
    pub(crate) fn push(&self, (from, to): (&Slot, &Slot), mut slot: EdgeSlot) {
        (slot.next_outgoing, slot.next_incoming) = (from.outgoing.get(), to.incoming.get());
        slot.before = match self.slots.get(slot.next_outgoing) {
            Some(newest) => newest.before + 1,
            None => 0,
        };
        let (before, edge_type) = (slot.before, slot.edge_type);
        let at = self.slots.push(slot);
        // A reader that sees more than FEW slots must find all of them in the index.
        if before == FEW {
            let mut each = at;
            while let Some(slot) = self.slots.get(each) {
                self.index.insert(slot.key(), each);
                each = slot.next_outgoing;
            }
        } else if before > FEW
            && let Some(slot) = self.slots.get(at)
        {
            self.index.insert(slot.key(), at);
        }
        from.outgoing.set(at);
        to.incoming.set(at);
        match edge_type {
            EdgeType::CONTRADICTS => drop(self.contradicts.push(at)),
            EdgeType::SUPERSEDES => drop(self.supersedes.push(at)),
            _ => {}
        }
    }

    /// The newest value of a slot up to `bound`: `None` if there is no version yet, `Some(None)` if it is retracted.
    #[inline]
    pub fn value(&self, slot: &EdgeSlot, bound: Lsn) -> Option<Option<(f32, Micros)>> {
        let mut at = slot.version.get();
        loop {
            let version = self.versions.get(at)?;
            if version.lsn <= bound {
                return Some(version.value);
            }
            at = version.previous;
        }
    }

    /// The slots of a source's or a target's chain, from slot `from` on.
    pub fn chain(&self, from: u32, outgoing: bool) -> impl Iterator<Item = &EdgeSlot> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let slot = self.slots.get(at)?;
            at = if outgoing {
                slot.next_outgoing
            } else {
                slot.next_incoming
            };
            Some(slot)
        })
    }
}

impl EdgeSlot {
    fn key(&self) -> (u64, u64, u8) {
        (self.source.0, self.target.0, self.edge_type.0)
    }

    /// The edge with a version's value.
    pub fn edge(&self, (weight, created_at): (f32, Micros)) -> Edge {
        Edge {
            source: self.source,
            target: self.target,
            edge_type: self.edge_type,
            weight,
            created_at,
        }
    }
}
