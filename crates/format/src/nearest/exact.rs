//! Exact search: all codes, then the vectors that may be among the best.
//!
//! Each code gives an upper and a lower bound of the similarity. The least of the `limit` greatest lower bounds is a
//! floor: an event whose upper bound is below it is not among the best. The others are rated, greatest upper bound
//! first, until no remaining one can enter. If the caller does not admit some of them, events below the floor may enter
//! after all: a second scan rates those.

use super::{Query, ROWS, Rate, Work, rate_candidates, yield_between_batches};
use crate::base::quantised_vectors::QuantisedVectors;
use crate::error::Result;
use crate::top::{ScoredEvent, Top};

/// Adds the best of the first `count` events to `top`, none with a similarity below `least`.
pub fn best(
    codes: &QuantisedVectors<'_>,
    query: &Query,
    count: usize,
    least: f32,
    top: &mut Top,
    rate: &mut dyn Rate,
) -> Result<()> {
    let mut work = Work::of(ROWS.min(count));
    let mut ceiling = None;
    let mut guess = None;
    loop {
        let floor = guess.unwrap_or_else(|| least.max(top.threshold()));
        let mut scan = CodeScan {
            candidates: Vec::new(),
            // In the first scan only: lower bounds of events that the caller rejects are no floor.
            lower: Top::new(if guess.is_none() { top.limit() } else { 0 }),
            floor,
            ceiling,
        };
        scan.all(codes, query, count, &mut work);
        let reached = scan.floor;
        scan.candidates
            .retain(|candidate| candidate.score >= reached);
        scan.candidates.sort_unstable_by(|a, b| b.cmp(a));
        rate_candidates(&scan.candidates, top, rate)?;
        // Events below the reached floor are below `least` or cannot enter.
        let needed = least.max(top.threshold());
        if reached <= needed {
            return Ok(());
        }
        (ceiling, guess) = (Some(reached), Some(needed));
    }
}

/// One pass over all codes.
struct CodeScan {
    /// Upper bounds that reach the floor, and are below the ceiling.
    candidates: Vec<ScoredEvent>,
    /// The greatest lower bounds.
    lower: Top,
    floor: f32,
    ceiling: Option<f32>,
}

impl CodeScan {
    fn all(&mut self, codes: &QuantisedVectors<'_>, query: &Query, count: usize, work: &mut Work) {
        for from in (0..count).step_by(ROWS) {
            let until = count.min(from + ROWS);
            yield_between_batches(from);
            query.bounds_of_range(codes, from..until, work);
            self.raise(query, &work.lower[..until - from], from);
            self.collect(query, &work.upper[..until - from], from);
        }
    }

    /// Raises the floor to the least of the `limit` greatest lower bounds.
    fn raise(&mut self, query: &Query, lower: &[f32], from: usize) {
        let best = &mut self.lower;
        if best.limit() == 0 {
            return;
        }
        query.kernels.reaching(lower, best.threshold(), &mut |at| {
            best.push(ScoredEvent {
                score: lower[at],
                id: (from + at) as u32,
            });
        });
        self.floor = self.floor.max(best.threshold());
    }

    fn collect(&mut self, query: &Query, upper: &[f32], from: usize) {
        let (candidates, ceiling) = (&mut self.candidates, self.ceiling);
        query.kernels.reaching(upper, self.floor, &mut |at| {
            if ceiling.is_none_or(|ceiling| upper[at] < ceiling) {
                candidates.push(ScoredEvent {
                    score: upper[at],
                    id: (from + at) as u32,
                });
            }
        });
    }
}
