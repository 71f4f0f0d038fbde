//! Edges of the delta: new ones, and new versions of base edges.

use super::append::{AppendVec, Link, Trie};
use crate::event::Edge;
use crate::types::{ActorId, EdgeType, Lsn, Micros, NodeId};

/// One (source, target, type) about which the journal says something.
#[derive(Debug)]
pub struct EdgeSlot {
    /// Where it starts.
    pub source: NodeId,
    /// Where it ends.
    pub target: NodeId,
    /// What it means.
    pub edge_type: EdgeType,
    /// True if the base has it.
    pub in_base: bool,
    /// Its newest version.
    pub version: Link,
    /// The next slot of the same source.
    pub next_outgoing: u32,
    /// The next slot of the same target.
    pub next_incoming: u32,
}

/// A version of an edge.
#[derive(Debug, Clone, Copy)]
pub struct EdgeVersion {
    /// The commit.
    pub lsn: Lsn,
    /// Its time.
    pub time: Micros,
    /// Who.
    pub actor: ActorId,
    /// The slot.
    pub slot: u32,
    /// Weight and recorded time, or that it was retracted.
    pub value: Option<(f32, Micros)>,
    /// What was there before this version: so that history needs no search.
    pub before: Option<(f32, Micros)>,
    /// The version before.
    pub previous: u32,
}

/// The edges of the delta.
#[derive(Debug, Default)]
pub struct Edges {
    /// One per (source, target, type).
    pub slots: AppendVec<EdgeSlot>,
    /// Versions, by LSN.
    pub versions: AppendVec<EdgeVersion>,
    pub(super) index: Trie<(u64, u64, u8)>,
    /// Slots of contradicts edges.
    pub contradicts: AppendVec<u32>,
    /// Slots of supersedes edges.
    pub supersedes: AppendVec<u32>,
}

impl Edges {
    /// The slot of a (source, target, type).
    pub fn find(&self, source: NodeId, target: NodeId, edge_type: EdgeType) -> Option<&EdgeSlot> {
        self.slots
            .get(self.index.get((source.0, target.0, edge_type.0))?)
    }

    /// What a bound sees of a slot: `None` if the delta says nothing yet, `Some(None)` if it is retracted.
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

    /// The slots from one on along a source's, or a target's, chain.
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
