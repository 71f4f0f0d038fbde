//! Clusters of vectors: k-means on a sample, whom each vector is nearest to, and what looking into a few finds.
//!
//! Lloyd's algorithm on directions (spherical k-means): each vector goes to the cluster of the greatest dot product,
//! and a cluster's direction is that of the sum of its own. Distances are told by codes, so who is nearest is
//! approximate; the recall is measured on what came of it, with vectors of the brain as questions.

use super::closest::{Directions, Groups, Nearest, Rows, to_length_1};
use super::workers::{Inline, Workers, both};
use crate::base::codes::{Made, Measured};
use crate::error::Result;
use crate::nearest::{Query, Rate, exact, probe};
use crate::top::{ScoredEvent, Top};
use crate::vectors::{SAFE, UnitVector, Vectors};

/// Vectors below which looking at all codes takes no longer than choosing among clusters.
const VECTORS_MIN: u64 = 10_000;
/// Clusters at most.
const CLUSTERS_MAX: u64 = 8192;
/// Clusters for the square root of the number of vectors.
const CLUSTERS_PER_ROOT: f64 = 3.2;
/// Vectors of the sample for each cluster, and bytes of the sample at most.
const SAMPLE: u64 = 32;
const SAMPLE_BYTES_MAX: u64 = 256 << 20;
/// Rounds of k-means, and of that on clusters, to group them.
const ROUNDS: usize = 6;
const GROUP_ROUNDS: usize = 3;
/// Groups for the square root of the number of clusters.
const GROUPS_PER_ROOT: f64 = 1.5;
/// Clusters from which on they are grouped.
const CLUSTERS_MIN: usize = 512;
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

/// Finds clusters of `count` vectors.
pub(super) fn train(
    vectors: &Vectors<'_>,
    centre: &[f32],
    count: u64,
    workers: &dyn Workers,
) -> Result<Rows> {
    let dimension = centre.len();
    let k = ((count as f64).sqrt() * CLUSTERS_PER_ROOT) as u64;
    let k = k.clamp(1, CLUSTERS_MAX) as usize;
    let bytes = 4 * dimension as u64;
    let wanted = (SAMPLE * k as u64)
        .min(SAMPLE_BYTES_MAX / bytes)
        .max(k as u64);
    let sample = sample(vectors, count, wanted)?;
    if sample.is_empty() {
        // All are so long or so short that 32 bits don't tell their directions.
        return Ok(Rows::default());
    }
    lloyd(&sample, k, ROUNDS, centre, workers)
}

/// The rows of `k` clusters of vectors of length 1.
fn lloyd(
    sample: &[f32],
    k: usize,
    rounds: usize,
    centre: &[f32],
    workers: &dyn Workers,
) -> Result<Rows> {
    let dimension = centre.len();
    let sampled = sample.len() / dimension;
    // The first ones: spread over the sample, and so over time.
    let spread = (0..k).map(|i| i * sampled / k);
    let mut directions: Vec<f32> = spread
        .flat_map(|at| &sample[at * dimension..(at + 1) * dimension])
        .copied()
        .collect();
    let mut rows = Rows::of(&directions, centre);
    for _ in 0..rounds {
        let of = nearest_of(sample, &grouped(&rows, centre)?, workers)?;
        move_to_means(&mut directions, sample, &of, dimension);
        rows = Rows::of(&directions, centre);
    }
    Ok(rows)
}

/// Whom each of these vectors of length 1 is nearest to.
fn nearest_of(units: &[f32], among: &Directions<'_>, workers: &dyn Workers) -> Result<Vec<u32>> {
    let dimension = among.dimension;
    let find = |units: &[f32]| -> Vec<u32> {
        let mut nearest = Nearest::new(among);
        let units = units.chunks_exact(dimension);
        units.map(|unit| nearest.of_unit(unit)).collect()
    };
    let (first, rest) = units.split_at(units.len() / dimension / 2 * dimension);
    let (rest, mut of) = both(workers, || find(rest), || find(first))?;
    of.extend(rest);
    Ok(of)
}

/// Clusters, grouped where there are so many clusters that looking at a few groups takes less than looking at all.
pub(super) fn grouped<'r>(rows: &'r Rows, centre: &[f32]) -> Result<Directions<'r>> {
    let (k, dimension) = (rows.len(), centre.len());
    let mut all = Directions::ungrouped(rows, dimension);
    if k >= CLUSTERS_MIN {
        let directions = rows.directions(centre);
        let count = (GROUPS_PER_ROOT * (k as f64).sqrt()) as usize;
        let leaders = lloyd(&directions, count, GROUP_ROUNDS, centre, &Inline)?;
        let among = Directions::ungrouped(&leaders, dimension);
        let of = nearest_of(&directions, &among, &Inline)?;
        all.groups = Some(Groups::new(leaders, rows, &of));
    }
    Ok(all)
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
    directions.chunks_exact_mut(dimension).for_each(to_length_1);
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

/// All events but the one that is asked for.
struct Others<'m, 'v> {
    vectors: &'m Vectors<'v>,
    direction: UnitVector,
    asked: u32,
}

impl Rate for Others<'_, '_> {
    fn expect(&self, id: u32) {
        self.vectors.expect(id);
    }

    fn rate(&mut self, id: u32, top: &mut Top) -> Result<()> {
        let (asked, direction) = (self.asked, &self.direction);
        self.vectors.look_at(id, &mut |id, vector, inverse| {
            if id != asked
                && let Some(score) = direction.cosine(vector, inverse)?
            {
                top.push(ScoredEvent { score, id });
            }
            Ok(())
        })
    }
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
        let Some(direction) = UnitVector::of(vector) else {
            return Ok(None);
        };
        let query = Query::new(direction.unit(), &codes);
        let mut top = Top::new(NEIGHBOURS);
        let vectors = self.vectors;
        let count = self.cluster_of.len();
        let mut others = Others {
            vectors,
            direction,
            asked,
        };
        exact::best(&codes, &query, count, -1.0, &mut top, &mut others)?;
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
                match found.iter().position(|other| other.id() == *id) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const DIMENSION: usize = 48;

    /// Directions of length 1 around so many centres.
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
            to_length_1(&mut all[from..]);
        }
        all
    }

    #[test]
    fn a_row_stands_for_a_direction_near_that_which_it_was_made_of() {
        let centre = vec![0.01; DIMENSION];
        let directions = around(5, 20, 0.3);
        let decoded = Rows::of(&directions, &centre).directions(&centre);
        assert_eq!(decoded.len(), directions.len());
        let pairs = directions.chunks(DIMENSION).zip(decoded.chunks(DIMENSION));
        for (direction, decoded) in pairs {
            let dot: f32 = direction.iter().zip(decoded).map(|(a, b)| a * b).sum();
            assert!(dot > 0.99, "{dot}");
        }
    }

    #[test]
    fn looking_into_a_few_groups_finds_nearly_always_whom_looking_at_all_finds() {
        let centre = vec![0.0; DIMENSION];
        let clusters = Rows::of(&around(60, 2 * CLUSTERS_MIN, 0.4), &centre);
        let all = grouped(&clusters, &centre).unwrap();
        assert!(all.groups.is_some());
        let asked = around(60, 3_000, 0.4);
        let found = nearest_of(&asked, &all, &Inline).unwrap();
        let expected = nearest_of(
            &asked,
            &Directions::ungrouped(&clusters, DIMENSION),
            &Inline,
        )
        .unwrap();
        let same = found.iter().zip(&expected).filter(|(a, b)| a == b).count();
        assert!(same >= 2_850, "{same} of 3000");
    }

    #[test]
    fn few_clusters_are_not_grouped_and_equal_ones_do_no_harm() {
        let centre = vec![0.0; DIMENSION];
        let few = Rows::of(&around(3, CLUSTERS_MIN - 1, 0.1), &centre);
        assert!(grouped(&few, &centre).unwrap().groups.is_none());
        let equal = Rows::of(&around(1, 2 * CLUSTERS_MIN, 0.0), &centre);
        let all = grouped(&equal, &centre).unwrap();
        let found = nearest_of(&around(1, 10, 0.0), &all, &Inline).unwrap();
        assert!(found.iter().all(|&at| (at as usize) < equal.len()));
    }

    #[test]
    fn who_works_beside_changes_nothing() {
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
        let one = lloyd(&sample, CLUSTERS_MIN, 2, &centre, &Inline).unwrap();
        let two = lloyd(&sample, CLUSTERS_MIN, 2, &centre, &Last).unwrap();
        assert_eq!((one.scales, one.codes), (two.scales, two.codes));
    }
}
