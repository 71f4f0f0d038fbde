//! Builds the section of quantised vectors: updates that of the older base, or trains from scratch.
//!
//! The centre is the mean of all vectors, each divided by its length. Centre and centroids depend on every vector, so
//! they are trained again when the number of vectors has doubled, or after an erase.

use std::ops::Range;

use super::centroids::{Centroids, CodedRows, NearestCentroid, residual};
use super::copy_plan::CopyPlan;
use super::ivf;
use super::workers::{Workers, both};
use crate::base::quantised_vectors::{IvfParameters, QuantisedBuffers, QuantisedVectors};
use crate::base::vectors::inverse_length;
use crate::error::Result;
use crate::types::Flags;
use crate::vectors::{SAFE, Vectors};
use crate::view::View;
use amem_kernels::{Kernels, QuantisedQuery, unpack};

/// Packed scale and error of an event without a direction: the error is not a number.
pub const NO_DIRECTION: u32 = 0x7fc0;
/// Packed scale and error of a direction that f32 cannot represent: the error is infinite.
pub(crate) const UNBOUNDED: u32 = 0x7f80;
/// Growth in vectors, since the last training, after which the lists are trained again.
const GROWTH: u64 = 2;

/// The quantised vectors of a view; `None` if no event has a vector.
pub(super) fn make(plan: &CopyPlan<'_>, workers: &dyn Workers) -> Result<Option<QuantisedBuffers>> {
    let view = plan.view;
    let vectors = Vectors::new(view)?;
    let old = if plan.damage.indexes || erases(view) || view.other_space().is_some() {
        None
    } else {
        view.brain().base().codes()?
    };
    let mut data = match old {
        Some(old) => Quantiser::after(&old, plan, &vectors)?,
        None => None,
    };
    if data.is_none() {
        data = Quantiser::from_scratch(view, &vectors, workers)?;
    }
    data.map(Quantiser::finish).transpose()
}

/// Trains the quantised vectors of a view from scratch, for benchmarks. True if there are any vectors.
pub fn of(view: &View, workers: &dyn Workers) -> Result<bool> {
    let vectors = Vectors::new(view)?;
    let data = Quantiser::from_scratch(view, &vectors, workers)?
        .map(Quantiser::finish)
        .transpose()?;
    Ok(data.is_some())
}

/// True if the delta erases an event.
fn erases(view: &View) -> bool {
    let states = &view.brain().delta().events.states;
    let mut states = states.iter().take_while(|state| state.lsn <= view.lsn());
    states.any(|state| state.flags.has(Flags::ERASED))
}

/// A section under construction.
struct Quantiser<'a, 'v> {
    vectors: &'a Vectors<'v>,
    kernels: Kernels,
    data: QuantisedBuffers,
    /// Rows of the centroids; `finish` appends them to those of the events.
    centroids: CodedRows,
    /// The list of each event; empty without lists.
    list_of: Vec<u32>,
    /// Vectors with a direction.
    count: u64,
    work: Vec<f32>,
}

/// The list of an event without a vector.
const NO_LIST: u32 = u32::MAX;

impl<'a, 'v> Quantiser<'a, 'v> {
    fn new(vectors: &'a Vectors<'v>, centre: Vec<f32>) -> Self {
        Self {
            vectors,
            kernels: Kernels::best(),
            data: QuantisedBuffers {
                ivf: IvfParameters {
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
                entries: Vec::new(),
            },
            centroids: Default::default(),
            list_of: Vec::new(),
            count: 0,
            work: Vec::new(),
        }
    }

    /// Trains everything again; `None` if no event has a vector.
    fn from_scratch(
        view: &View,
        vectors: &'a Vectors<'v>,
        workers: &dyn Workers,
    ) -> Result<Option<Self>> {
        let Some((centre, count)) = centre(view, vectors)? else {
            return Ok(None);
        };
        let mut quantiser = Self::new(vectors, centre);
        quantiser.count = count;
        quantiser.reserve(view.nodes());
        vectors.for_each(|id, vector, inverse| {
            quantiser.fill(id);
            quantiser.push(vector, inverse);
            Ok(())
        })?;
        quantiser.fill(view.nodes() as u32);
        quantiser.data.ivf.trained = count;
        quantiser.train_lists(workers)?;
        Ok(Some(quantiser))
    }

    /// Updates the older section; `None` if it must be trained again.
    fn after(
        old: &QuantisedVectors<'_>,
        plan: &CopyPlan<'_>,
        vectors: &'a Vectors<'v>,
    ) -> Result<Option<Self>> {
        let view = plan.view;
        let mut quantiser = Self::new(vectors, old.centre.to_vec());
        let nodes = view.brain().base().nodes() as usize;
        quantiser.reserve(view.nodes());
        quantiser.data.reach = old.reach;
        quantiser.data.ivf = old.ivf;
        quantiser
            .data
            .scales
            .extend_from_slice(&old.scales[..nodes]);
        quantiser
            .data
            .rows
            .extend_from_slice(&old.rows[..nodes * old.stride]);
        let (scales, rows) = old.centroids();
        quantiser.centroids = CodedRows {
            scales: scales.to_vec(),
            codes: rows.to_vec(),
        };
        if old.lists() > 0 {
            quantiser.list_of = vec![NO_LIST; nodes];
            for list in 0..old.lists() {
                for &id in old.list(list)? {
                    quantiser.list_of[old.row_index(id)?] = list as u32;
                }
            }
        }
        if plan.is_scratch {
            for id in 0..nodes as u32 {
                if let Some((vector, inverse)) = vectors.placed(id) {
                    quantiser.change(id, vector, inverse);
                }
            }
        }
        let mut others = Vec::new();
        vectors.for_each_moved(|id, vector, inverse| {
            quantiser.change(id, vector, inverse);
            others.push(id);
            Ok(())
        })?;
        quantiser.clear_removed(&others);
        quantiser.fill(view.nodes() as u32);
        let has_direction = |&&packed: &&u32| packed != NO_DIRECTION;
        quantiser.count = quantiser.data.scales.iter().filter(has_direction).count() as u64;
        let trained = quantiser.data.ivf.trained;
        let is_first = old.lists() == 0 && ivf::are_worthwhile(quantiser.count);
        if quantiser.count >= GROWTH * trained || is_first {
            return Ok(None);
        }
        quantiser.assign(&others)?;
        Ok(Some(quantiser))
    }

    fn reserve(&mut self, nodes: u64) {
        let stride = QuantisedQuery::stride_of(self.data.centre.len());
        self.data.scales.reserve(nodes as usize);
        self.data.rows.reserve(nodes as usize * stride);
    }

    fn stride(&self) -> usize {
        QuantisedQuery::stride_of(self.data.centre.len())
    }

    /// Adds rows of events without a vector, up to `id`.
    fn fill(&mut self, id: u32) {
        let (id, stride) = (id as usize, self.stride());
        self.data.scales.resize(id, NO_DIRECTION);
        self.data.rows.resize(id * stride, 0);
    }

    fn push(&mut self, vector: &[f32], inverse: f32) {
        let at = self.data.rows.len();
        let stride = self.stride();
        self.data.rows.resize(at + stride, 0);
        let packed = self.code(vector, inverse, at);
        self.data.scales.push(packed);
    }

    /// Encodes a row; returns its packed scale and error.
    fn code(&mut self, vector: &[f32], inverse: f32, at: usize) -> u32 {
        let stride = self.stride();
        let row = &mut self.data.rows[at..at + stride];
        let centre = &self.data.centre;
        let (packed, residual) = code(self.kernels, vector, inverse, centre, row, &mut self.work);
        self.data.reach = self.data.reach.max(residual);
        packed
    }

    /// Encodes a changed or new vector.
    fn change(&mut self, id: u32, vector: &[f32], inverse: f32) {
        let at = id as usize * self.stride();
        if (id as usize) < self.data.scales.len() {
            let stride = self.stride();
            self.data.rows[at..at + stride].fill(0);
            self.data.scales[id as usize] = self.code(vector, inverse, at);
        } else {
            self.fill(id);
            self.push(vector, inverse);
        }
    }

    /// Clears the rows of changed events that have no vector now.
    fn clear_removed(&mut self, present: &[u32]) {
        let stride = self.stride();
        for &id in self.vectors.changed() {
            if present.binary_search(&id).is_err() {
                let at = id as usize;
                self.data.scales[at] = NO_DIRECTION;
                self.data.rows[at * stride..(at + 1) * stride].fill(0);
                if let Some(list) = self.list_of.get_mut(at) {
                    *list = NO_LIST;
                }
            }
        }
    }

    fn train_lists(&mut self, workers: &dyn Workers) -> Result<()> {
        if !ivf::are_worthwhile(self.count) {
            return Ok(());
        }
        let (vectors, centre) = (self.vectors, &self.data.centre);
        self.centroids = ivf::train(vectors, centre, self.count, workers)?;
        if self.centroids.len() == 0 {
            return Ok(());
        }
        let among = ivf::grouped(&self.centroids, centre)?;
        let find = |ids: Range<u32>| {
            let mut nearest = NearestCentroid::new(&among);
            let mut of = vec![NO_LIST; ids.len()];
            let first = ids.start;
            vectors.for_each_of(ids, |id, vector, inverse| {
                if inverse != 0.0 {
                    of[(id - first) as usize] = nearest.of(vector, inverse);
                }
                Ok(())
            })?;
            Result::Ok(of)
        };
        let nodes = self.data.scales.len() as u32;
        let (rest, first) = both(workers, || find(nodes / 2..nodes), || find(0..nodes / 2))?;
        self.list_of = first?;
        self.list_of.extend(rest?);
        Ok(())
    }

    /// Assigns these events to lists.
    fn assign(&mut self, others: &[u32]) -> Result<()> {
        let (centre, rows) = (&self.data.centre, &self.centroids);
        if rows.len() == 0 {
            return Ok(());
        }
        // Grouping costs about as much as one assignment for each list.
        let among = if others.len() > rows.len() {
            ivf::grouped(rows, centre)?
        } else {
            Centroids::ungrouped(rows, centre.len())
        };
        let mut nearest = NearestCentroid::new(&among);
        let (list_of, vectors) = (&mut self.list_of, self.vectors);
        list_of.resize(self.data.scales.len(), NO_LIST);
        for &id in others {
            vectors.look_at(id, &mut |id, vector, inverse| {
                if inverse != 0.0 {
                    list_of[id as usize] = nearest.of(vector, inverse);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Inverts the assignment into lists, appends the centroids' rows, and measures the recall if the vectors have
    /// grown by a tenth.
    fn finish(mut self) -> Result<QuantisedBuffers> {
        let k = self.centroids.len();
        if k > 0 {
            (self.data.starts, self.data.entries) = inverted(&self.list_of, k);
        }
        self.data.scales.append(&mut self.centroids.scales);
        self.data.rows.append(&mut self.centroids.codes);
        let measured = self.data.ivf.measured;
        if k > 0 && self.count > measured + measured / 10 {
            self.data.ivf = ivf::measure(&self.data, self.vectors, self.count)?;
        }
        Ok(self.data)
    }
}

/// The mean direction and the number of vectors with a direction; `None` if there are none.
fn centre(view: &View, vectors: &Vectors<'_>) -> Result<Option<(Vec<f32>, u64)>> {
    let mut sum = vec![0.0f64; view.vector_dimension() as usize];
    let (mut count, mut safe) = (0u64, 0u64);
    vectors.for_each(|_, vector, inverse| {
        count += u64::from(inverse != 0.0);
        if SAFE.contains(&inverse) {
            safe += 1;
            let numbers = sum.iter_mut().zip(vector);
            numbers.for_each(|(sum, &x)| *sum += f64::from(x * inverse));
        }
        Ok(())
    })?;
    let mean = sum.iter().map(|&sum| (sum / safe.max(1) as f64) as f32);
    Ok((count > 0).then(|| (mean.collect(), count)))
}

/// Where each list begins, and the events by list, then id.
fn inverted(list_of: &[u32], k: usize) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; k + 1];
    for &list in list_of.iter().filter(|&&list| list != NO_LIST) {
        starts[list as usize + 1] += 1;
    }
    for at in 0..k {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut entries = vec![0; starts[k] as usize];
    for (id, &list) in (0u32..).zip(list_of) {
        if list != NO_LIST {
            let at = &mut next[list as usize];
            entries[*at as usize] = id;
            *at += 1;
        }
    }
    (starts, entries)
}

/// The row that an event must have, for verification: encodes it into `codes`; returns the packed scale and error, and
/// a bound of its distance from the centre.
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

/// Encodes a row; returns the packed scale and error, and a bound of the decoded vector's distance from the centre.
fn code(
    kernels: Kernels,
    vector: &[f32],
    inverse: f32,
    centre: &[f32],
    codes: &mut [u8],
    work: &mut Vec<f32>,
) -> (u32, f32) {
    if inverse == 0.0 {
        return (NO_DIRECTION, 0.0);
    }
    if !SAFE.contains(&inverse) {
        return (UNBOUNDED, 0.0);
    }
    let residual = residual(vector, inverse, centre, work);
    let square: f32 = residual.iter().map(|x| x * x).sum();
    let packed = kernels.quantise(residual, codes);
    let (_, error) = unpack(packed);
    // The decoded vector is farther from the centre than the vector by its error at most.
    (packed, square.sqrt() * (1.0 + 1e-4) + error)
}
