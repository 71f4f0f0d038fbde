//! Clusters of vectors: k-means on a sample, whom each vector is nearest to, and what looking into a few finds.
//!
//! Lloyd's algorithm on directions (spherical k-means): each vector goes to the cluster of the greatest dot product, and
//! a cluster's direction is that of the sum of its own. Distances are told by codes, so who is nearest is approximate;
//! the recall is measured on what came of it, with vectors of the brain as questions.

use super::codes::off;
use crate::base::codes::{Made, Measured};
use crate::error::Result;
use crate::nearest::{Query, exact, line, probe};
use crate::query::vectors::{Direction, SAFE, Vectors};
use crate::simd::{Bounds, Coded, Kernels};
use crate::text::{Scored, Top};

/// Vectors below which looking at all codes takes no longer than choosing among clusters.
const VECTORS_MIN: u64 = 10_000;
/// Clusters at most.
const CLUSTERS_MAX: u64 = 8192;
/// Clusters for the square root of the number of vectors.
const CLUSTERS_PER_ROOT: f64 = 3.2;
/// Vectors of the sample for each cluster, and bytes of the sample at most.
const SAMPLE: u64 = 32;
const SAMPLE_BYTES_MAX: u64 = 256 << 20;
/// Rounds of k-means.
const ROUNDS: usize = 6;
/// Vectors that are asked for to measure the recall, and their neighbours.
const QUESTIONS: u64 = 100;
const NEIGHBOURS: usize = 10;
/// The recall that is promised, and what each of the two steps, clusters and codes, is to keep.
const RECALL: f64 = 0.99;
const STEP: f64 = 0.996;
/// The greatest share of all events that it may take to look at.
const SHARE_MAX: f64 = 0.125;
/// Events compared exactly for each that is asked for, at most.
const REFINE_MAX: usize = 64;

/// True if so many vectors are to have clusters.
pub(super) fn are_worth_it(vectors: u64) -> bool {
    vectors >= VECTORS_MIN
}

/// Scales and codes of the clusters' directions.
type Rows = (Vec<u32>, Vec<u8>);

/// Codes of directions, one after the other.
fn code(directions: &[f32], centre: &[f32]) -> Rows {
    let (kernels, stride) = (Kernels::best(), Coded::stride_of(centre.len()));
    let (mut scales, mut rows, mut work) = (Vec::new(), Vec::new(), Vec::new());
    for direction in directions.chunks_exact(centre.len()) {
        let at = rows.len();
        rows.resize(at + stride, 0);
        scales.push(kernels.quantise(off(direction, 1.0, centre, &mut work), &mut rows[at..]));
    }
    (scales, rows)
}

/// Tells whom vectors are nearest to.
pub(super) struct Nearest<'a> {
    centre: &'a [f32],
    reach: f32,
    rows: &'a Rows,
    coded: Coded,
    unit: Vec<f32>,
    sums: Vec<i32>,
    upper: Vec<f32>,
    lower: Vec<f32>,
}

impl<'a> Nearest<'a> {
    pub(super) fn new(centre: &'a [f32], reach: f32, rows: &'a Rows) -> Self {
        let k = rows.0.len();
        Self {
            centre,
            reach,
            rows,
            coded: Coded::sized(centre.len()),
            unit: Vec::new(),
            sums: vec![0; k],
            upper: vec![0.0; k],
            lower: vec![0.0; k],
        }
    }

    /// The cluster of a vector of length 1 / `inverse`; the first, if that can't be told.
    pub(super) fn of(&mut self, vector: &[f32], inverse: f32) -> u32 {
        if !SAFE.contains(&inverse) {
            return 0;
        }
        self.unit.clear();
        self.unit.extend(vector.iter().map(|x| x * inverse));
        let unit = std::mem::take(&mut self.unit);
        let nearest = self.of_unit(&unit);
        self.unit = unit;
        nearest
    }

    fn of_unit(&mut self, unit: &[f32]) -> u32 {
        let kernels = Kernels::best();
        self.coded.set(unit);
        kernels.code_sums(&self.coded, &self.rows.1, &mut self.sums);
        let line = line(&self.coded, unit, self.centre, self.reach);
        let (upper, lower) = (&mut self.upper, &mut self.lower);
        kernels.bounds(&line, &self.sums, &self.rows.0, Bounds { upper, lower });
        kernels.greatest(lower) as u32
    }
}

/// Finds clusters of `count` vectors.
pub(super) fn train(vectors: &Vectors<'_>, centre: &[f32], count: u64) -> Result<Rows> {
    let dimension = centre.len();
    let k = ((count as f64).sqrt() * CLUSTERS_PER_ROOT) as u64;
    let k = k.clamp(1, CLUSTERS_MAX) as usize;
    let bytes = 4 * dimension as u64;
    let wanted = (SAMPLE * k as u64)
        .min(SAMPLE_BYTES_MAX / bytes)
        .max(k as u64);
    let sample = sample(vectors, count, wanted)?;
    let sampled = sample.len() / dimension;
    // The first ones: spread over the sample, and so over time.
    let spread = (0..k).map(|i| i * sampled / k);
    let mut directions: Vec<f32> = spread
        .flat_map(|at| &sample[at * dimension..(at + 1) * dimension])
        .copied()
        .collect();
    let mut rows = code(&directions, centre);
    for _ in 0..ROUNDS {
        let mut nearest = Nearest::new(centre, 2.0, &rows);
        let of: Vec<u32> = sample
            .chunks_exact(dimension)
            .map(|unit| nearest.of_unit(unit))
            .collect();
        move_to_means(&mut directions, &sample, &of, dimension);
        rows = code(&directions, centre);
    }
    Ok(rows)
}

/// About `wanted` of `count` vectors, evenly spread, each of length 1.
fn sample(vectors: &Vectors<'_>, count: u64, wanted: u64) -> Result<Vec<f32>> {
    let mut sample = Vec::new();
    let (mut seen, mut taken) = (0, 0);
    vectors.for_each(|_, vector, inverse| {
        if SAFE.contains(&inverse) {
            // The n-th is taken whenever the share of those taken falls behind.
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

/// Each direction becomes that of the sum of its own. One that has none takes a vector of the one that has most.
fn move_to_means(directions: &mut [f32], sample: &[f32], of: &[u32], dimension: usize) {
    let k = directions.len() / dimension;
    let mut counts = vec![0usize; k];
    directions.fill(0.0);
    for (unit, &cluster) in sample.chunks_exact(dimension).zip(of) {
        let at = cluster as usize;
        counts[at] += 1;
        let sum = directions[at * dimension..(at + 1) * dimension].iter_mut();
        sum.zip(unit).for_each(|(sum, x)| *sum += x);
    }
    let mut crowded: Vec<usize> = (0..k).collect();
    crowded.sort_unstable_by_key(|&at| std::cmp::Reverse(counts[at]));
    let mut givers = crowded.into_iter();
    for at in 0..k {
        if counts[at] == 0
            && let Some(giver) = givers.next()
            && let Some(given) = of.iter().position(|&cluster| cluster as usize == giver)
        {
            let given = &sample[given * dimension..(given + 1) * dimension];
            directions[at * dimension..(at + 1) * dimension].copy_from_slice(given);
        }
    }
    for direction in directions.chunks_exact_mut(dimension) {
        let length = direction.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            direction.iter_mut().for_each(|x| *x /= length);
        }
    }
}

/// Looks for the neighbours of some of the vectors, and says how far one has to look to find them.
pub(super) fn measure(made: &Made, vectors: &Vectors<'_>, count: u64) -> Result<Measured> {
    let codes = made.as_codes();
    let mut asked = Vec::new();
    let step = (count / QUESTIONS).max(1);
    let mut seen = 0;
    vectors.for_each(|id, vector, inverse| {
        if SAFE.contains(&inverse) {
            if seen % step == step / 2 {
                asked.push((id, vector.to_vec()));
            }
            seen += 1;
        }
        Ok(())
    })?;
    let mut measure = Measure {
        made,
        vectors,
        cluster_of: Vec::new(),
        ranks: Vec::new(),
    };
    measure.cluster_of = vec![u32::MAX; codes.scales.len() - codes.clusters()];
    for cluster in 0..codes.clusters() {
        for &id in codes.members(cluster)? {
            measure.cluster_of[codes.place(id)?] = cluster as u32;
        }
    }
    let mut questions = Vec::new();
    for (id, vector) in asked {
        if let Some(question) = measure.question(id, &vector)? {
            questions.push(question);
        }
    }
    let share = |rank: usize| rank as f64 * count as f64 / codes.clusters() as f64;
    let probes = quantile(&mut measure.ranks, STEP).map_or(usize::MAX, |rank| rank + 1);
    let mut told = Measured {
        measured: count,
        probes: 0,
        recall: 0.0,
        refine: 0,
        ..made.measured
    };
    if probes == usize::MAX || share(probes) > SHARE_MAX * count as f64 {
        return Ok(told);
    }
    let (refine, recall) = measure.refine(&questions, probes)?;
    if recall >= RECALL {
        (told.probes, told.refine, told.recall) = (probes as u32, refine as u32, recall as f32);
    }
    Ok(told)
}

/// The rank that this share of all ranks does not pass.
fn quantile(ranks: &mut [usize], share: f64) -> Option<usize> {
    ranks.sort_unstable();
    let at = (ranks.len() as f64 * share).ceil() as usize;
    ranks.get(at.saturating_sub(1)).copied()
}

/// A vector that is asked for, and its true neighbours.
struct Question {
    query: Query,
    neighbours: Vec<u32>,
}

struct Measure<'m, 'v> {
    made: &'m Made,
    vectors: &'m Vectors<'v>,
    cluster_of: Vec<u32>,
    /// Of each neighbour, how many clusters are nearer to the question than its own.
    ranks: Vec<usize>,
}

impl Measure<'_, '_> {
    /// The true neighbours of an event.
    fn question(&mut self, asked: u32, vector: &[f32]) -> Result<Option<Question>> {
        let codes = self.made.as_codes();
        let Some(direction) = Direction::of(vector) else {
            return Ok(None);
        };
        let query = Query::new(direction.unit(), &codes);
        let mut top = Top::new(NEIGHBOURS);
        let vectors = self.vectors;
        let count = self.cluster_of.len();
        exact::best(&codes, &query, count, -1.0, &mut top, &mut |id, top| {
            vectors.look_at(id, &mut |id, vector, inverse| {
                if id != asked
                    && let Some(score) = direction.cosine(vector, inverse)?
                {
                    top.push(Scored { score, id });
                }
                Ok(())
            })
        })?;
        let order = probe::clusters(&codes, &query, codes.clusters());
        let mut rank_of = vec![0; codes.clusters()];
        for (rank, &cluster) in order.iter().enumerate() {
            rank_of[cluster as usize] = rank;
        }
        let neighbours: Vec<u32> = top.into_sorted().map(|(id, _)| id).collect();
        for &id in &neighbours {
            let cluster = self.cluster_of[id as usize] as usize;
            self.ranks
                .push(rank_of.get(cluster).copied().unwrap_or(usize::MAX - 1));
        }
        Ok(Some(Question { query, neighbours }))
    }

    /// How many events are to be compared exactly for each that is asked for, and the recall with so many.
    fn refine(&self, questions: &[Question], probes: usize) -> Result<(usize, f64)> {
        let codes = self.made.as_codes();
        let (mut ranks, mut lost) = (Vec::new(), 0);
        for question in questions {
            let clusters = probe::clusters(&codes, &question.query, probes);
            let most = REFINE_MAX * NEIGHBOURS;
            // The one that is asked for is found as well, and takes no place of a neighbour.
            let found = probe::members(&codes, &question.query, &clusters, u32::MAX, most)?;
            for id in &question.neighbours {
                match found.iter().position(|other| other == id) {
                    Some(rank) => ranks.push(rank),
                    None => lost += 1,
                }
            }
        }
        let all = (ranks.len() + lost) as f64;
        ranks.resize(ranks.len() + lost, usize::MAX - 1);
        let rank = quantile(&mut ranks, STEP.min(1.0 - lost as f64 / all.max(1.0))).unwrap_or(0);
        let refine = (rank / NEIGHBOURS + 1).min(REFINE_MAX);
        let kept = ranks
            .iter()
            .filter(|&&rank| rank < refine * NEIGHBOURS)
            .count();
        Ok((refine, kept as f64 / all.max(1.0)))
    }
}
