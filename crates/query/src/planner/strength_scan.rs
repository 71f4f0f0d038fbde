//! A scan over all events that skips most weak ones without computing their strength.
//!
//! Strength at a time is a share of confidence. Within a block of events that share is at most what the formula gives
//! for the block's least rate and newest access (the cached summary). The scan skips a block if its greatest confidence
//! times that share is too low, and otherwise every event whose confidence is too low. It starts with the newest
//! events, which tend to be the strongest.
//!
//! Promises: the scan returns every event that is at least as strong as requested.
//! Not here: events whose strength the base's records do not determine; the scan returns them all.

use std::ops::Range;

use crate::planner::subject::Strength;
use amem_format::base::node;
use amem_format::base::summary_cache::{BLOCK, PART, Peak};
use amem_format::error::Result;
use amem_format::types::{Micros, NodeId};
use amem_format::view::{StrengthBounds, View, strength_after};

/// Bounds the relative rounding error of a bound and of a strength.
const SLACK: f64 = 1.0 + 1e-6;
/// Blocks after which the shares are computed again: by then the events are older and the bound is loose.
const FRESH: u32 = 16;
/// Below this a number may lose more to rounding than `SLACK` covers.
const TINY: f32 = 1e-30;

/// A scan by id, descending.
pub(crate) struct StrengthScan<'v> {
    view: &'v View,
    time: Micros,
    rates: [f32; 6],
    /// The ids that remain.
    ids: Range<u64>,
    /// The first event of the current block.
    block: u64,
    /// A bit for each event of the block that is still to be returned.
    left: u64,
    /// The greatest shares of confidence in a block, and in every block that it covers.
    shares: Option<(Peak, StrengthBounds)>,
    /// Blocks for which these shares may still be used.
    fresh: u32,
}

impl<'v> StrengthScan<'v> {
    /// Scans a range of ids; `None` if strength does not follow from one time and the base's records.
    pub(crate) fn new(view: &'v View, strength: &Strength, ids: Range<u64>) -> Option<Self> {
        if view.before_base() {
            return None;
        }
        let (time, rates) = strength.moment(view)?;
        Some(Self {
            view,
            time,
            rates,
            ids,
            block: 0,
            left: 0,
            shares: None,
            fresh: 0,
        })
    }

    /// The next event that may have at least this strength; any event if none is given.
    pub(crate) fn next(&mut self, least: Option<f32>) -> Result<Option<NodeId>> {
        let least = least.filter(|least| *least >= TINY);
        loop {
            while self.left != 0 {
                let at = self.left.ilog2();
                self.left ^= 1 << at;
                let id = NodeId(self.block + u64::from(at));
                if self.may_reach(id, least)? {
                    return Ok(Some(id));
                }
            }
            if self.ids.is_empty() {
                return Ok(None);
            }
            if self.ids.end > self.view.brain().base().nodes() {
                self.ids.end -= 1;
                return Ok(Some(NodeId(self.ids.end)));
            }
            self.enter(least)?;
        }
    }

    /// Moves to the previous block.
    fn enter(&mut self, least: Option<f32>) -> Result<()> {
        let brain = self.view.brain();
        let n = (self.ids.end - 1) / BLOCK;
        self.block = n * BLOCK;
        let from = self.block.max(self.ids.start);
        let within = (u64::MAX >> (BLOCK - (self.ids.end - from))) << (from - self.block);
        self.left = match least {
            None => {
                self.shares = None;
                within
            }
            Some(least) => {
                let touched = brain.delta().events.slot_bits(n) & within;
                touched | self.confident(n, from..self.ids.end, least)?
            }
        };
        self.ids.end = from;
        Ok(())
    }

    /// The events of the n-th block within a range that may have at least this strength if the journal does not change
    /// them: a bit each.
    fn confident(&mut self, n: u64, ids: Range<u64>, least: f32) -> Result<u64> {
        let base = self.view.brain().base();
        let peak = base.peak(n)?;
        let share = self.shares(&peak).of_block(&peak);
        let enough = (f64::from(least) / SLACK / share) as f32;
        let mut confident = 0;
        for (part, confidence) in (0..).zip(peak.confidences) {
            let from = (n * BLOCK + part * PART).max(ids.start);
            let ids = from..(n * BLOCK + (part + 1) * PART).min(ids.end);
            if confidence < enough || ids.is_empty() {
                continue;
            }
            for (record, id) in base.records(ids.clone())?.iter().zip(ids) {
                let is_enough = node::confidence(record) >= enough;
                confident |= u64::from(is_enough) << (id % BLOCK);
            }
        }
        Ok(confident)
    }

    /// The shares of a block. The shares of a newer block are used again while they cover it and are fresh.
    fn shares(&mut self, peak: &Peak) -> StrengthBounds {
        self.fresh = self.fresh.saturating_sub(1);
        match self.shares {
            Some((newer, shares)) if self.fresh > 0 && newer.covers(peak) => shares,
            _ => {
                let shares = StrengthBounds::at_most(peak, self.time, &self.rates);
                self.shares = Some((*peak, shares));
                self.fresh = FRESH;
                shares
            }
        }
    }

    fn may_reach(&self, id: NodeId, least: Option<f32>) -> Result<bool> {
        let brain = self.view.brain();
        let Some(least) = least.filter(|_| !brain.delta().events.has_slot(id)) else {
            return Ok(true);
        };
        let record = brain.base().raw(id)?;
        // If present, they cover the event's block.
        if let Some((_, shares)) = &self.shares {
            let bound = f64::from(record.confidence()) * shares.of_event(record);
            if bound < f64::from(least) / SLACK {
                return Ok(false);
            }
        }
        Ok(strength_after(record, self.time, &self.rates) >= least)
    }
}
