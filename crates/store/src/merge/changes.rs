//! When each field and edge was changed last: of two values, the later one counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use amem_format::base::history::PriorValue;
use amem_format::journal::op::Op;
use amem_format::view::View;
use amem_format::{EdgeType, Flags, Lsn, Micros, NodeId};

use super::budget::MemoryBudget;
use crate::error::Result;

/// Bytes per recorded change of an event, of an edge, and of the state in between.
const FIELD: usize = size_of::<((NodeId, EventField), Micros)>();
const EDGE: usize = size_of::<((NodeId, NodeId, EdgeType), Micros)>();
const STATE: usize = size_of::<(NodeId, (Flags, f32))>();

/// A field of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EventField {
    Attributes,
    Vector,
    Lambda,
    Pinned,
    Forgotten,
}

/// The last changes of a brain after the creation of what they changed; no entry: none.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    fields: HashMap<(NodeId, EventField), Micros>,
    edges: HashMap<(NodeId, NodeId, EdgeType), Micros>,
}

impl Changes {
    /// Reads history and journal; holds only the last change of each field and edge.
    pub(crate) fn of(view: &View, budget: &mut MemoryBudget) -> Result<Self> {
        let mut changes = Self::default();
        // The state before each change, from the newest to the oldest: what differs was changed then.
        let mut states: HashMap<NodeId, Flags> = HashMap::new();
        let base = view.brain().base();
        let history = base.history()?;
        for at in (0..history.len()).rev() {
            let change = history.at(at)?;
            let id = change.target;
            match change.before {
                PriorValue::Confidence(_) => {}
                PriorValue::Attributes(_) => {
                    changes.note(id, EventField::Attributes, change.time, budget)?
                }
                PriorValue::Vector(_) => {
                    changes.note(id, EventField::Vector, change.time, budget)?
                }
                PriorValue::Lambda(_) => {
                    changes.note(id, EventField::Lambda, change.time, budget)?
                }
                PriorValue::Flags(before) => {
                    let after = match states.insert(id, before) {
                        Some(after) => after,
                        None => {
                            budget.take_entries(1, STATE)?;
                            base.record(id)?.flags
                        }
                    };
                    changes.note_flags(id, (before, after), change.time, budget)?;
                }
                PriorValue::Edge {
                    target, edge_type, ..
                } => changes.note_edge((id, target, edge_type), change.time, budget)?,
            }
        }
        changes.journal(view, budget)?;
        Ok(changes)
    }

    /// What the journal changed, from the oldest to the newest.
    fn journal(&mut self, view: &View, budget: &mut MemoryBudget) -> Result<()> {
        let base = view.brain().base();
        let mut states: HashMap<NodeId, (Flags, f32)> = HashMap::new();
        let mut lsn = Lsn(view.identity().base_lsn.0);
        while let Some(committed) = view.commit_after(lsn)? {
            let time = committed.commit.time;
            for op in committed.ops() {
                match op? {
                    Op::Event(node) => {
                        let flags = node.carried.map_or(Flags::default(), |c| c.flags);
                        budget.take_entries(1, STATE)?;
                        states.insert(node.id, (flags, node.lambda));
                    }
                    Op::Belief {
                        target,
                        flags,
                        lambda,
                        ..
                    } => {
                        let before = match states.insert(target, (flags, lambda)) {
                            Some(before) => before,
                            None => {
                                budget.take_entries(1, STATE)?;
                                let record = base.record(target)?;
                                (record.flags, record.lambda)
                            }
                        };
                        self.note_flags(target, (before.0, flags), time, budget)?;
                        if before.1.to_bits() != lambda.to_bits() {
                            self.note(target, EventField::Lambda, time, budget)?;
                        }
                    }
                    Op::Attributes { target, .. } => {
                        self.note(target, EventField::Attributes, time, budget)?;
                    }
                    Op::Vector { target, .. } => {
                        self.note(target, EventField::Vector, time, budget)?
                    }
                    Op::Link {
                        source,
                        target,
                        edge_type,
                        ..
                    }
                    | Op::Unlink {
                        source,
                        target,
                        edge_type,
                    } => {
                        self.note_edge((source, target, edge_type), time, budget)?;
                    }
                    Op::Touch { .. }
                    | Op::Decay { .. }
                    | Op::OpenSession { .. }
                    | Op::CloseSession { .. }
                    | Op::Settings { .. }
                    | Op::Actor { .. }
                    | Op::Request { .. }
                    | Op::Author { .. }
                    | Op::Erase { .. } => {}
                }
            }
            lsn = committed.commit.lsn;
        }
        Ok(())
    }

    fn note(
        &mut self,
        id: NodeId,
        field: EventField,
        time: Micros,
        budget: &mut MemoryBudget,
    ) -> Result<()> {
        note(self.fields.entry((id, field)), time, FIELD, budget)
    }

    fn note_flags(
        &mut self,
        id: NodeId,
        (before, after): (Flags, Flags),
        time: Micros,
        budget: &mut MemoryBudget,
    ) -> Result<()> {
        for (flag, field) in [
            (Flags::PINNED, EventField::Pinned),
            (Flags::FORGOTTEN, EventField::Forgotten),
        ] {
            if before.has(flag) != after.has(flag) {
                self.note(id, field, time, budget)?;
            }
        }
        Ok(())
    }

    fn note_edge(
        &mut self,
        edge: (NodeId, NodeId, EdgeType),
        time: Micros,
        budget: &mut MemoryBudget,
    ) -> Result<()> {
        note(self.edges.entry(edge), time, EDGE, budget)
    }

    /// When a field of an event was last set after the event was made.
    pub(crate) fn field(&self, id: NodeId, field: EventField) -> Option<Micros> {
        self.fields.get(&(id, field)).copied()
    }

    /// When an edge was last set or retracted, after it was there first or as it was made in the journal.
    pub(crate) fn edge(
        &self,
        source: NodeId,
        target: NodeId,
        edge_type: EdgeType,
    ) -> Option<Micros> {
        self.edges.get(&(source, target, edge_type)).copied()
    }
    /// Every edge that was set or retracted so, and when.
    pub(crate) fn edges(&self) -> impl Iterator<Item = ((NodeId, NodeId, EdgeType), Micros)> + '_ {
        self.edges.iter().map(|(edge, time)| (*edge, *time))
    }
}

/// The last of several changes counts; of the first, room for it is taken.
fn note<K>(
    entry: Entry<'_, K, Micros>,
    time: Micros,
    size: usize,
    budget: &mut MemoryBudget,
) -> Result<()> {
    match entry {
        Entry::Occupied(mut last) => *last.get_mut() = time.max(*last.get()),
        Entry::Vacant(first) => {
            budget.take_entries(1, size)?;
            first.insert(time);
        }
    }
    Ok(())
}
