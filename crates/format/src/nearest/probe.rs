//! Approximate search: the codes of the IVF lists nearest to the query, then the vectors of the best of those.

use std::cmp::Reverse;

use super::{Query, ROWS, Rate, Work, rate_candidates};
use crate::base::quantised_vectors::QuantisedVectors;
use crate::error::Result;
use crate::top::{ScoredEvent, Top};
use amem_kernels::{Kernels, LINE, prefetch};

/// A row that may be among the best.
#[derive(Debug, Clone, Copy)]
pub struct ProbeCandidate {
    /// The middle between its bounds.
    estimate: ScoredEvent,
    upper: f32,
}

impl ProbeCandidate {
    /// The id of the event or of the IVF list.
    pub fn id(&self) -> u32 {
        self.estimate.id
    }
}

/// The best rows by estimate, unordered until `into_sorted`.
struct Best {
    count: usize,
    candidates: Vec<ProbeCandidate>,
    /// No estimate below this is among the best.
    floor: f32,
    estimates: Vec<f32>,
}

impl Best {
    fn new(count: usize) -> Self {
        Self {
            count,
            candidates: Vec::new(),
            floor: f32::NEG_INFINITY,
            estimates: Vec::new(),
        }
    }

    /// Adds the first `rows` of a batch.
    fn add(&mut self, kernels: Kernels, work: &Work, rows: usize, id: impl Fn(usize) -> u32) {
        let mut estimates = std::mem::take(&mut self.estimates);
        let bounds = work.upper[..rows].iter().zip(&work.lower[..rows]);
        estimates.clear();
        // Infinite bounds have no middle: such an event is always rated.
        estimates.extend(bounds.map(|(&upper, &lower)| {
            if upper.is_infinite() {
                f32::INFINITY
            } else {
                0.5 * (upper + lower)
            }
        }));
        kernels.reaching(&estimates, self.floor, &mut |at| {
            let (score, id) = (estimates[at], id(at));
            if score >= self.floor {
                let (estimate, upper) = (ScoredEvent { score, id }, work.upper[at]);
                self.candidates.push(ProbeCandidate { estimate, upper });
                if self.candidates.len() >= self.count.saturating_mul(2) {
                    self.truncate();
                }
            }
        });
        self.estimates = estimates;
    }

    /// Drops all but the best.
    fn truncate(&mut self) {
        if self.candidates.len() > self.count {
            let best_first = |a: &ProbeCandidate, b: &ProbeCandidate| b.estimate.cmp(&a.estimate);
            let (_, next, _) = self
                .candidates
                .select_nth_unstable_by(self.count, best_first);
            self.floor = next.estimate.score;
            self.candidates.truncate(self.count);
        }
    }

    /// Candidates, best first.
    fn into_sorted(mut self) -> Vec<ProbeCandidate> {
        self.truncate();
        self.candidates
            .sort_unstable_by_key(|candidate| Reverse(candidate.estimate));
        self.candidates
    }
}

/// The `count` IVF lists whose centroids are nearest to a query, nearest first.
pub fn clusters(codes: &QuantisedVectors<'_>, query: &Query, count: usize) -> Vec<u32> {
    let (scales, rows) = codes.centroids();
    let mut work = Work::of(scales.len());
    query.bounds(rows, scales, &mut work);
    let mut best = Best::new(count);
    best.add(query.kernels, &work, scales.len(), |at| at as u32);
    best.into_sorted().iter().map(ProbeCandidate::id).collect()
}

/// How many rows ahead are prefetched: members of a list are scattered over the table.
const AHEAD: usize = 24;

/// The `count` best events, by their codes, of these IVF lists with ids below `nodes`, best first.
pub fn members(
    codes: &QuantisedVectors<'_>,
    query: &Query,
    clusters: &[u32],
    nodes: u32,
    count: usize,
) -> Result<Vec<ProbeCandidate>> {
    let stride = codes.stride;
    let mut work = Work::of(ROWS);
    let (mut rows, mut scales) = (Vec::with_capacity(ROWS * stride), Vec::with_capacity(ROWS));
    let mut best = Best::new(count);
    for &cluster in clusters {
        let members = codes.list(cluster as usize)?;
        let members = &members[..members.partition_point(|&id| id < nodes)];
        members.iter().take(AHEAD).for_each(|&id| expect(codes, id));
        for (chunk, members_of) in members.chunks(ROWS).enumerate() {
            rows.clear();
            scales.clear();
            for (at, &id) in (chunk * ROWS..).zip(members_of) {
                if let Some(&next) = members.get(at + AHEAD) {
                    expect(codes, next);
                }
                let at = codes.row_index(id)?;
                rows.extend_from_slice(&codes.rows[at * stride..(at + 1) * stride]);
                scales.push(codes.scales[at]);
            }
            query.bounds(&rows, &scales, &mut work);
            best.add(query.kernels, &work, members_of.len(), |at| members_of[at]);
        }
    }
    Ok(best.into_sorted())
}

/// Prefetches a row; reading it reports damage.
#[inline]
fn expect(codes: &QuantisedVectors<'_>, id: u32) {
    let at = id as usize;
    prefetch(codes.scales, at);
    for line in (0..codes.stride).step_by(LINE) {
        prefetch(codes.rows, at * codes.stride + line);
    }
}

/// Adds the events that it finds among the first `nodes` to `top`. False if fewer than `limit` were admitted: there may
/// be more.
pub fn best(
    codes: &QuantisedVectors<'_>,
    query: &Query,
    nodes: u32,
    limit: usize,
    top: &mut Top,
    rate: &mut dyn Rate,
) -> Result<bool> {
    let clusters = clusters(codes, query, codes.ivf.probes as usize);
    let refine = limit.saturating_mul(codes.ivf.refine as usize);
    let found = members(codes, query, &clusters, nodes, refine)?;
    let found: Vec<ScoredEvent> = found
        .iter()
        .map(|candidate| ScoredEvent {
            score: candidate.upper,
            id: candidate.id(),
        })
        .collect();
    rate_candidates(&found, top, rate)?;
    Ok(top.is_full())
}
