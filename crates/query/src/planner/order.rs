//! Orders of a listing: a key, then the id, ascending or descending.

use amem_format::types::{Micros, NodeId};

/// One of an event's two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Axis {
    /// When the event was recorded.
    #[default]
    Recorded,
    /// When the event happened; its recorded time if that is not known.
    Happened,
}

/// What a listing is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SortKey {
    Time(Axis),
    Strength,
}

/// The position of an event in an order: its key, then its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    pub(crate) key: i64,
    pub(crate) id: NodeId,
}

impl Rank {
    pub(crate) fn of_time(time: Micros, id: NodeId) -> Self {
        Self { key: time.0, id }
    }

    pub(crate) fn of_strength(strength: f32, id: NodeId) -> Self {
        Self {
            key: ordered(strength),
            id,
        }
    }

    /// The strength whose rank this is. Any key gives a number.
    pub(crate) fn strength(self) -> f32 {
        unordered(self.key)
    }

    /// The rank as a pair that ascends in the direction of the listing.
    pub(crate) fn turned(self, descending: bool) -> (i64, u64) {
        if descending {
            (!self.key, !self.id.0)
        } else {
            (self.key, self.id.0)
        }
    }

    /// The inverse of `turned`.
    pub(crate) fn from_turned((key, id): (i64, u64), descending: bool) -> Self {
        let (key, id) = if descending { (!key, !id) } else { (key, id) };
        Self {
            key,
            id: NodeId(id),
        }
    }
}

/// Maps a float to an integer with the order of `f32::total_cmp`.
fn ordered(value: f32) -> i64 {
    let bits = value.to_bits() as i32;
    (bits ^ (((bits >> 31) as u32) >> 1) as i32).into()
}

/// The inverse of `ordered`.
fn unordered(key: i64) -> f32 {
    let bits = key as i32;
    f32::from_bits((bits ^ (((bits >> 31) as u32) >> 1) as i32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strengths_are_ordered_as_numbers() {
        let ascending = [-1.0, -0.0, 0.0, f32::MIN_POSITIVE, 0.25, 0.5, 1.0, 2.0];
        let keys: Vec<_> = ascending.iter().map(|&s| ordered(s)).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "{keys:?}");
        for (key, strength) in keys.into_iter().zip(ascending) {
            assert_eq!(unordered(key).to_bits(), strength.to_bits());
        }
    }

    #[test]
    fn turning_round_reverses_the_order() {
        let ranks = [(-5, 3), (0, 1), (0, 2), (i64::MAX, 0)].map(|(key, id)| Rank {
            key,
            id: NodeId(id),
        });
        for descending in [false, true] {
            let turned: Vec<_> = ranks.iter().map(|r| r.turned(descending)).collect();
            assert!(turned.is_sorted_by(|a, b| (a < b) != descending));
            for (rank, turned) in ranks.iter().zip(turned) {
                assert_eq!(Rank::from_turned(turned, descending), *rank);
            }
        }
    }
}
