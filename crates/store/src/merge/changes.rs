//! When each field, edge and session was changed last: of two values, the later one counts.
//!
//! A value that a merge brought has the time of its change in the brain where it was changed, its stamp; one that this
//! brain set, that of the commit.

use std::collections::{BTreeMap, HashMap};

use amem_format::base::history::PriorValue;
use amem_format::limits::TIME_MICROS_MAX;
use amem_format::stamp::{EventFields, StampTarget};
use amem_format::view::View;
use amem_format::{EdgeType, Flags, Micros, NodeId, SessionId};

use super::budget::MemoryBudget;
use crate::error::Result;

/// Bytes per recorded change, per stamp, and of the flags in between.
const CHANGE: usize = size_of::<(StampTarget, Micros)>();
const STATE: usize = size_of::<(NodeId, Flags)>();

/// The last changes of a brain after the creation of what they changed; no entry: none.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// By history and journal.
    recorded: HashMap<StampTarget, Micros>,
    /// Of values that merges brought, and of those that replaced them under a clock that was behind.
    stamps: BTreeMap<StampTarget, Micros>,
}

impl Changes {
    /// Reads history and journal; holds only the last change of each field and edge.
    pub(crate) fn of(view: &View, budget: &mut MemoryBudget) -> Result<Self> {
        let mut changes = Self::default();
        budget.take_entries(view.change_stamps_max()?, CHANGE)?;
        changes.stamps = view.change_stamps()?;
        // The state before each change, from the newest to the oldest: what differs was changed then.
        let mut states: HashMap<NodeId, Flags> = HashMap::new();
        let base = view.brain().base();
        let history = base.history()?;
        for at in (0..history.len()).rev() {
            let change = history.at(at)?;
            let (id, time) = (change.target, change.time);
            let mut field = |of| changes.note(StampTarget::Field(id, of), time, budget);
            match change.before {
                PriorValue::Confidence(_) => {}
                PriorValue::Attributes(_) => field(EventFields::ATTRIBUTES)?,
                PriorValue::Vector(_) => field(EventFields::VECTOR)?,
                PriorValue::Lambda(_) => field(EventFields::LAMBDA)?,
                PriorValue::Flags(before) => {
                    let after = match states.insert(id, before) {
                        Some(after) => after,
                        None => {
                            budget.take_entries(1, STATE)?;
                            base.record(id)?.flags
                        }
                    };
                    for (flag, of) in FLAGS {
                        if before.has(flag) != after.has(flag) {
                            changes.note(StampTarget::Field(id, of), time, budget)?;
                        }
                    }
                }
                PriorValue::Edge {
                    target, edge_type, ..
                } => changes.note(StampTarget::Edge(id, target, edge_type), time, budget)?,
            }
        }
        view.changed_since_base(|_, of, time| match of {
            // The session itself has the time.
            StampTarget::Session(_) => Ok(()),
            of => changes.note(of, time, budget),
        })?;
        Ok(changes)
    }

    /// The last of several changes counts; of the first, room for it is taken.
    fn note(&mut self, of: StampTarget, time: Micros, budget: &mut MemoryBudget) -> Result<()> {
        if !self.recorded.contains_key(&of) {
            budget.take_entries(1, CHANGE)?;
        }
        let last = self.recorded.entry(of).or_insert(time);
        *last = time.max(*last);
        Ok(())
    }

    /// When a field of an event was last set after the event was made.
    pub(crate) fn field(&self, id: NodeId, field: EventFields) -> Option<Micros> {
        let of = StampTarget::Field(id, field);
        let time = self.stamps.get(&of).or_else(|| self.recorded.get(&of));
        time.copied().map(in_range)
    }

    /// When an edge was last set or retracted; `made` is its recorded time if it exists. `None` if it never did.
    pub(crate) fn edge(
        &self,
        (source, target, edge_type): (NodeId, NodeId, EdgeType),
        made: Option<Micros>,
    ) -> Option<Micros> {
        let of = StampTarget::Edge(source, target, edge_type);
        let time = match self.stamps.get(&of) {
            Some(stamp) => Some(*stamp),
            // An edge that was made again has no history of that, only its recorded time.
            None => self.recorded.get(&of).copied().max(made),
        };
        time.map(in_range)
    }

    /// When a session was last closed or opened again; `recorded` is what the session itself says.
    pub(crate) fn session(&self, id: SessionId, recorded: Option<Micros>) -> Option<Micros> {
        let stamp = self.stamps.get(&StampTarget::Session(id)).copied();
        stamp.or(recorded).map(in_range)
    }

    /// Every edge that was ever set or retracted after it was there first.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (NodeId, NodeId, EdgeType)> + '_ {
        let recorded = self.recorded.keys();
        let recorded = recorded.filter(|of| !self.stamps.contains_key(of));
        recorded
            .chain(self.stamps.keys())
            .filter_map(|of| match *of {
                StampTarget::Edge(source, target, edge_type) => Some((source, target, edge_type)),
                _ => None,
            })
    }
}

const FLAGS: [(Flags, EventFields); 2] = [
    (Flags::PINNED, EventFields::PINNED),
    (Flags::FORGOTTEN, EventFields::FORGOTTEN),
];

/// A time that a stamp can have, also of a file that has others.
fn in_range(time: Micros) -> Micros {
    Micros(time.0.clamp(0, TIME_MICROS_MAX))
}
