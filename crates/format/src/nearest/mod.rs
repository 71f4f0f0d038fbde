//! Nearest-neighbour search over 4-bit codes; exact similarities decide last.
//!
//! `exact` scans all codes, which bound the similarities, and then the vectors that may be among the best: its result
//! is that of a scan of every vector. `probe` reads a few IVF lists only and may miss some. `spread` bounds every
//! similarity, for scores with other terms. The caller decides: it computes exact similarities and admits events.
//!
//! Not here: the query (`query::similar`), building codes and IVF lists (`base_builder`).

pub mod exact;
pub mod probe;
pub mod spread;

use std::ops::Range;

use crate::base::quantised_vectors::QuantisedVectors;
use crate::error::Result;
use crate::top::{ScoredEvent, Top};
use amem_kernels::{BoundFormula, DotBounds, Kernels, LINE, QuantisedQuery, prefetch};

/// The caller's part of a search: exact similarities, and which events it admits.
pub trait Rate {
    /// Prefetches an event that `rate` may soon be called for.
    fn expect(&self, id: u32);

    /// Computes an event's similarity and pushes the event if the caller admits it.
    fn rate(&mut self, id: u32, top: &mut Top) -> Result<()>;
}

/// How many events ahead are prefetched.
const PREFETCH_EVENTS: usize = 4;

/// Rates candidates, each with an upper bound of its score, and skips those that can no longer enter `top`.
fn rate_candidates(found: &[ScoredEvent], top: &mut Top, rate: &mut dyn Rate) -> Result<()> {
    let may_enter = |found: &&ScoredEvent, top: &Top| found.score >= top.threshold();
    for next in found.iter().take(PREFETCH_EVENTS) {
        rate.expect(next.id);
    }
    for (at, one) in found.iter().enumerate() {
        let next = found.get(at + PREFETCH_EVENTS);
        if let Some(next) = next.filter(|next| may_enter(next, top)) {
            rate.expect(next.id);
        }
        if may_enter(&one, top) {
            rate.rate(one.id, top)?;
        }
    }
    Ok(())
}

/// An upper bound of the length of a normalised vector, after rounding.
const UNIT: f32 = 1.0 + 1e-5;

/// A query vector, prepared for comparison with codes.
#[derive(Debug)]
pub struct Query {
    quantised: QuantisedQuery,
    formula: BoundFormula,
    kernels: Kernels,
}

impl Query {
    /// Prepares a vector of length 1.
    pub fn new(unit: &[f32], codes: &QuantisedVectors<'_>) -> Self {
        let quantised = QuantisedQuery::of(unit);
        let formula = line(&quantised, unit, codes.centre, codes.reach);
        Self {
            quantised,
            formula,
            kernels: Kernels::best(),
        }
    }

    /// Computes bounds of the similarities of `rows` into `work`.
    #[inline]
    fn bounds(&self, rows: &[u8], scales: &[u32], work: &mut Work) {
        let sums = &mut work.sums[..scales.len()];
        self.kernels.code_sums(&self.quantised, rows, sums);
        self.bounds_of_sums(scales, work);
    }

    /// `bounds` for a range of all rows; prefetches the rows behind it.
    #[inline]
    fn bounds_of_range(&self, codes: &QuantisedVectors<'_>, rows: Range<usize>, work: &mut Work) {
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
            self.kernels.code_sums(&self.quantised, strip, sums);
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
            .bounds(&self.formula, &work.sums[..count], scales, out);
    }
}

/// The coefficients that turn sums over codes into bounds of similarities with `unit`.
pub fn line(coded: &QuantisedQuery, unit: &[f32], centre: &[f32], reach: f32) -> BoundFormula {
    let products = unit.iter().zip(centre);
    let of_centre: f64 = products.map(|(&u, &c)| f64::from(u) * f64::from(c)).sum();
    // d products of numbers whose squares sum to 1, on both sides: each step rounds by at most ε / 2.
    let slack = (unit.len() as f32 + 100.0) * f32::EPSILON;
    BoundFormula::new(coded, UNIT, of_centre as f32, reach, slack)
}

/// Rows of a batch: its results stay in the L1 cache.
const ROWS: usize = 1024;

/// Rows between two yields of a scan: some tenths of a millisecond.
const ROWS_PER_YIELD: usize = 64 * ROWS;

/// Yields the processor to a waiting thread. A scan of a million rows takes milliseconds, and the scheduler lets it run
/// that long before a thread that woke up for a short call, whatever their nice values.
#[inline]
fn yield_between_batches(row: usize) {
    if row > 0 && row.is_multiple_of(ROWS_PER_YIELD) {
        std::thread::yield_now();
    }
}

/// Bytes of codes that are summed at a time.
const STRIP: usize = 4096;
/// How far ahead codes are prefetched, in bytes: the hardware prefetcher stops at the end of a page.
const AHEAD: usize = 8192;

/// Buffers for the sums and bounds of a batch of rows.
#[derive(Debug)]
pub struct Work {
    /// Σ code · query.
    pub sums: Vec<i32>,
    /// Upper bounds of the similarities.
    pub upper: Vec<f32>,
    /// Lower bounds of the similarities.
    pub lower: Vec<f32>,
}

impl Work {
    /// Buffers for `count` rows.
    pub fn of(count: usize) -> Self {
        Self {
            sums: vec![0; count],
            upper: vec![0.0; count],
            lower: vec![0.0; count],
        }
    }
}
