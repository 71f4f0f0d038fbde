//! What a fold takes over from the base, and what the delta says of it.
//!
//! Events below `first` are taken over: their bytes are copied, but for those listed here, which the delta changed.
//! All others are made from the view. With `first` 0 a base is made as if nothing had stayed.

use super::damage::Damage;
use crate::base::Base;
use crate::base::node;
use crate::bytes::get_f32;
use crate::delta::entry::ValueRef;
use crate::error::Result;
use crate::event::Edge;
use crate::types::{EdgeType, Flags, Micros, NodeId};
use crate::view::View;

/// What is kept, and what of it is changed. All lists ascend.
pub(super) struct Kept<'v> {
    pub(super) view: &'v View,
    /// Events that are taken over: ids below this.
    pub(super) first: u64,
    /// Nothing is taken from the base as it stands.
    pub(super) is_scratch: bool,
    /// What of the base is not as it was written.
    pub(super) damage: Damage,
    /// Kept events whose record the delta may have changed.
    pub(super) changed: Vec<u32>,
    /// Kept events that were erased since.
    pub(super) erased: Vec<u32>,
    /// Kept events that may have another vector.
    pub(super) vectors: Vec<u32>,
    /// Kept events that may have other attributes.
    pub(super) attributes: Vec<u32>,
    /// Edges that the delta made, changed or retracted.
    pub(super) edits: Vec<Edit>,
    /// There was a decay run: every event has another strength.
    pub(super) is_decayed: bool,
}

/// What the delta says of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edit {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) edge_type: EdgeType,
    /// Weight and recorded time, or that it was retracted.
    pub(super) value: Option<(f32, Micros)>,
}

impl Edit {
    /// The edge, if it was not retracted.
    pub(super) fn edge(&self) -> Option<Edge> {
        self.value.map(|(weight, created_at)| Edge {
            source: NodeId(self.source.into()),
            target: NodeId(self.target.into()),
            edge_type: self.edge_type,
            weight,
            created_at,
        })
    }
}

impl<'v> Kept<'v> {
    /// As much as can be kept, unless a base from scratch is asked for, or the base's indexes are damaged.
    pub(super) fn of(view: &'v View, from_scratch: bool) -> Result<Self> {
        let base = view.brain().base();
        let damage = Damage::of(base);
        let is_scratch = from_scratch || damage.indexes;
        let mut kept = Self {
            view,
            first: if is_scratch { 0 } else { base.nodes() },
            is_scratch,
            damage,
            changed: Vec::new(),
            erased: Vec::new(),
            vectors: Vec::new(),
            attributes: Vec::new(),
            edits: Vec::new(),
            is_decayed: view.decay_run() != view.identity().decay,
        };
        if !is_scratch {
            kept.find_edits();
            kept.find_changes()?;
        }
        Ok(kept)
    }

    fn find_edits(&mut self) {
        let (edges, bound) = (&self.view.brain().delta().edges, self.view.lsn());
        let mut edits = Vec::with_capacity(edges.slots.len() as usize);
        for slot in edges.slots.iter() {
            if let Some(value) = edges.value(slot, bound) {
                // Ids fit 32 bits: NODES_MAX.
                edits.push(Edit {
                    source: slot.source.0 as u32,
                    target: slot.target.0 as u32,
                    edge_type: slot.edge_type,
                    value,
                });
            }
        }
        edits.sort_unstable_by_key(|e| {
            let ends = u64::from(e.source) << 32 | u64::from(e.target);
            (ends, e.edge_type.0)
        });
        self.edits = edits;
    }

    fn find_changes(&mut self) -> Result<()> {
        let (base, bound) = (self.view.brain().base(), self.view.lsn());
        let events = &self.view.brain().delta().events;
        for (id, slot) in events.base_slots() {
            let number = id.0 as u32;
            let state = events.state(slot, bound);
            if let Some(state) = state {
                if state.flags.has(Flags::ERASED) && !base.record(id)?.flags.has(Flags::ERASED) {
                    self.erased.push(number);
                }
                if state.vector != ValueRef::Initial {
                    self.vectors.push(number);
                }
                if state.attributes != ValueRef::Initial {
                    self.attributes.push(number);
                }
            }
            if state.is_some() || events.access(slot, bound).is_some() {
                self.changed.push(number);
            }
        }
        let sources = self.edits.iter().map(|e| e.source);
        let first = self.first;
        self.changed
            .extend(sources.take_while(|&id| u64::from(id) < first));
        for list in [
            &mut self.changed,
            &mut self.erased,
            &mut self.vectors,
            &mut self.attributes,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        Ok(())
    }

    /// The base, if anything of it is kept.
    pub(super) fn base(&self) -> Option<&'v Base> {
        (self.first > 0).then(|| self.view.brain().base())
    }

    /// The events that are not kept.
    pub(super) fn new_events(&self) -> impl Iterator<Item = NodeId> + use<> {
        (self.first..self.view.nodes()).map(NodeId)
    }

    /// The strength that a kept event has in the base.
    pub(super) fn strength(&self, id: u32) -> f32 {
        let h = self.view.brain().base().header();
        let at = h.node_table + u64::from(id) * node::LEN as u64;
        let record = self.view.brain().base().map().slice(at, node::LEN as u64);
        record.map_or(0.0, |record| get_f32(record, 40))
    }
}
