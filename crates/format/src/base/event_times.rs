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
//! "Happened" is the event time, or the recorded time if there is none. Without any event time, the order is that of
//! ids.

use super::section::Section;
use crate::base::image::Body;
use crate::base::merge::{MergeRun, merge};
use crate::error::Result;
use crate::types::{Micros, NodeId};

/// The section, read in place.
#[derive(Debug, Clone, Copy)]
pub struct EventTimes<'a> {
    times: &'a [i64],
    ids: &'a [u32],
    happened: &'a [i64],
    order: &'a [u32],
}

impl<'a> EventTimes<'a> {
    /// Checks the counts and the bounds of the arrays.
    pub fn read(section: Section<'a>, nodes: u64) -> Result<Self> {
        let k = section.u64(0)?;
        if section.u64(8)? != nodes || k > nodes {
            return Err(section.bad(0, format!("it must cover the base's {nodes} events")));
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

    /// The event time; `None` if the client gave none.
    #[inline]
    pub fn get(&self, id: NodeId) -> Option<Micros> {
        super::attributes::position(self.ids, id)
            .and_then(|at| self.times.get(at))
            .map(|&t| Micros(t))
    }

    /// True if no event has an event time: then the order is that of ids.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// When events happened, by (happened, id).
    pub fn happened(&self) -> &'a [i64] {
        self.happened
    }

    /// Which events happened then, by (happened, id).
    pub fn order(&self) -> &'a [u32] {
        self.order
    }
}

/// The events after those of an older base.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewEvents<'a> {
    /// The lowest id.
    pub first: u32,
    /// Recorded times from `first` on, ascending.
    pub recorded: &'a [i64],
    /// Event times of those that have one, by id.
    pub times: &'a [(u32, i64)],
}

/// Writes the section: the times of an older base, then newer ones. `recorded` gives the recorded time of an older
/// event.
pub fn write(
    body: &mut Body<'_>,
    older: Option<EventTimes<'_>>,
    recorded: impl Fn(u32) -> Result<i64>,
    newer: NewEvents<'_>,
) -> Result<()> {
    let (times, ids) = older.map_or((&[][..], &[][..]), |o| (o.times, o.ids));
    let new_times: Vec<i64> = newer.times.iter().map(|&(_, t)| t).collect();
    let new_ids: Vec<u32> = newer.times.iter().map(|&(id, _)| id).collect();
    let order = if ids.is_empty() && new_times.is_empty() {
        Vec::new()
    } else {
        order(older, recorded, newer)?
    };
    body.u64((ids.len() + new_times.len()) as u64)?;
    body.u64(u64::from(newer.first) + newer.recorded.len() as u64)?;
    body.array(times)?;
    body.array(&new_times)?;
    body.array(&order.iter().map(|&(when, _)| when).collect::<Vec<i64>>())?;
    body.array(ids)?;
    body.array(&new_ids)?;
    body.array(&order.iter().map(|&(_, id)| id).collect::<Vec<u32>>())
}

/// All events by (happened, id).
fn order(
    older: Option<EventTimes<'_>>,
    recorded: impl Fn(u32) -> Result<i64>,
    newer: NewEvents<'_>,
) -> Result<Vec<(i64, u32)>> {
    let before: Vec<(i64, u32)> = match older {
        Some(o) if !o.ids.is_empty() => {
            let order = o.order.iter().copied();
            o.happened.iter().copied().zip(order).collect()
        }
        // Without event times the older order is that of ids.
        _ => (0..newer.first)
            .map(|id| Ok((recorded(id)?, id)))
            .collect::<Result<_>>()?,
    };
    let mut since: Vec<(i64, u32)> = newer.recorded.iter().copied().zip(newer.first..).collect();
    for &(id, time) in newer.times {
        since[(id - newer.first) as usize].0 = time;
    }
    since.sort_unstable();
    let mut out = Vec::with_capacity(before.len() + since.len());
    merge(
        before.len(),
        |at| before[at],
        since.into_iter().map(|entry| (entry, entry)),
        |piece| -> Result<()> {
            match piece {
                MergeRun::Older(range) => out.extend_from_slice(&before[range]),
                MergeRun::Newer(entry) => out.push(entry),
            }
            Ok(())
        },
    )?;
    Ok(out)
}
