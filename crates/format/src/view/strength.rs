//! Strength: what is left of an event's confidence after days without access.
//!
//! Promises: the formula is here and nowhere else; a bound of it is off by no more than what is rounded.
//! Not here: which accesses, rates and moments count for whom (`Node`).

use crate::base::node::RawNode;
use crate::base::summary_cache::{Peak, of_rate};
use crate::types::{EventType, Flags, Micros};

/// Strength after a decay run of a base event about which the journal says nothing.
pub fn strength_after(record: RawNode<'_>, time: Micros, rates: &[f32; 6]) -> f32 {
    let rate = if record.lambda() > 0.0 {
        record.lambda()
    } else {
        rate_of(rates, record.event_type())
    };
    decay(
        record.confidence(),
        record.flags().has(Flags::PINNED),
        rate,
        time,
        record.last_accessed(),
        record.access_count(),
    )
}

/// Which shares of their confidence no events of a block are stronger than at a time, but for what is rounded, if the
/// journal says nothing about them: each part of the formula at its most.
#[derive(Debug, Clone, Copy)]
pub struct Shares {
    /// Of those with the rate of each type.
    of_types: [f64; 6],
    /// Of those with a rate of their own.
    own: f64,
}

impl Shares {
    /// The largest shares that records within a peak can have at a time.
    pub fn at_most(peak: &Peak, time: Micros, rates: &[f32; 6]) -> Self {
        let of = |rate| share(rate, time, peak.last_accessed, peak.access_count);
        Self {
            of_types: rates.map(of),
            own: if peak.lambda.is_finite() {
                of(peak.lambda)
            } else {
                0.0
            },
        }
    }

    /// Of the events of a block.
    pub fn of_block(&self, peak: &Peak) -> f64 {
        if peak.is_pinned {
            return 1.0;
        }
        let of_types = (0..6).filter(|t| peak.types >> t & 1 == 1);
        of_types.map(|t| self.of_types[t]).fold(self.own, f64::max)
    }

    /// Of one event of such a block.
    pub fn of_event(&self, record: RawNode<'_>) -> f64 {
        if record.flags().has(Flags::PINNED) {
            1.0
        } else if record.lambda() > 0.0 {
            self.own
        } else {
            self.of_types[of_rate(record.event_type())]
        }
    }
}

/// The rate of a type.
pub(super) fn rate_of(rates: &[f32; 6], event_type: EventType) -> f32 {
    rates[of_rate(event_type)]
}

/// confidence · e^(−rate · days / (1 + log2(1 + accesses))); the paper's formula where nothing was accessed.
pub(super) fn decay(
    confidence: f32,
    pinned: bool,
    rate: f32,
    now: Micros,
    last: Micros,
    count: u32,
) -> f32 {
    if pinned {
        return confidence;
    }
    (f64::from(confidence) * share(rate, now, last, count)) as f32
}

fn share(rate: f32, now: Micros, last: Micros, count: u32) -> f64 {
    let days = now.0.saturating_sub(last.0).max(0) as f64 / Micros::DAY as f64;
    let slowed = match count {
        0 => 1.0,
        _ => 1.0 + (1.0 + f64::from(count)).log2(),
    };
    (-f64::from(rate) * days / slowed).exp()
}
