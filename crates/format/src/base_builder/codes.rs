//! The codes of a new base: those of the old base are kept, others made; clusters and their recall.
//!
//! The centre is the mean of all vectors, each divided by its length. It and the clusters stay from base to base until
//! there are twice as many vectors as when they were made, or until a text was erased, as they come from all of them.

use std::ops::Range;

use super::closest::{Directions, Nearest, Rows, off};
use super::clusters;
use super::kept::Kept;
use super::workers::{Workers, both};
use crate::base::codes::{Codes, Made, Measured};
use crate::base::vectors::inverse_length;
use crate::error::Result;
use crate::simd::{Kernels, QuantisedQuery, unpack};
use crate::types::Flags;
use crate::vectors::{SAFE, Vectors};
use crate::view::View;

/// The packed scale and error of an event without a direction: an error that is not a number.
pub const NOTHING: u32 = 0x7fc0;
/// Of one whose direction 32 bits don't hold: an infinite error.
pub(crate) const ANYTHING: u32 = 0x7f80;
/// Vectors to begin with, and their multiple after which everything is made anew.
const GROWTH: u64 = 2;

/// The codes of the view's vectors, around the centre and the clusters of the base; `None` if there are none.
pub(super) fn make(kept: &Kept<'_>, workers: &dyn Workers) -> Result<Option<Made>> {
    let view = kept.view;
    let vectors = Vectors::new(view)?;
    let old = match !kept.damage.indexes && !erases(view) {
        true => view.brain().base().codes()?,
        false => None,
    };
    let mut made = match old {
        Some(old) => Maker::after(&old, kept, &vectors)?,
        None => None,
    };
    if made.is_none() {
        made = Maker::anew(view, &vectors, workers)?;
    }
    made.map(Maker::finish).transpose()
}

/// Makes the codes of a view's vectors from scratch, clusters and all, for whoever measures how long that takes. True
/// if there are any.
pub fn of(view: &View, workers: &dyn Workers) -> Result<bool> {
    let vectors = Vectors::new(view)?;
    let made = Maker::anew(view, &vectors, workers)?
        .map(Maker::finish)
        .transpose()?;
    Ok(made.is_some())
}

/// True if something was erased since the base.
fn erases(view: &View) -> bool {
    let states = &view.brain().delta().events.states;
    let mut states = states.iter().take_while(|state| state.lsn <= view.lsn());
    states.any(|state| state.flags.has(Flags::ERASED))
}

/// Codes in the making.
struct Maker<'a, 'v> {
    vectors: &'a Vectors<'v>,
    kernels: Kernels,
    made: Made,
    /// Rows of events, in order of id; rows of clusters come behind them.
    of_clusters: Rows,
    /// The cluster of each event, if there are any.
    cluster_of: Vec<u32>,
    /// Vectors with a direction.
    count: u64,
    work: Vec<f32>,
}

/// The cluster of an event that is in none.
const NONE: u32 = u32::MAX;

impl<'a, 'v> Maker<'a, 'v> {
    fn new(vectors: &'a Vectors<'v>, centre: Vec<f32>) -> Self {
        Self {
            vectors,
            kernels: Kernels::best(),
            made: Made {
                measured: Measured {
                    trained: 0,
                    measured: 0,
                    probes: 0,
                    recall: 0.0,
                    refine: 0,
                },
                reach: 0.0,
                centre,
                scales: Vec::new(),
                rows: Vec::new(),
                starts: vec![0],
                listed: Vec::new(),
            },
            of_clusters: Default::default(),
            cluster_of: Vec::new(),
            count: 0,
            work: Vec::new(),
        }
    }

    /// Everything made anew; `None` if no event has a vector.
    fn anew(view: &View, vectors: &'a Vectors<'v>, workers: &dyn Workers) -> Result<Option<Self>> {
        let Some((centre, count)) = centre(view, vectors)? else {
            return Ok(None);
        };
        let mut maker = Self::new(vectors, centre);
        maker.count = count;
        maker.reserve(view.nodes());
        vectors.for_each(|id, vector, inverse| {
            maker.fill(id);
            maker.push(vector, inverse);
            Ok(())
        })?;
        maker.fill(view.nodes() as u32);
        maker.made.measured.trained = count;
        maker.make_clusters(workers)?;
        Ok(Some(maker))
    }

    /// The old ones, changed and added to; `None` if they are to be made anew.
    fn after(old: &Codes<'_>, kept: &Kept<'_>, vectors: &'a Vectors<'v>) -> Result<Option<Self>> {
        let view = kept.view;
        let mut maker = Self::new(vectors, old.centre.to_vec());
        let nodes = view.brain().base().nodes() as usize;
        maker.reserve(view.nodes());
        maker.made.reach = old.reach;
        maker.made.measured = old.measured;
        maker.made.scales.extend_from_slice(&old.scales[..nodes]);
        maker
            .made
            .rows
            .extend_from_slice(&old.rows[..nodes * old.stride]);
        let (scales, rows) = old.of_clusters();
        maker.of_clusters = Rows {
            scales: scales.to_vec(),
            codes: rows.to_vec(),
        };
        if old.clusters() > 0 {
            maker.cluster_of = vec![NONE; nodes];
            for cluster in 0..old.clusters() {
                for &id in old.members(cluster)? {
                    maker.cluster_of[old.place(id)?] = cluster as u32;
                }
            }
        }
        if kept.is_scratch {
            for id in 0..nodes as u32 {
                if let Some((vector, inverse)) = vectors.placed(id) {
                    maker.change(id, vector, inverse);
                }
            }
        }
        let mut others = Vec::new();
        vectors.for_each_moved(|id, vector, inverse| {
            maker.change(id, vector, inverse);
            others.push(id);
            Ok(())
        })?;
        maker.drop_changed(&others);
        maker.fill(view.nodes() as u32);
        let with = |&&packed: &&u32| packed != NOTHING;
        maker.count = maker.made.scales.iter().filter(with).count() as u64;
        let trained = maker.made.measured.trained;
        let is_first = old.clusters() == 0 && clusters::are_worth_it(maker.count);
        match maker.count >= GROWTH * trained || is_first {
            true => Ok(None),
            false => {
                maker.assign_rest(&others)?;
                Ok(Some(maker))
            }
        }
    }

    fn reserve(&mut self, nodes: u64) {
        let stride = QuantisedQuery::stride_of(self.made.centre.len());
        self.made.scales.reserve(nodes as usize);
        self.made.rows.reserve(nodes as usize * stride);
    }

    fn stride(&self) -> usize {
        QuantisedQuery::stride_of(self.made.centre.len())
    }

    /// Rows of nothing for the events up to `id`.
    fn fill(&mut self, id: u32) {
        let (id, stride) = (id as usize, self.stride());
        self.made.scales.resize(id, NOTHING);
        self.made.rows.resize(id * stride, 0);
    }

    fn push(&mut self, vector: &[f32], inverse: f32) {
        let at = self.made.rows.len();
        let stride = self.stride();
        self.made.rows.resize(at + stride, 0);
        let packed = self.code(vector, inverse, at);
        self.made.scales.push(packed);
    }

    /// Writes a row, and returns its scale and error.
    fn code(&mut self, vector: &[f32], inverse: f32, at: usize) -> u32 {
        let stride = self.stride();
        let row = &mut self.made.rows[at..at + stride];
        let centre = &self.made.centre;
        let (packed, off) = code(self.kernels, vector, inverse, centre, row, &mut self.work);
        self.made.reach = self.made.reach.max(off);
        packed
    }

    /// An event of the old base whose vector changed, or a newer one.
    fn change(&mut self, id: u32, vector: &[f32], inverse: f32) {
        let at = id as usize * self.stride();
        if (id as usize) < self.made.scales.len() {
            let stride = self.stride();
            self.made.rows[at..at + stride].fill(0);
            self.made.scales[id as usize] = self.code(vector, inverse, at);
        } else {
            self.fill(id);
            self.push(vector, inverse);
        }
    }

    /// Events of the base whose vector is gone.
    fn drop_changed(&mut self, present: &[u32]) {
        let stride = self.stride();
        for &id in self.vectors.changed() {
            if present.binary_search(&id).is_err() {
                let at = id as usize;
                self.made.scales[at] = NOTHING;
                self.made.rows[at * stride..(at + 1) * stride].fill(0);
                if let Some(cluster) = self.cluster_of.get_mut(at) {
                    *cluster = NONE;
                }
            }
        }
    }

    fn make_clusters(&mut self, workers: &dyn Workers) -> Result<()> {
        if !clusters::are_worth_it(self.count) {
            return Ok(());
        }
        let (vectors, centre) = (self.vectors, &self.made.centre);
        self.of_clusters = clusters::train(vectors, centre, self.count, workers)?;
        if self.of_clusters.len() == 0 {
            return Ok(());
        }
        let among = clusters::grouped(&self.of_clusters, centre)?;
        let find = |ids: Range<u32>| {
            let mut nearest = Nearest::new(&among);
            let mut of = vec![NONE; ids.len()];
            let first = ids.start;
            vectors.for_each_of(ids, |id, vector, inverse| {
                if inverse != 0.0 {
                    of[(id - first) as usize] = nearest.of(vector, inverse);
                }
                Ok(())
            })?;
            Result::Ok(of)
        };
        let nodes = self.made.scales.len() as u32;
        let (rest, first) = both(workers, || find(nodes / 2..nodes), || find(0..nodes / 2))?;
        self.cluster_of = first?;
        self.cluster_of.extend(rest?);
        Ok(())
    }

    /// Finds the clusters of these events.
    fn assign_rest(&mut self, others: &[u32]) -> Result<()> {
        let (centre, rows) = (&self.made.centre, &self.of_clusters);
        if rows.len() == 0 {
            return Ok(());
        }
        // Making groups takes as long as finding the clusters of some.
        let among = match others.len() > rows.len() {
            true => clusters::grouped(rows, centre)?,
            false => Directions::ungrouped(rows, centre.len()),
        };
        let mut nearest = Nearest::new(&among);
        let (cluster_of, vectors) = (&mut self.cluster_of, self.vectors);
        cluster_of.resize(self.made.scales.len(), NONE);
        for &id in others {
            vectors.look_at(id, &mut |id, vector, inverse| {
                if inverse != 0.0 {
                    cluster_of[id as usize] = nearest.of(vector, inverse);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Lists the events by cluster, puts the clusters' rows behind those of the events, and measures the recall if
    /// that is due.
    fn finish(mut self) -> Result<Made> {
        let k = self.of_clusters.len();
        if k > 0 {
            (self.made.starts, self.made.listed) = by_cluster(&self.cluster_of, k);
        }
        self.made.scales.append(&mut self.of_clusters.scales);
        self.made.rows.append(&mut self.of_clusters.codes);
        let measured = self.made.measured.measured;
        if k > 0 && self.count > measured + measured / 10 {
            self.made.measured = clusters::measure(&self.made, self.vectors, self.count)?;
        }
        Ok(self.made)
    }
}

/// The mean of all vectors of length 1, and how many have a direction; `None` if none has.
fn centre(view: &View, vectors: &Vectors<'_>) -> Result<Option<(Vec<f32>, u64)>> {
    let mut sum = vec![0.0f64; view.vector_dimension() as usize];
    let (mut count, mut told) = (0u64, 0u64);
    vectors.for_each(|_, vector, inverse| {
        count += u64::from(inverse != 0.0);
        if SAFE.contains(&inverse) {
            told += 1;
            let numbers = sum.iter_mut().zip(vector);
            numbers.for_each(|(sum, &x)| *sum += f64::from(x * inverse));
        }
        Ok(())
    })?;
    let mean = sum.iter().map(|&sum| (sum / told.max(1) as f64) as f32);
    Ok((count > 0).then(|| (mean.collect(), count)))
}

/// Where each cluster begins, and the events by cluster, then id.
fn by_cluster(cluster_of: &[u32], k: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; k + 1];
    for &cluster in cluster_of.iter().filter(|&&cluster| cluster != NONE) {
        starts[cluster as usize + 1] += 1;
    }
    for at in 0..k {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut listed = vec![0; starts[k] as usize];
    for (id, &cluster) in (0u32..).zip(cluster_of) {
        if cluster != NONE {
            let at = &mut next[cluster as usize];
            listed[*at as usize] = id;
            *at += 1;
        }
    }
    (starts, listed)
}

/// What an event's row must say, for those who check: the packed scale and error, with the codes; and how far it is off
/// the centre at most.
pub fn row_of(vector: Option<&[f32]>, centre: &[f32], codes: &mut [u8]) -> (u32, f32) {
    code(
        Kernels::best(),
        vector.unwrap_or_default(),
        vector.map_or(0.0, inverse_length),
        centre,
        codes,
        &mut Vec::new(),
    )
}

/// Writes a row; returns its scale and error, and how far what it stands for is off the centre at most.
fn code(
    kernels: Kernels,
    vector: &[f32],
    inverse: f32,
    centre: &[f32],
    codes: &mut [u8],
    work: &mut Vec<f32>,
) -> (u32, f32) {
    if inverse == 0.0 {
        return (NOTHING, 0.0);
    }
    if !SAFE.contains(&inverse) {
        return (ANYTHING, 0.0);
    }
    let off = off(vector, inverse, centre, work);
    let square: f32 = off.iter().map(|x| x * x).sum();
    let packed = kernels.quantise(off, codes);
    let (_, error) = unpack(packed);
    // What a row stands for is no further off the centre than the vector and its error.
    (packed, square.sqrt() * (1.0 + 1e-4) + error)
}
