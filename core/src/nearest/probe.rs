//! The nearest, approximately: the codes of the clusters nearest to the query, then the vectors of the best of those.

use super::{Query, ROWS, Rate, Work};
use crate::base::codes::Codes;
use crate::error::Result;
use crate::text::{Scored, Top};

/// What is in the middle between the bounds, the best estimate: a score for each place, the greatest kept.
fn keep(work: &Work, count: usize, best: &mut Top, id: impl Fn(usize) -> u32) {
    let bounds = work.upper[..count].iter().zip(&work.lower[..count]);
    for (at, (upper, lower)) in bounds.enumerate() {
        // Infinite bounds have no middle: such an event is always looked at.
        let score = if upper.is_infinite() {
            f32::INFINITY
        } else {
            0.5 * (upper + lower)
        };
        if score >= best.threshold() {
            best.push(Scored { score, id: id(at) });
        }
    }
}

/// The clusters nearest to a query, the nearest first, `count` at most.
pub(crate) fn clusters(codes: &Codes<'_>, query: &Query, count: usize) -> Vec<u32> {
    let (scales, rows) = codes.of_clusters();
    let mut work = Work::of(scales.len());
    query.bounds(rows, scales, &mut work);
    let mut best = Top::new(count);
    keep(&work, scales.len(), &mut best, |at| at as u32);
    best.into_sorted().map(|(cluster, _)| cluster).collect()
}

/// The `count` best events by their codes that are below `nodes` and in these clusters, the best first.
pub(crate) fn members(
    codes: &Codes<'_>,
    query: &Query,
    clusters: &[u32],
    nodes: u32,
    count: usize,
) -> Result<Vec<u32>> {
    let stride = codes.stride;
    let mut work = Work::of(ROWS);
    let (mut rows, mut scales) = (Vec::with_capacity(ROWS * stride), Vec::with_capacity(ROWS));
    let mut best = Top::new(count);
    for &cluster in clusters {
        let members = codes.members(cluster as usize)?;
        let members = &members[..members.partition_point(|&id| id < nodes)];
        for members in members.chunks(ROWS) {
            rows.clear();
            scales.clear();
            for &id in members {
                let at = codes.place(id)?;
                rows.extend_from_slice(&codes.rows[at * stride..(at + 1) * stride]);
                scales.push(codes.scales[at]);
            }
            query.bounds(&rows, &scales, &mut work);
            keep(&work, members.len(), &mut best, |at| members[at]);
        }
    }
    Ok(best.into_sorted().map(|(id, _)| id).collect())
}

/// Puts what it finds of the first `nodes` events into `top`. False if fewer than `limit` were admitted: then it is not
/// known whether that is all.
pub(crate) fn best(
    codes: &Codes<'_>,
    query: &Query,
    nodes: u32,
    limit: usize,
    top: &mut Top,
    rate: &mut Rate<'_>,
) -> Result<bool> {
    let clusters = clusters(codes, query, codes.measured.probes as usize);
    let refine = limit.saturating_mul(codes.measured.refine as usize);
    for id in members(codes, query, &clusters, nodes, refine)? {
        rate(id, top)?;
    }
    Ok(top.is_full())
}
