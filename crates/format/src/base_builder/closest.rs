//! Which of some directions a vector is nearest to, as far as codes tell.
//!
//! Where there are many, directions near each other stand in groups, and only the groups are looked into whose own
//! direction is nearest. That may miss the nearest of all, so it is for those who measure what comes of it.

use crate::nearest::Work;
use crate::simd::{BoundFormula, DotBounds, Kernels, QuantisedQuery, decode};
use crate::vectors::SAFE;

/// What a vector is off the centre once its length is 1, if that can be told in 32 bits.
pub(super) fn off<'o>(
    vector: &[f32],
    inverse: f32,
    centre: &[f32],
    out: &'o mut Vec<f32>,
) -> &'o [f32] {
    out.clear();
    out.extend(vector.iter().zip(centre).map(|(&x, &c)| x * inverse - c));
    out
}

/// Groups that are looked into.
const GROUPS_LOOKED_INTO: usize = 6;

/// Codes of directions.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    pub(super) scales: Vec<u32>,
    pub(super) codes: Vec<u8>,
}

impl Rows {
    /// Of directions that stand one after the other.
    pub(super) fn of(directions: &[f32], centre: &[f32]) -> Self {
        let (kernels, stride) = (Kernels::best(), QuantisedQuery::stride_of(centre.len()));
        let (mut rows, mut work) = (Self::default(), Vec::new());
        for direction in directions.chunks_exact(centre.len()) {
            let at = rows.codes.len();
            rows.codes.resize(at + stride, 0);
            let off = off(direction, 1.0, centre, &mut work);
            let scale = kernels.quantise(off, &mut rows.codes[at..]);
            rows.scales.push(scale);
        }
        rows
    }

    /// What the codes stand for, one after the other, each of length 1.
    pub(super) fn directions(&self, centre: &[f32]) -> Vec<f32> {
        let stride = QuantisedQuery::stride_of(centre.len());
        let mut directions = Vec::with_capacity(self.len() * centre.len());
        for (&packed, row) in self.scales.iter().zip(self.codes.chunks_exact(stride)) {
            let from = directions.len();
            let offs = decode(packed, row);
            directions.extend(offs.zip(centre).map(|(off, &centre)| centre + off));
            to_length_1(&mut directions[from..]);
        }
        directions
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }
}

/// Divides a vector by its length, if it has one.
pub(super) fn to_length_1(vector: &mut [f32]) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
}

/// Rows by group.
#[derive(Debug)]
pub(super) struct Groups {
    leaders: Rows,
    /// The rows of all groups, one group after the other.
    rows: Rows,
    /// Where each group begins in `rows`, and where the last one ends.
    starts: Vec<usize>,
    /// What each of `rows` was before.
    was: Vec<u32>,
}

impl Groups {
    /// Of these rows, whose groups are `of`, led by `leaders`.
    pub(super) fn new(leaders: Rows, rows: &Rows, of: &[u32]) -> Self {
        let stride = rows.codes.len() / rows.len().max(1);
        let mut was: Vec<u32> = (0..of.len() as u32).collect();
        was.sort_by_key(|&at| of[at as usize]);
        let mut grouped = Rows::default();
        for &at in &was {
            let at = at as usize;
            grouped.scales.push(rows.scales[at]);
            grouped
                .codes
                .extend_from_slice(&rows.codes[at * stride..(at + 1) * stride]);
        }
        let starts = (0..=leaders.len() as u32)
            .map(|group| was.partition_point(|&at| of[at as usize] < group))
            .collect();
        Self {
            leaders,
            rows: grouped,
            starts,
            was,
        }
    }
}

/// Directions, and their groups where they have some.
pub(super) struct Directions<'a> {
    pub(super) rows: &'a Rows,
    pub(super) groups: Option<Groups>,
    pub(super) dimension: usize,
}

impl<'a> Directions<'a> {
    /// All of which are looked at.
    pub(super) fn ungrouped(rows: &'a Rows, dimension: usize) -> Self {
        Self {
            rows,
            groups: None,
            dimension,
        }
    }
}

/// Tells whom vectors are nearest to.
pub(super) struct Nearest<'a> {
    among: &'a Directions<'a>,
    kernels: Kernels,
    coded: QuantisedQuery,
    unit: Vec<f32>,
    /// Of the rows that are looked at together.
    scales: Vec<u32>,
    work: Work,
}

impl<'a> Nearest<'a> {
    pub(super) fn new(among: &'a Directions<'a>) -> Self {
        Self {
            among,
            kernels: Kernels::best(),
            coded: QuantisedQuery::sized(among.dimension),
            unit: Vec::new(),
            scales: Vec::new(),
            work: Work::of(among.rows.len()),
        }
    }

    /// The one nearest to a vector of length 1 / `inverse`; the first, if that can't be told.
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

    /// The one nearest to a vector of length 1.
    pub(super) fn of_unit(&mut self, unit: &[f32]) -> u32 {
        self.coded.set(unit);
        // What is the same for all rows says nothing of who is nearest.
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
                return groups.was[from + at];
            }
            at -= to - from;
        }
        0
    }
}

/// The places of the greatest numbers, the greatest first; fewer where there are no more.
fn greatest_few(numbers: &[f32]) -> impl Iterator<Item = usize> + Clone + use<> {
    let mut greatest = [(f32::NEG_INFINITY, 0); GROUPS_LOOKED_INTO];
    for (at, &number) in numbers.iter().enumerate() {
        if number > greatest[GROUPS_LOOKED_INTO - 1].0 {
            let place = greatest.partition_point(|&(other, _)| other >= number);
            greatest.copy_within(place..GROUPS_LOOKED_INTO - 1, place + 1);
            greatest[place] = (number, at);
        }
    }
    let found = greatest.into_iter();
    found
        .take_while(|&(number, _)| number > f32::NEG_INFINITY)
        .map(|(_, at)| at)
}

/// The lower bounds of the dot products with the rows that the first sums are of.
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
