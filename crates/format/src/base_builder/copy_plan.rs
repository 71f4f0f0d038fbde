//! What a new base copies from the older one, and what the delta changes in it.
//!
//! Events below `first` are copied, except for the changes listed here. All other events are encoded from the view. A
//! build from scratch has `first` 0.

use super::damage::Damage;
use crate::base::Base;
use crate::base::node;
use crate::bytes::get_f32;
use crate::delta::entry::ValueRef;
use crate::error::Result;
use crate::event::Edge;
use crate::types::{EdgeType, Flags, Micros, NodeId};
use crate::view::View;

/// What is copied, and the changes to it. All lists ascend.
pub(super) struct CopyPlan<'v> {
    pub(super) view: &'v View,
    /// Events below this id are copied.
    pub(super) first: u64,
    /// True if nothing is copied.
    pub(super) is_scratch: bool,
    /// Damage in the older base.
    pub(super) damage: Damage,
    /// Copied events whose record may have changed.
    pub(super) changed: Vec<u32>,
    /// Copied events that the delta erased.
    pub(super) erased: Vec<u32>,
    /// Copied events whose vector may have changed.
    pub(super) vectors: Vec<u32>,
    /// Copied events whose attributes may have changed.
    pub(super) attributes: Vec<u32>,
    /// Edges that the delta linked, changed or retracted.
    pub(super) edits: Vec<EdgeDelta>,
    /// True if the delta has a decay run: every strength changes.
    pub(super) is_decayed: bool,
}

/// The delta's version of an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeDelta {
    pub(super) source: u32,
    pub(super) target: u32,
    pub(super) edge_type: EdgeType,
    /// Weight and recorded time; `None` if it was retracted.
    pub(super) value: Option<(f32, Micros)>,
}

impl EdgeDelta {
    /// The edge; `None` if it was retracted.
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

impl<'v> CopyPlan<'v> {
    /// Plans to copy as much as possible: nothing if the caller wants a build from scratch or the base's indexes are
    /// damaged.
    pub(super) fn of(view: &'v View, from_scratch: bool) -> Result<Self> {
        let base = view.brain().base();
        let damage = Damage::of(base);
        let is_scratch = from_scratch || damage.indexes || view.other_space().is_some();
        let mut plan = Self {
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
            plan.find_edits();
            plan.find_changes()?;
        }
        Ok(plan)
    }

    fn find_edits(&mut self) {
        let (edges, bound) = (&self.view.brain().delta().edges, self.view.lsn());
        let mut edits = Vec::with_capacity(edges.slots.len() as usize);
        for slot in edges.slots.iter() {
            if let Some(value) = edges.value(slot, bound) {
                // Ids are below NODES_MAX, so they fit 32 bits.
                edits.push(EdgeDelta {
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

    /// The older base; `None` if nothing is copied.
    pub(super) fn base(&self) -> Option<&'v Base> {
        (self.first > 0).then(|| self.view.brain().base())
    }

    /// The events that are not copied.
    pub(super) fn new_events(&self) -> impl Iterator<Item = NodeId> + use<> {
        (self.first..self.view.nodes()).map(NodeId)
    }

    /// A copied event's strength in the older base.
    pub(super) fn strength(&self, id: u32) -> f32 {
        let h = self.view.brain().base().header();
        let at = h.node_table + u64::from(id) * node::LEN as u64;
        let record = self.view.brain().base().map().slice(at, node::LEN as u64);
        record.map_or(0.0, |record| get_f32(record, 40))
    }
}
