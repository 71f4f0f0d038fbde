//! The events with the greatest scores, from a stream.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// An event and its score, ordered by score, then by id.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredEvent {
    /// Greater is better.
    pub score: f32,
    /// The event's id.
    pub id: u32,
}

impl Eq for ScoredEvent {}

impl Ord for ScoredEvent {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score
            .total_cmp(&other.score)
            .then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for ScoredEvent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A bounded heap of the best `limit` events.
#[derive(Debug, Clone)]
pub struct Top {
    limit: usize,
    worst_first: BinaryHeap<Reverse<ScoredEvent>>,
}

impl Top {
    /// An empty heap.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            worst_first: BinaryHeap::new(),
        }
    }

    /// The most events that the heap holds.
    #[inline]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// True if the heap holds `limit` events.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.worst_first.len() == self.limit
    }

    /// The least score that may enter; −∞ until the heap is full.
    #[inline]
    pub fn threshold(&self) -> f32 {
        match self.worst_first.peek() {
            Some(Reverse(worst)) if self.worst_first.len() == self.limit => worst.score,
            _ => f32::NEG_INFINITY,
        }
    }

    /// True if `push` would add it.
    #[inline]
    pub fn takes(&self, scored: ScoredEvent) -> bool {
        self.worst_first.len() < self.limit
            || self
                .worst_first
                .peek()
                .is_some_and(|worst| worst.0 < scored)
    }

    /// Adds an event if it is among the best so far.
    pub fn push(&mut self, scored: ScoredEvent) {
        if !self.takes(scored) {
            return;
        }
        if self.worst_first.len() == self.limit {
            self.worst_first.pop();
        }
        self.worst_first.push(Reverse(scored));
    }

    /// Ids and scores, best first.
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
            top.push(ScoredEvent { id, score });
        }
        assert_eq!(top.threshold(), 0.5);
        let best: Vec<_> = top.into_sorted().collect();
        assert_eq!(best, [(2, 2.0), (6, 1.0), (5, 0.5)]);
    }

    #[test]
    fn none_are_kept_where_none_are_wanted() {
        let mut top = Top::new(0);
        top.push(ScoredEvent { id: 1, score: 1.0 });
        assert_eq!(top.into_sorted().count(), 0);
    }
}
