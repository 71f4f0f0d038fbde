//! Section 0x46, event times: when events happened, and all events in that order.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u64 | events with a time k |
//! | 8 | u64 | events n |
//! | 16 | i64 × k | the times |
//! | | i64 × n | by (happened, id): when it happened; absent if k is 0 |
//! | | u32 × k | events with a time, ascending |
//! | | u32 × n | by (happened, id): which event; absent if k is 0 |
//!
//! "Happened" is the event time, or the recorded time where there is none. Without any event time, that
//! order is the order of ids.

use super::section::Section;
use crate::error::Result;
use crate::fold::image::Body;
use crate::types::{Micros, NodeId};

/// The section, in place.
#[derive(Debug, Clone, Copy)]
pub struct EventTimes<'a> {
    times: &'a [i64],
    ids: &'a [u32],
    happened: &'a [i64],
    order: &'a [u32],
}

impl<'a> EventTimes<'a> {
    /// Reads the section's front.
    pub fn read(section: Section<'a>, nodes: u64) -> Result<Self> {
        let k = section.u64(0)?;
        if section.u64(8)? != nodes || k > nodes {
            return Err(section.bad(0, format!("it is of other than the brain's {nodes} events")));
        }
        let n = if k == 0 { 0 } else { nodes };
        let times = section.array(16, k)?;
        let happened = section.array(16 + 8 * k, n)?;
        let ids = section.array(16 + 8 * (k + n), k)?;
        let order = section.array(16 + 8 * (k + n) + 4 * k, n)?;
        Ok(Self {
            times,
            ids,
            happened,
            order,
        })
    }

    /// When an event happened, if that was said.
    #[inline]
    pub fn get(&self, id: NodeId) -> Option<Micros> {
        super::attributes::position(self.ids, id)
            .and_then(|at| self.times.get(at))
            .map(|&t| Micros(t))
    }

    /// True if no event has a time of its own: then the order of "happened" is that of ids.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// By (happened, id): when.
    pub fn happened(&self) -> &'a [i64] {
        self.happened
    }

    /// By (happened, id): which event.
    pub fn order(&self) -> &'a [u32] {
        self.order
    }
}

/// Writes the section from the event times (ascending by event), and recorded times of all.
pub fn write(body: &mut Body<'_>, times: &[(u32, i64)], recorded: &[i64]) -> Result<()> {
    body.u64(times.len() as u64)?;
    body.u64(recorded.len() as u64)?;
    let own: Vec<i64> = times.iter().map(|&(_, t)| t).collect();
    let ids: Vec<u32> = times.iter().map(|&(id, _)| id).collect();
    let (mut happened, mut order) = (Vec::new(), Vec::new());
    if !times.is_empty() {
        let mut when = recorded.to_vec();
        for &(id, t) in times {
            when[id as usize] = t;
        }
        order = (0..recorded.len() as u32).collect();
        order.sort_unstable_by_key(|&id| (when[id as usize], id));
        happened = order.iter().map(|&id| when[id as usize]).collect();
    }
    body.array(&own)?;
    body.array(&happened)?;
    body.array(&ids)?;
    body.array(&order)
}
