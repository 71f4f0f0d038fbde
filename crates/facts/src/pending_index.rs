//! The open work of a brain in short: how much, since when, and when it is tried next.
//!
//! Promises: a look costs in proportion to the events since the last one; a look at a new generation, to the pending
//! work that the brain ever had.

use std::collections::HashMap;

use amem_format::types::{Generation, Lsn, Micros};
use amem_format::view::View;
use amem_format::{Error as FormatError, NodeId};
use amem_memory::FactScope;
use uuid::Uuid;

use crate::error::Result;
use crate::limits::RECENT_EVENTS_READ;
use crate::pending_work::{PendingEntry, is_due, open_work};
use crate::record::{EventAttributes, PendingState, path};
use amem_query::planner::events_with;

/// The open work of a brain, as numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PendingSummary {
    /// Pieces of work.
    pub count: u64,
    /// When the oldest of them was stored first.
    pub oldest: Option<Micros>,
    /// When the next one is tried again; `None` if only a change of settings helps, or there is none.
    pub next_try: Option<Micros>,
}

impl PendingSummary {
    /// True if some of it is to be tried now.
    pub fn is_due(&self, now: Micros) -> bool {
        is_due(self.next_try, now)
    }
}

/// When work was stored first, and when it is tried again.
type WorkTimes = (Micros, Option<Micros>);

/// The open work of one brain, kept up with its commits.
#[derive(Debug, Default)]
pub struct PendingIndex {
    /// The state that was read last; `None` before the first look, and after one that failed.
    read: Option<(Uuid, Generation, Lsn, u64)>,
    open: HashMap<Uuid, WorkTimes>,
    summary: PendingSummary,
}

fn times(entry: &PendingEntry) -> WorkTimes {
    (entry.since, entry.work.next_try)
}

impl PendingIndex {
    /// The open work of a view. A view that is older than that of the last look is answered like that one.
    ///
    /// # Errors
    /// Damage; the next look reads everything again.
    pub fn look(&mut self, view: &View) -> Result<PendingSummary> {
        let identity = view.identity();
        let (instance, generation) = (identity.instance, identity.generation);
        let now = (instance, generation, view.lsn(), view.nodes());
        let from = match self.read {
            Some((known, of, lsn, nodes)) if (known, of) == (instance, generation) => {
                if view.lsn() <= lsn {
                    return Ok(self.summary);
                }
                Some(nodes)
            }
            _ => None,
        };
        self.read = None;
        match from {
            Some(nodes) => self.read_since(view, nodes)?,
            // An erase makes a new generation: what it took is not in this list.
            None => {
                let open = open_work(view, &FactScope::default())?;
                let entries = open.iter().map(|entry| (entry.id, times(entry)));
                self.open = entries.collect();
            }
        }
        let open = || self.open.values();
        self.summary = PendingSummary {
            count: self.open.len() as u64,
            oldest: open().map(|(since, _)| *since).min(),
            next_try: open().filter_map(|(_, next)| *next).min(),
        };
        self.read = Some(now);
        Ok(self.summary)
    }

    fn read_since(&mut self, view: &View, from: u64) -> Result<()> {
        let recent = view.nodes().saturating_sub(from);
        let ids: Vec<NodeId> = if recent <= RECENT_EVENTS_READ {
            (from..view.nodes()).map(NodeId).collect()
        } else {
            let mut ids = events_with(view, path::PENDING_STATE, "open")?;
            ids.extend(events_with(view, path::PENDING_STATE, "done")?);
            ids.retain(|id| id.0 >= from);
            // What an event says of work holds until the next one about it.
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        for id in ids {
            self.read_event(view, id)?;
        }
        Ok(())
    }

    fn read_event(&mut self, view: &View, id: NodeId) -> Result<()> {
        let node = view.node(id)?;
        let json = node.attributes_json()?;
        // Most events are none of these: they are not parsed.
        if node.is_erased() || !json.is_some_and(|json| json.contains("amem.pending")) {
            return Ok(());
        }
        let attributes = EventAttributes::read(&node)?;
        let Some(record) = attributes.and_then(|attributes| attributes.pending) else {
            return Ok(());
        };
        match record.state {
            PendingState::Done => {
                self.open.remove(&record.id);
            }
            PendingState::Open => {
                let entry = PendingEntry::read(&node)?;
                if entry.id != record.id {
                    let why = format!(
                        "event {id} names the work {} and has {}",
                        record.id, entry.id
                    );
                    return Err(FormatError::corrupt("amem.pending", 0, why).into());
                }
                self.open.insert(record.id, times(&entry));
            }
        }
        Ok(())
    }
}
