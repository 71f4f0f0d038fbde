//! IVF lists: k-means on a sample, and the recall of probing a few lists.
//!
//! Lloyd's algorithm on directions (spherical k-means): a vector belongs to the centroid with the greatest dot product,
//! and a centroid is the normalised sum of its vectors. Assignment compares 4-bit codes, so it is approximate; the
//! recall is measured on the result, with vectors of the brain as queries.

use super::centroids::{CentroidGroups, Centroids, CodedRows, NearestCentroid, normalise};
use super::workers::{Inline, Workers, both};
use crate::base::quantised_vectors::{IvfParameters, QuantisedBuffers};
use crate::error::Result;
use crate::nearest::{Query, Rate, exact, probe};
use crate::top::{ScoredEvent, Top};
use crate::vectors::{SAFE, UnitVector, Vectors};

/// With fewer vectors, a scan of all codes is as fast as probing lists.
const VECTORS_MIN: u64 = 10_000;
const LISTS_MAX: u64 = 8192;
/// Lists for the square root of the number of vectors.
const LISTS_PER_ROOT: f64 = 3.2;
/// Sampled vectors for each list; bytes of the sample.
const SAMPLE: u64 = 32;
const SAMPLE_BYTES_MAX: u64 = 256 << 20;
/// Rounds of k-means on vectors, and on centroids to group them.
const ROUNDS: usize = 6;
const GROUP_ROUNDS: usize = 3;
/// Groups for the square root of the number of lists.
const GROUPS_PER_ROOT: f64 = 1.5;
/// With fewer centroids, a scan of all is as fast as probing groups.
const GROUPED_LISTS_MIN: usize = 512;
/// Queries that measure the recall, and neighbours of each.
const QUERIES: u64 = 100;
const NEIGHBOURS: usize = 10;
/// The promised recall, and the share that each step, probing lists and ranking codes, must preserve.
const RECALL: f64 = 0.99;
const STEP_RECALL: f64 = 0.996;
/// The greatest share of all events in the probed lists; beyond it, lists do not pay.
const SHARE_MAX: f64 = 0.125;
/// The greatest number of exact comparisons for each result.
const REFINE_MAX: usize = 64;

/// True if that many vectors get lists.
pub(super) fn are_worthwhile(vectors: u64) -> bool {
    vectors >= VECTORS_MIN
}

/// Trains the centroids of `count` vectors.
pub(super) fn train(
    vectors: &Vectors<'_>,
    centre: &[f32],
    count: u64,
    workers: &dyn Workers,
) -> Result<CodedRows> {
    let dimension = centre.len();
    let k = ((count as f64).sqrt() * LISTS_PER_ROOT) as u64;
    let k = k.clamp(1, LISTS_MAX) as usize;
    let bytes = 4 * dimension as u64;
    let wanted = (SAMPLE * k as u64)
        .min(SAMPLE_BYTES_MAX / bytes)
        .max(k as u64);
    let sample = sample(vectors, count, wanted)?;
    if sample.is_empty() {
        // No vector has a direction that f32 can represent.
        return Ok(CodedRows::default());
    }
    lloyd(&sample, k, ROUNDS, centre, workers)
}

/// k-means on vectors of length 1; returns the `k` centroids' rows.
fn lloyd(
    sample: &[f32],
    k: usize,
    rounds: usize,
    centre: &[f32],
    workers: &dyn Workers,
) -> Result<CodedRows> {
    let dimension = centre.len();
    let count = sample.len() / dimension;
    // Initial centroids are evenly spaced in the sample, and so in time.
    let spread = (0..k).map(|i| i * count / k);
    let mut directions: Vec<f32> = spread
        .flat_map(|at| &sample[at * dimension..(at + 1) * dimension])
        .copied()
        .collect();
    let mut rows = CodedRows::of(&directions, centre);
    for _ in 0..rounds {
        let of = nearest_of(sample, &grouped(&rows, centre)?, workers)?;
        move_to_means(&mut directions, sample, &of, dimension);
        rows = CodedRows::of(&directions, centre);
    }
    Ok(rows)
}

/// The nearest centroid of each vector of length 1.
fn nearest_of(units: &[f32], among: &Centroids<'_>, workers: &dyn Workers) -> Result<Vec<u32>> {
    let dimension = among.dimension;
    let find = |units: &[f32]| -> Vec<u32> {
        let mut nearest = NearestCentroid::new(among);
        let units = units.chunks_exact(dimension);
        units.map(|unit| nearest.of_unit(unit)).collect()
    };
    let (first, rest) = units.split_at(units.len() / dimension / 2 * dimension);
    let (rest, mut of) = both(workers, || find(rest), || find(first))?;
    of.extend(rest);
    Ok(of)
}

/// Groups the centroids if there are so many that probing groups is faster than a scan.
pub(super) fn grouped<'r>(rows: &'r CodedRows, centre: &[f32]) -> Result<Centroids<'r>> {
    let (k, dimension) = (rows.len(), centre.len());
    let mut all = Centroids::ungrouped(rows, dimension);
    if k >= GROUPED_LISTS_MIN {
        let directions = rows.directions(centre);
        let count = (GROUPS_PER_ROOT * (k as f64).sqrt()) as usize;
        let leaders = lloyd(&directions, count, GROUP_ROUNDS, centre, &Inline)?;
        let among = Centroids::ungrouped(&leaders, dimension);
        let of = nearest_of(&directions, &among, &Inline)?;
        all.groups = Some(CentroidGroups::new(leaders, rows, &of));
    }
    Ok(all)
}

/// About `wanted` of `count` vectors, evenly spaced, each normalised.
fn sample(vectors: &Vectors<'_>, count: u64, wanted: u64) -> Result<Vec<f32>> {
    let mut sample = Vec::new();
    let (mut seen, mut taken) = (0, 0);
    vectors.for_each(|_, vector, inverse| {
        if SAFE.contains(&inverse) {
            // Takes the next vector whenever the share taken so far is too low.
            if taken * count <= seen * wanted {
                sample.extend(vector.iter().map(|x| x * inverse));
                taken += 1;
            }
            seen += 1;
        }
        Ok(())
    })?;
    Ok(sample)
}

/// Moves each centroid to the mean of its vectors. An empty one takes a vector from one of the fullest.
fn move_to_means(directions: &mut [f32], sample: &[f32], of: &[u32], dimension: usize) {
    let k = directions.len() / dimension;
    let mut counts = vec![0usize; k];
    directions.fill(0.0);
    for (unit, &list) in sample.chunks_exact(dimension).zip(of) {
        let at = list as usize;
        counts[at] += 1;
        let sum = directions[at * dimension..(at + 1) * dimension].iter_mut();
        sum.zip(unit).for_each(|(sum, x)| *sum += x);
    }
    let mut by_count: Vec<usize> = (0..k).collect();
    by_count.sort_unstable_by_key(|&at| std::cmp::Reverse(counts[at]));
    let mut donors = by_count.into_iter();
    for at in 0..k {
        if counts[at] == 0
            && let Some(donor) = donors.next()
            && let Some(moved) = of.iter().position(|&list| list as usize == donor)
        {
            let moved = &sample[moved * dimension..(moved + 1) * dimension];
            directions[at * dimension..(at + 1) * dimension].copy_from_slice(moved);
        }
    }
    directions.chunks_exact_mut(dimension).for_each(normalise);
}

/// Measures how many lists and exact comparisons the promised recall takes.
pub(super) fn measure(
    data: &QuantisedBuffers,
    vectors: &Vectors<'_>,
    count: u64,
) -> Result<IvfParameters> {
    let codes = data.reader();
    let mut samples = Vec::new();
    let step = (count / QUERIES).max(1);
    let mut seen = 0;
    vectors.for_each(|id, vector, inverse| {
        if SAFE.contains(&inverse) {
            if seen % step == step / 2 {
                samples.push((id, vector.to_vec()));
            }
            seen += 1;
        }
        Ok(())
    })?;
    let mut meter = RecallMeter {
        data,
        vectors,
        list_of: Vec::new(),
        ranks: Vec::new(),
    };
    meter.list_of = vec![u32::MAX; codes.scales.len() - codes.lists()];
    for list in 0..codes.lists() {
        for &id in codes.list(list)? {
            meter.list_of[codes.row_index(id)?] = list as u32;
        }
    }
    let mut queries = Vec::new();
    for (id, vector) in samples {
        if let Some(one) = meter.query_of(id, &vector)? {
            queries.push(one);
        }
    }
    let share = |rank: usize| rank as f64 * count as f64 / codes.lists() as f64;
    let probes = quantile(&mut meter.ranks, STEP_RECALL).map_or(usize::MAX, |rank| rank + 1);
    let mut parameters = IvfParameters {
        measured: count,
        probes: 0,
        recall: 0.0,
        refine: 0,
        ..data.ivf
    };
    if probes == usize::MAX || share(probes) > SHARE_MAX * count as f64 {
        return Ok(parameters);
    }
    let (refine, recall) = meter.refine(&queries, probes)?;
    if recall >= RECALL {
        (parameters.probes, parameters.refine, parameters.recall) =
            (probes as u32, refine as u32, recall as f32);
    }
    Ok(parameters)
}

/// The least rank that covers this share of the ranks.
fn quantile(ranks: &mut [usize], share: f64) -> Option<usize> {
    ranks.sort_unstable();
    let at = (ranks.len() as f64 * share).ceil() as usize;
    ranks.get(at.saturating_sub(1)).copied()
}

/// A query and its true neighbours.
struct RecallQuery {
    query: Query,
    neighbours: Vec<u32>,
}

/// Rates all events except the query's own.
struct NeighbourRate<'m, 'v> {
    vectors: &'m Vectors<'v>,
    direction: UnitVector,
    event: u32,
}

impl Rate for NeighbourRate<'_, '_> {
    fn expect(&self, id: u32) {
        self.vectors.expect(id);
    }

    fn rate(&mut self, id: u32, top: &mut Top) -> Result<()> {
        let (event, direction) = (self.event, &self.direction);
        self.vectors.look_at(id, &mut |id, vector, inverse| {
            if id != event
                && let Some(score) = direction.cosine(vector, inverse)?
            {
                top.push(ScoredEvent { score, id });
            }
            Ok(())
        })
    }
}

struct RecallMeter<'m, 'v> {
    data: &'m QuantisedBuffers,
    vectors: &'m Vectors<'v>,
    list_of: Vec<u32>,
    /// For each true neighbour, the number of lists nearer to the query than the neighbour's list.
    ranks: Vec<usize>,
}

impl RecallMeter<'_, '_> {
    /// Finds the true neighbours of an event; `None` if its vector has no direction.
    fn query_of(&mut self, event: u32, vector: &[f32]) -> Result<Option<RecallQuery>> {
        let codes = self.data.reader();
        let Some(direction) = UnitVector::of(vector) else {
            return Ok(None);
        };
        let query = Query::new(direction.unit(), &codes);
        let mut top = Top::new(NEIGHBOURS);
        let vectors = self.vectors;
        let count = self.list_of.len();
        let mut others = NeighbourRate {
            vectors,
            direction,
            event,
        };
        exact::best(&codes, &query, count, -1.0, &mut top, &mut others)?;
        let order = probe::clusters(&codes, &query, codes.lists());
        let mut rank_of = vec![0; codes.lists()];
        for (rank, &list) in order.iter().enumerate() {
            rank_of[list as usize] = rank;
        }
        let neighbours: Vec<u32> = top.into_sorted().map(|(id, _)| id).collect();
        for &id in &neighbours {
            let list = self.list_of[id as usize] as usize;
            self.ranks
                .push(rank_of.get(list).copied().unwrap_or(usize::MAX - 1));
        }
        Ok(Some(RecallQuery { query, neighbours }))
    }

    /// The exact comparisons needed for each result, and the recall with them.
    fn refine(&self, queries: &[RecallQuery], probes: usize) -> Result<(usize, f64)> {
        let codes = self.data.reader();
        let (mut ranks, mut lost) = (Vec::new(), 0);
        for one in queries {
            let lists = probe::clusters(&codes, &one.query, probes);
            let most = REFINE_MAX * NEIGHBOURS;
            // The query's own event is among the results; it displaces no neighbour.
            let found = probe::members(&codes, &one.query, &lists, u32::MAX, most)?;
            for id in &one.neighbours {
                match found.iter().position(|other| other.id() == *id) {
                    Some(rank) => ranks.push(rank),
                    None => lost += 1,
                }
            }
        }
        let all = (ranks.len() + lost) as f64;
        ranks.resize(ranks.len() + lost, usize::MAX - 1);
        let rank = quantile(
            &mut ranks,
            STEP_RECALL.min(1.0 - lost as f64 / all.max(1.0)),
        )
        .unwrap_or(0);
        let refine = (rank / NEIGHBOURS + 1).min(REFINE_MAX);
        let kept = ranks
            .iter()
            .filter(|&&rank| rank < refine * NEIGHBOURS)
            .count();
        Ok((refine, kept as f64 / all.max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSION: usize = 48;

    /// Vectors of length 1 around random centres.
    fn around(centres: usize, count: usize, spread: f32) -> Vec<f32> {
        let mut state = 7u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 23) as f32 - 1.0
        };
        let middles: Vec<f32> = (0..centres * DIMENSION).map(|_| next()).collect();
        let mut all = Vec::new();
        for at in 0..count {
            let middle = &middles[at % centres * DIMENSION..][..DIMENSION];
            let from = all.len();
            all.extend(middle.iter().map(|x| x + spread * next()));
            normalise(&mut all[from..]);
        }
        all
    }

    #[test]
    fn a_decoded_row_is_near_its_direction() {
        let centre = vec![0.01; DIMENSION];
        let directions = around(5, 20, 0.3);
        let decoded = CodedRows::of(&directions, &centre).directions(&centre);
        assert_eq!(decoded.len(), directions.len());
        let pairs = directions.chunks(DIMENSION).zip(decoded.chunks(DIMENSION));
        for (direction, decoded) in pairs {
            let dot: f32 = direction.iter().zip(decoded).map(|(a, b)| a * b).sum();
            assert!(dot > 0.99, "{dot}");
        }
    }

    #[test]
    fn probing_a_few_groups_finds_nearly_always_what_a_scan_finds() {
        let centre = vec![0.0; DIMENSION];
        let clusters = CodedRows::of(&around(60, 2 * GROUPED_LISTS_MIN, 0.4), &centre);
        let all = grouped(&clusters, &centre).unwrap();
        assert!(all.groups.is_some());
        let queries = around(60, 3_000, 0.4);
        let found = nearest_of(&queries, &all, &Inline).unwrap();
        let expected = nearest_of(
            &queries,
            &Centroids::ungrouped(&clusters, DIMENSION),
            &Inline,
        )
        .unwrap();
        let same = found.iter().zip(&expected).filter(|(a, b)| a == b).count();
        assert!(same >= 2_850, "{same} of 3000");
    }

    #[test]
    fn few_centroids_are_not_grouped_and_equal_ones_do_no_harm() {
        let centre = vec![0.0; DIMENSION];
        let few = CodedRows::of(&around(3, GROUPED_LISTS_MIN - 1, 0.1), &centre);
        assert!(grouped(&few, &centre).unwrap().groups.is_none());
        let equal = CodedRows::of(&around(1, 2 * GROUPED_LISTS_MIN, 0.0), &centre);
        let all = grouped(&equal, &centre).unwrap();
        let found = nearest_of(&around(1, 10, 0.0), &all, &Inline).unwrap();
        assert!(found.iter().all(|&at| (at as usize) < equal.len()));
    }

    #[test]
    fn the_order_of_workers_changes_nothing() {
        struct Last;
        impl Workers for Last {
            fn join<'w>(
                &self,
                beside: Box<dyn FnOnce() + Send + 'w>,
                here: Box<dyn FnOnce() + 'w>,
            ) {
                beside();
                here();
            }
        }
        let centre = vec![0.0; DIMENSION];
        let sample = around(40, 4_000, 0.3);
        let one = lloyd(&sample, GROUPED_LISTS_MIN, 2, &centre, &Inline).unwrap();
        let two = lloyd(&sample, GROUPED_LISTS_MIN, 2, &centre, &Last).unwrap();
        assert_eq!((one.scales, one.codes), (two.scales, two.codes));
    }
}
