//! Bounds of all similarities, and the events among which the greatest is.

use super::{Query, ROWS, Work, give_way};
use crate::base::codes::Codes;

/// Fills in the upper bounds of the first events, and gives those that may be the nearest by their bounds; those of
/// which the codes say nothing are among them. `changed` events, ascending, have other vectors than their codes: they
/// are left out, with a bound that is not a number.
pub fn bound(codes: &Codes<'_>, query: &Query, changed: &[u32], uppers: &mut [f32]) -> Vec<u32> {
    let mut work = Work::of(ROWS.min(uppers.len()));
    let mut nearest = NearestCandidates::default();
    for (chunk, out) in uppers.chunks_mut(ROWS).enumerate() {
        let from = chunk * ROWS;
        let until = from + out.len();
        give_way(from);
        query.bounds_in_turn(codes, from..until, &mut work);
        let (upper, lower) = (&mut work.upper[..out.len()], &mut work.lower[..out.len()]);
        for &id in &changed[changed.partition_point(|&id| (id as usize) < from)..] {
            let at = id as usize - from;
            if at >= out.len() {
                break;
            }
            (upper[at], lower[at]) = (f32::NAN, f32::NAN);
        }
        nearest.look(query, upper, lower, from);
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

/// Events that may be the nearest.
struct NearestCandidates {
    /// The greatest lower bound.
    floor: f32,
    /// Those whose upper bound reached the floor of that time.
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
    fn look(&mut self, query: &Query, upper: &[f32], lower: &[f32], from: usize) {
        let greatest = lower.get(query.kernels.greatest(lower)).copied();
        self.floor = greatest.map_or(self.floor, |greatest| self.floor.max(greatest));
        query.kernels.reaching(upper, self.floor, &mut |at| {
            self.events.push((upper[at], (from + at) as u32));
        });
    }
}
