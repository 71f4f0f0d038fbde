//! The nearest centroid of a vector, by 4-bit codes.
//!
//! Many centroids are grouped, and only the groups with the nearest leaders are probed. That may miss the nearest
//! centroid; the caller measures the recall.

use crate::nearest::Work;
use crate::vectors::SAFE;
use amem_kernels::{BoundFormula, DotBounds, Kernels, QuantisedQuery, decode};

/// The normalised vector minus the centre. `inverse` is 1 / length, within `SAFE`.
pub(super) fn residual<'o>(
    vector: &[f32],
    inverse: f32,
    centre: &[f32],
    out: &'o mut Vec<f32>,
) -> &'o [f32] {
    out.clear();
    out.extend(vector.iter().zip(centre).map(|(&x, &c)| x * inverse - c));
    out
}

/// Groups that are probed for each vector.
const PROBED_GROUPS: usize = 6;

/// Quantised directions.
#[derive(Debug, Clone, Default)]
pub(super) struct CodedRows {
    pub(super) scales: Vec<u32>,
    pub(super) codes: Vec<u8>,
}

impl CodedRows {
    /// Quantises directions, stored one after the other.
    pub(super) fn of(directions: &[f32], centre: &[f32]) -> Self {
        let (kernels, stride) = (Kernels::best(), QuantisedQuery::stride_of(centre.len()));
        let (mut rows, mut work) = (Self::default(), Vec::new());
        for direction in directions.chunks_exact(centre.len()) {
            let at = rows.codes.len();
            rows.codes.resize(at + stride, 0);
            let residual = residual(direction, 1.0, centre, &mut work);
            let scale = kernels.quantise(residual, &mut rows.codes[at..]);
            rows.scales.push(scale);
        }
        rows
    }

    /// Decodes the rows into directions of length 1, one after the other.
    pub(super) fn directions(&self, centre: &[f32]) -> Vec<f32> {
        let stride = QuantisedQuery::stride_of(centre.len());
        let mut directions = Vec::with_capacity(self.len() * centre.len());
        for (&packed, row) in self.scales.iter().zip(self.codes.chunks_exact(stride)) {
            let from = directions.len();
            let residuals = decode(packed, row);
            directions.extend(
                residuals
                    .zip(centre)
                    .map(|(residual, &centre)| centre + residual),
            );
            normalise(&mut directions[from..]);
        }
        directions
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }
}

/// Divides a vector by its length, unless that is 0.
pub(super) fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

/// The rows of centroids by group.
#[derive(Debug)]
pub(super) struct CentroidGroups {
    leaders: CodedRows,
    /// By group.
    rows: CodedRows,
    /// Where each group begins in `rows`, then the end of the last.
    starts: Vec<usize>,
    /// The index of each of `rows` before it was grouped.
    original: Vec<u32>,
}

impl CentroidGroups {
    /// Groups `rows`: `of` gives the group of each, `leaders` the direction of each group.
    pub(super) fn new(leaders: CodedRows, rows: &CodedRows, of: &[u32]) -> Self {
        let stride = rows.codes.len() / rows.len().max(1);
        let mut original: Vec<u32> = (0..of.len() as u32).collect();
        original.sort_by_key(|&at| of[at as usize]);
        let mut grouped = CodedRows::default();
        for &at in &original {
            let at = at as usize;
            grouped.scales.push(rows.scales[at]);
            grouped
                .codes
                .extend_from_slice(&rows.codes[at * stride..(at + 1) * stride]);
        }
        let starts = (0..=leaders.len() as u32)
            .map(|group| original.partition_point(|&at| of[at as usize] < group))
            .collect();
        Self {
            leaders,
            rows: grouped,
            starts,
            original,
        }
    }
}

/// Centroids, with their groups if there are many.
pub(super) struct Centroids<'a> {
    pub(super) rows: &'a CodedRows,
    pub(super) groups: Option<CentroidGroups>,
    pub(super) dimension: usize,
}

impl<'a> Centroids<'a> {
    /// Centroids without groups: every one is compared.
    pub(super) fn ungrouped(rows: &'a CodedRows, dimension: usize) -> Self {
        Self {
            rows,
            groups: None,
            dimension,
        }
    }
}

/// Finds the nearest centroid; reuses its buffers from vector to vector.
pub(super) struct NearestCentroid<'a> {
    among: &'a Centroids<'a>,
    kernels: Kernels,
    coded: QuantisedQuery,
    unit: Vec<f32>,
    /// Scales of the rows in the probed groups.
    scales: Vec<u32>,
    work: Work,
}

impl<'a> NearestCentroid<'a> {
    pub(super) fn new(among: &'a Centroids<'a>) -> Self {
        Self {
            among,
            kernels: Kernels::best(),
            coded: QuantisedQuery::sized(among.dimension),
            unit: Vec::new(),
            scales: Vec::new(),
            work: Work::of(among.rows.len()),
        }
    }

    /// The nearest centroid of a vector of length 1 / `inverse`; the first one if `inverse` is not within `SAFE`.
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

    /// The nearest centroid of a vector of length 1.
    pub(super) fn of_unit(&mut self, unit: &[f32]) -> u32 {
        self.coded.set(unit);
        // Terms that all rows share do not change the order.
        let line = BoundFormula::new(&self.coded, 1.0, 0.0, 0.0, 0.0);
        let (kernels, coded, work) = (self.kernels, &self.coded, &mut self.work);
        let Some(groups) = &self.among.groups else {
            let rows = self.among.rows;
            kernels.code_sums(coded, &rows.codes, &mut work.sums);
            return kernels.greatest(lower(kernels, &line, &rows.scales, work)) as u32;
        };
        let leaders = &groups.leaders;
        kernels.code_sums(coded, &leaders.codes, &mut work.sums[..leaders.len()]);
        let chosen = greatest_few(lower(kernels, &line, &leaders.scales, work));
        self.scales.clear();
        let (stride, mut count) = (coded.stride(), 0);
        for group in chosen.clone() {
            let (from, to) = (groups.starts[group], groups.starts[group + 1]);
            let codes = &groups.rows.codes[from * stride..to * stride];
            let after = count + to - from;
            kernels.code_sums(coded, codes, &mut work.sums[count..after]);
            self.scales.extend_from_slice(&groups.rows.scales[from..to]);
            count = after;
        }
        let mut at = kernels.greatest(lower(kernels, &line, &self.scales, work));
        for group in chosen {
            let (from, to) = (groups.starts[group], groups.starts[group + 1]);
            if at < to - from {
                return groups.original[from + at];
            }
            at -= to - from;
        }
        0
    }
}

/// The indexes of the greatest numbers, the greatest first.
fn greatest_few(numbers: &[f32]) -> impl Iterator<Item = usize> + Clone + use<> {
    let mut greatest = [(f32::NEG_INFINITY, 0); PROBED_GROUPS];
    for (at, &number) in numbers.iter().enumerate() {
        if number > greatest[PROBED_GROUPS - 1].0 {
            let place = greatest.partition_point(|&(other, _)| other >= number);
            greatest.copy_within(place..PROBED_GROUPS - 1, place + 1);
            greatest[place] = (number, at);
        }
    }
    let found = greatest.into_iter();
    found
        .take_while(|&(number, _)| number > f32::NEG_INFINITY)
        .map(|(_, at)| at)
}

/// Lower bounds of the dot products, from the first sums.
fn lower<'w>(
    kernels: Kernels,
    line: &BoundFormula,
    scales: &[u32],
    work: &'w mut Work,
) -> &'w [f32] {
    let count = scales.len();
    let out = DotBounds {
        upper: &mut work.upper[..count],
        lower: &mut work.lower[..count],
    };
    kernels.bounds(line, &work.sums[..count], scales, out);
    &work.lower[..count]
}
