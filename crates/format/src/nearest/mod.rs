//! What is nearest to a direction, found by codes first and by the vectors themselves last.
//!
//! `exact` looks at the codes of all, which bound what the vectors can give, and then at the vectors of those that may
//! be among the best: its answer is that of looking at every vector. `probe` looks into a few clusters only, and may
//! miss some. `spread` bounds all similarities, for those who add something to them. All leave the last word, the
//! similarity to the bit and who is admitted, to their caller.
//!
//! Not here: who is asked about (`query::similar`), making codes and clusters (`fold::codes`).

pub mod exact;
pub mod probe;
pub mod spread;

use std::ops::Range;

use crate::base::codes::Codes;
use crate::error::Result;
use crate::simd::{BoundFormula, DotBounds, Kernels, LINE, QuantisedQuery, prefetch};
use crate::top::{ScoredEvent, Top};

/// Who says how near events are, to the bit, and which are wanted.
pub trait Rate {
    /// The event may soon be looked at: what that takes is asked of memory.
    fn expect(&self, id: u32);

    /// Looks at the vector of an event, and pushes it if it is wanted and among the best.
    fn rate(&mut self, id: u32, top: &mut Top) -> Result<()>;
}

/// Events whose vectors are on their way from memory while one is looked at.
const EXPECTED: usize = 4;

/// Looks at these events, each with an upper bound of its score, but for those that can't enter any more.
fn look_at(found: &[ScoredEvent], top: &mut Top, rate: &mut dyn Rate) -> Result<()> {
    let may_enter = |found: &&ScoredEvent, top: &Top| found.score >= top.threshold();
    for next in found.iter().take(EXPECTED) {
        rate.expect(next.id);
    }
    for (at, one) in found.iter().enumerate() {
        let next = found.get(at + EXPECTED);
        if let Some(next) = next.filter(|next| may_enter(next, top)) {
            rate.expect(next.id);
        }
        if may_enter(&one, top) {
            rate.rate(one.id, top)?;
        }
    }
    Ok(())
}

/// Lengths to which directions and vectors are rounded when they are divided by theirs: more than that.
const UNIT: f32 = 1.0 + 1e-5;

/// A direction, made ready to be held against codes.
#[derive(Debug)]
pub struct Query {
    coded: QuantisedQuery,
    line: BoundFormula,
    kernels: Kernels,
}

impl Query {
    /// Of a vector of length 1.
    pub fn new(unit: &[f32], codes: &Codes<'_>) -> Self {
        let coded = QuantisedQuery::of(unit);
        let line = line(&coded, unit, codes.centre, codes.reach);
        Self {
            coded,
            line,
            kernels: Kernels::best(),
        }
    }

    /// What the similarities of these rows lie between.
    #[inline]
    fn bounds(&self, rows: &[u8], scales: &[u32], work: &mut Work) {
        let sums = &mut work.sums[..scales.len()];
        self.kernels.code_sums(&self.coded, rows, sums);
        self.bounds_of_sums(scales, work);
    }

    /// As `bounds`, of these rows of all; those that come after are loaded meanwhile.
    #[inline]
    fn bounds_in_turn(&self, codes: &Codes<'_>, rows: Range<usize>, work: &mut Work) {
        let stride = codes.stride;
        let each = (STRIP / stride.max(1)).max(1);
        let strips =
            codes.rows[rows.start * stride..rows.end * stride].chunks(each * stride.max(1));
        let mut ahead = rows.start * stride + AHEAD;
        for (strip, sums) in strips.zip(work.sums[..rows.len()].chunks_mut(each)) {
            for at in (ahead..ahead + strip.len()).step_by(LINE) {
                prefetch(codes.rows, at);
            }
            ahead += strip.len();
            self.kernels.code_sums(&self.coded, strip, sums);
        }
        self.bounds_of_sums(&codes.scales[rows], work);
    }

    #[inline]
    fn bounds_of_sums(&self, scales: &[u32], work: &mut Work) {
        let count = scales.len();
        let out = DotBounds {
            upper: &mut work.upper[..count],
            lower: &mut work.lower[..count],
        };
        self.kernels
            .bounds(&self.line, &work.sums[..count], scales, out);
    }
}

/// How sums over codes become bounds of similarities with a direction.
pub fn line(coded: &QuantisedQuery, unit: &[f32], centre: &[f32], reach: f32) -> BoundFormula {
    let products = unit.iter().zip(centre);
    let of_centre: f64 = products.map(|(&u, &c)| f64::from(u) * f64::from(c)).sum();
    // Sums of d products of numbers whose squares sum to 1, on either side: each step rounds by half an ε at most.
    let slack = (unit.len() as f32 + 100.0) * f32::EPSILON;
    BoundFormula::new(coded, UNIT, of_centre as f32, reach, slack)
}

/// Rows that are looked at together: what is made of them stays in the nearest cache.
const ROWS: usize = 1024;

/// Rows after which a scan gives way: some tenths of a millisecond.
const TURN: usize = 64 * ROWS;

/// Lets a thread go first that waits for this processor. A scan of a million rows takes milliseconds, and systems let a
/// thread run that long before one that just woke up for a light call, however much nicer the first is.
#[inline]
fn give_way(row: usize) {
    if row > 0 && row.is_multiple_of(TURN) {
        std::thread::yield_now();
    }
}

/// Bytes of codes that are summed at a time, and how far ahead of them the next are asked for: the processor itself
/// looks ahead within a page only, and waits at the next where the codes are not in a cache.
const STRIP: usize = 4096;
const AHEAD: usize = 8192;

/// What is made of some rows.
#[derive(Debug)]
pub struct Work {
    /// Sums of codes and query.
    pub sums: Vec<i32>,
    /// No row is nearer than this.
    pub upper: Vec<f32>,
    /// Every row is at least this near.
    pub lower: Vec<f32>,
}

impl Work {
    /// Room for so many.
    pub fn of(count: usize) -> Self {
        Self {
            sums: vec![0; count],
            upper: vec![0.0; count],
            lower: vec![0.0; count],
        }
    }
}
