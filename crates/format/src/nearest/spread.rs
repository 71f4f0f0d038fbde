//! Upper bounds of every similarity, and the candidates for the greatest.

use super::{Query, ROWS, Work, yield_between_batches};
use crate::base::quantised_vectors::QuantisedVectors;

/// Writes the upper bounds of the first events into `uppers` and returns the events that may be the nearest, including
/// those without a usable code. Codes of the `changed` events, ascending, are stale: their bounds are NaN.
pub fn bound(
    codes: &QuantisedVectors<'_>,
    query: &Query,
    changed: &[u32],
    uppers: &mut [f32],
) -> Vec<u32> {
    let mut work = Work::of(ROWS.min(uppers.len()));
    let mut nearest = NearestCandidates::default();
    for (chunk, out) in uppers.chunks_mut(ROWS).enumerate() {
        let from = chunk * ROWS;
        let until = from + out.len();
        yield_between_batches(from);
        query.bounds_of_range(codes, from..until, &mut work);
        let (upper, lower) = (&mut work.upper[..out.len()], &mut work.lower[..out.len()]);
        for &id in &changed[changed.partition_point(|&id| (id as usize) < from)..] {
            let at = id as usize - from;
            if at >= out.len() {
                break;
            }
            (upper[at], lower[at]) = (f32::NAN, f32::NAN);
        }
        nearest.add(query, upper, lower, from);
        out.copy_from_slice(upper);
    }
    let reached = |&&(bound, _): &&(f32, u32)| bound >= nearest.floor;
    nearest
        .events
        .iter()
        .filter(reached)
        .map(|&(_, id)| id)
        .collect()
}

/// The events that may be the nearest.
struct NearestCandidates {
    /// The greatest lower bound.
    floor: f32,
    /// Upper bound and id of the events that reached the floor when they were scanned.
    events: Vec<(f32, u32)>,
}

impl Default for NearestCandidates {
    fn default() -> Self {
        Self {
            floor: f32::NEG_INFINITY,
            events: Vec::new(),
        }
    }
}

impl NearestCandidates {
    fn add(&mut self, query: &Query, upper: &[f32], lower: &[f32], from: usize) {
        let greatest = lower.get(query.kernels.greatest(lower)).copied();
        self.floor = greatest.map_or(self.floor, |greatest| self.floor.max(greatest));
        query.kernels.reaching(upper, self.floor, &mut |at| {
            self.events.push((upper[at], (from + at) as u32));
        });
    }
}
