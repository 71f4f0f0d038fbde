//! A walk over all events that leaves out, mostly without working out their strength, those that are too weak.
//!
//! Strength at a time is a share of confidence, which in a block of events is no greater than what the formula gives
//! for the least rate and the newest access among them (`learnt`). So a block is passed over if not even the greatest
//! confidence of it is enough at that share, and of another all events but those whose confidence is. The walk begins
//! with the newest: those are the strongest more often.
//!
//! Promises: whatever is at least as strong as asked for is among what the walk gives.
//! Not here: events of which the base's records don't tell the strength: those are all given.

use std::ops::Range;

use crate::planner::subject::Strength;
use amem_format::base::learnt::{BLOCK, PART, Peak};
use amem_format::base::node;
use amem_format::error::Result;
use amem_format::types::{Micros, NodeId};
use amem_format::view::{Shares, View, strength_after};

/// What is rounded in a bound and in a strength is less than this share of them.
const SLACK: f64 = 1.0 + 1e-6;
/// Blocks after which shares are worked out anew: by then the events are older, and less is left of them.
const FRESH: u32 = 16;
/// Below this a number may lose more by rounding than that share.
const TINY: f32 = 1e-30;

/// A walk over events by id, descending.
pub(crate) struct StrengthScan<'v> {
    view: &'v View,
    time: Micros,
    rates: [f32; 6],
    /// What the walk has not come to.
    ids: Range<u64>,
    /// Where the block begins that it is in.
    block: u64,
    /// A bit for each event of that block which may be given yet.
    left: u64,
    /// The shares of confidence that are left at most in a block, and in any that it covers.
    shares: Option<(Peak, Shares)>,
    /// Blocks for which these will do.
    fresh: u32,
}

impl<'v> StrengthScan<'v> {
    /// The events within a range of ids; none if strength is not that of one time and the base's records.
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

    /// The next event that may be as strong as this; any, if nothing is asked for.
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

    /// Goes on to the block before.
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
                let touched = brain.delta().events.touched_in(n) & within;
                touched | self.confident(n, from..self.ids.end, least)?
            }
        };
        self.ids.end = from;
        Ok(())
    }

    /// Those of the n-th block within a range that may be as strong as this if the journal says nothing about them: a
    /// bit each.
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

    /// The shares of a block: those of a newer one, unless they are not enough or of long ago.
    fn shares(&mut self, peak: &Peak) -> Shares {
        self.fresh = self.fresh.saturating_sub(1);
        match self.shares {
            Some((newer, shares)) if self.fresh > 0 && newer.covers(peak) => shares,
            _ => {
                let shares = Shares::at_most(peak, self.time, &self.rates);
                self.shares = Some((*peak, shares));
                self.fresh = FRESH;
                shares
            }
        }
    }

    fn may_reach(&self, id: NodeId, least: Option<f32>) -> Result<bool> {
        let brain = self.view.brain();
        let Some(least) = least.filter(|_| !brain.delta().events.is_touched(id)) else {
            return Ok(true);
        };
        let record = brain.base().raw(id)?;
        // If there are any, they cover the block that the event is in.
        if let Some((_, shares)) = &self.shares {
            let bound = f64::from(record.confidence()) * shares.of_event(record);
            if bound < f64::from(least) / SLACK {
                return Ok(false);
            }
        }
        Ok(strength_after(record, self.time, &self.rates) >= least)
    }
}
