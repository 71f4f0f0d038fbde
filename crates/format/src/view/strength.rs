//! Strength: an event's confidence, decayed over the days since its last access.
//!
//! Promises: the formula is here and nowhere else; its upper bounds hold up to rounding.
//! Not here: which accesses, rates and moments apply to an event (`Node`).

use crate::base::node::RawNode;
use crate::base::summary_cache::{Peak, of_rate};
use crate::types::{EventType, Flags, Micros};

/// Strength after a decay run at `time` of a base event that the journal leaves unchanged.
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

/// Upper bounds of strength divided by confidence, up to rounding, for the unchanged base events of a block: each
/// part of the formula takes the block's maximum.
#[derive(Debug, Clone, Copy)]
pub struct StrengthBounds {
    /// For events with the default rate of their type, by type.
    of_types: [f64; 6],
    /// For events with a rate of their own.
    own: f64,
}

impl StrengthBounds {
    /// The bounds at `time` for records within `peak`.
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

    /// The bound for every event of the block.
    pub fn of_block(&self, peak: &Peak) -> f64 {
        if peak.is_pinned {
            return 1.0;
        }
        let of_types = (0..6).filter(|t| peak.types >> t & 1 == 1);
        of_types.map(|t| self.of_types[t]).fold(self.own, f64::max)
    }

    /// The bound for one event of the block.
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

pub(super) fn rate_of(rates: &[f32; 6], event_type: EventType) -> f32 {
    rates[of_rate(event_type)]
}

/// confidence · e^(−rate · days / (1 + log2(1 + accesses))); without accesses it is the paper's formula.
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
