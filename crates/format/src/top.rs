//! The best of a stream of scored events.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event and its score; greater is better, and of equals the newer one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Greater is better.
    pub score: f32,
    /// The event.
    pub id: u32,
}

impl Eq for Scored {}

impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Keeps the best `limit`.
#[derive(Debug, Clone)]
pub struct Top {
    limit: usize,
    worst_first: BinaryHeap<Reverse<Scored>>,
}

impl Top {
    /// Keeps none yet, and `limit` at most.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            worst_first: BinaryHeap::new(),
        }
    }

    /// How many are kept.
    #[inline]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// True if so many are there.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.worst_first.len() == self.limit
    }

    /// What a score must not be below to be kept.
    #[inline]
    pub fn threshold(&self) -> f32 {
        match self.worst_first.peek() {
            Some(Reverse(worst)) if self.worst_first.len() == self.limit => worst.score,
            _ => f32::NEG_INFINITY,
        }
    }

    /// True if `push` would keep it.
    #[inline]
    pub fn takes(&self, scored: Scored) -> bool {
        self.worst_first.len() < self.limit
            || self
                .worst_first
                .peek()
                .is_some_and(|worst| worst.0 < scored)
    }

    /// Keeps it if it is among the best so far.
    pub fn push(&mut self, scored: Scored) {
        if !self.takes(scored) {
            return;
        }
        if self.worst_first.len() == self.limit {
            self.worst_first.pop();
        }
        self.worst_first.push(Reverse(scored));
    }

    /// The best, best first.
    pub fn into_sorted(self) -> impl Iterator<Item = (u32, f32)> {
        let sorted = self.worst_first.into_sorted_vec();
        sorted.into_iter().map(|Reverse(s)| (s.id, s.score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_come_first_and_of_equals_the_newest() {
        let mut top = Top::new(3);
        for (id, score) in [(1, 0.5), (2, 2.0), (3, 0.5), (4, 0.25), (5, 0.5), (6, 1.0)] {
            top.push(Scored { id, score });
        }
        assert_eq!(top.threshold(), 0.5);
        let best: Vec<_> = top.into_sorted().collect();
        assert_eq!(best, [(2, 2.0), (6, 1.0), (5, 0.5)]);
    }

    #[test]
    fn none_are_kept_where_none_are_wanted() {
        let mut top = Top::new(0);
        top.push(Scored { id: 1, score: 1.0 });
        assert_eq!(top.into_sorted().count(), 0);
    }
}
