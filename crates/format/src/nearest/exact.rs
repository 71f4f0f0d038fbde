//! The nearest, exactly: all codes, then the vectors that may be among the best.
//!
//! Each code gives an upper and a lower bound. The greatest `limit` lower bounds say what the last of the best has at
//! least, so an event whose upper bound is below that is not among them. The others are looked at, those with the
//! greatest upper bound first, until none that is left can enter. If the caller did not admit some of them, what was
//! left out may enter after all: then that is looked at as well.

use super::{Query, ROWS, Rate, Work, give_way, look_at};
use crate::base::codes::Codes;
use crate::error::Result;
use crate::top::{ScoredEvent, Top};

/// Puts the best of the first `count` events into `top`, beside what is there already. None below `least`.
pub fn best(
    codes: &Codes<'_>,
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
            found: Vec::new(),
            // Only the first time: the lower bounds of those that were not admitted say nothing.
            lower: Top::new(if guess.is_none() { top.limit() } else { 0 }),
            floor,
            ceiling,
        };
        scan.all(codes, query, count, &mut work);
        let reached = scan.floor;
        scan.found.retain(|found| found.score >= reached);
        scan.found.sort_unstable_by(|a, b| b.cmp(a));
        look_at(&scan.found, top, rate)?;
        // Who is below what was reached can't be wanted, or can't enter.
        let enough = least.max(top.threshold());
        if reached <= enough {
            return Ok(());
        }
        (ceiling, guess) = (Some(reached), Some(enough));
    }
}

/// One look at all codes.
struct CodeScan {
    /// Upper bounds that reach the floor, and are below the ceiling.
    found: Vec<ScoredEvent>,
    /// The greatest lower bounds.
    lower: Top,
    floor: f32,
    ceiling: Option<f32>,
}

impl CodeScan {
    fn all(&mut self, codes: &Codes<'_>, query: &Query, count: usize, work: &mut Work) {
        for from in (0..count).step_by(ROWS) {
            let until = count.min(from + ROWS);
            give_way(from);
            query.bounds_in_turn(codes, from..until, work);
            self.raise(query, &work.lower[..until - from], from);
            self.collect(query, &work.upper[..until - from], from);
        }
    }

    /// Raises the floor to the least of the greatest lower bounds.
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
        let (found, ceiling) = (&mut self.found, self.ceiling);
        query.kernels.reaching(upper, self.floor, &mut |at| {
            if ceiling.is_none_or(|ceiling| upper[at] < ceiling) {
                found.push(ScoredEvent {
                    score: upper[at],
                    id: (from + at) as u32,
                });
            }
        });
    }
}
