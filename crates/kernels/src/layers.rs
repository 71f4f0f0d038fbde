//! The portable loops of a forward pass, generic in whether a multiply-add is fused.

use crate::lanes::{LANES, total_of};

/// Rows of a tile.
pub const TILE_ROWS: usize = 8;
/// Lane blocks of a tile's row. Eight rows of three registers are 24 sums: with AVX-512 that hides the latency of the
/// additions and leaves registers for the operands.
pub const TILE_LANES: usize = 3;
/// Columns of a tile.
pub const TILE_COLUMNS: usize = TILE_LANES * LANES;

/// Sixteen numbers of a packed matrix, on one cache line.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct LaneBlock(pub [f32; LANES]);

impl LaneBlock {
    /// Sixteen zeros.
    pub const ZERO: Self = Self([0.0; LANES]);
}

/// The sums of a tile.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Tile(pub [[f32; TILE_COLUMNS]; TILE_ROWS]);

impl Tile {
    /// No products yet.
    pub const ZERO: Self = Self([[0.0; TILE_COLUMNS]; TILE_ROWS]);
}

/// The rows that a tile multiplies: `count` rows of `depth` numbers, whose starts are `stride` apart.
#[derive(Debug, Clone, Copy)]
pub struct RowBlock<'a> {
    /// The rows, and what stands between them.
    pub numbers: &'a [f32],
    /// Numbers from the start of a row to that of the next.
    pub stride: usize,
    /// Rows, 1 to `TILE_ROWS`.
    pub count: usize,
    /// Numbers of a row.
    pub depth: usize,
}

/// A panel of a packed matrix: `lanes` blocks for each step of the depth.
#[derive(Debug, Clone, Copy)]
pub struct PanelView<'a> {
    /// `lanes` blocks for each step of the depth.
    pub blocks: &'a [LaneBlock],
    /// Blocks of a step, 1 to `TILE_LANES`.
    pub lanes: usize,
    /// Blocks that are needed next: they are prefetched, evenly over the depth.
    pub next: &'a [LaneBlock],
}

impl RowBlock<'_> {
    /// Checks what the kernels rely on: the rows are inside the numbers, and the panel has `lanes` blocks for each
    /// step of the depth.
    #[inline]
    pub(crate) fn validate(&self, panel: PanelView<'_>) {
        let lanes = panel.lanes;
        assert!((1..=TILE_ROWS).contains(&self.count), "rows of a tile");
        assert!((1..=TILE_LANES).contains(&lanes), "lanes of a tile");
        let end = (self.count - 1) * self.stride + self.depth;
        assert!(end <= self.numbers.len(), "rows past the numbers");
        assert_eq!(
            panel.blocks.len(),
            self.depth * lanes,
            "a panel of another depth"
        );
    }
}

/// a · b + c, rounded once if fused.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FUSED { a.mul_add(b, c) } else { a * b + c }
}

/// Writes the products of the rows and the panel's columns into the tile's first `count` rows.
#[inline(always)]
pub(crate) fn tile<const FUSED: bool>(rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
    let PanelView { blocks, lanes, .. } = panel;
    for (r, out) in out.0.iter_mut().enumerate().take(rows.count) {
        let row = &rows.numbers[r * rows.stride..][..rows.depth];
        for lane in 0..lanes {
            let mut sums = [0.0; LANES];
            for (x, block) in row.iter().zip(blocks.chunks_exact(lanes)) {
                let block = &block[lane].0;
                for i in 0..LANES {
                    sums[i] = multiply_add::<FUSED>(*x, block[i], sums[i]);
                }
            }
            out[lane * LANES..][..LANES].copy_from_slice(&sums);
        }
    }
}

/// Adding it leaves the nearest integer in the low bits: 1.5 · 2^23.
const ROUNDER: f32 = 12_582_912.0;
/// ln 2 in two parts; the first has few digits, so that its products with small integers are exact.
const LN_2_FRONT: f32 = 0.693_145_75;
const LN_2_REST: f32 = 1.428_606_8e-6;
/// Past these the result is no normal number.
const EXP_LEAST: f32 = -87.0;
const EXP_MOST: f32 = 88.0;
/// 1/n! for n = 7 to 0.
const EXP_TERMS: [f32; 8] = [
    1.0 / 5040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// e^x within 2 units of the last place, for x in [−87, 88]; outside it is that of the bound.
#[inline(always)]
fn exp<const FUSED: bool>(x: f32) -> f32 {
    // Comparisons, not `clamp`: they compile to one instruction each, and NaN stays NaN in the polynomial.
    let x = if x < EXP_LEAST { EXP_LEAST } else { x };
    let x = if x > EXP_MOST { EXP_MOST } else { x };
    let rounded = multiply_add::<FUSED>(x, std::f32::consts::LOG2_E, ROUNDER);
    let power = rounded - ROUNDER;
    let rest = multiply_add::<FUSED>(power, -LN_2_FRONT, x);
    let rest = multiply_add::<FUSED>(power, -LN_2_REST, rest);
    let mut sum = EXP_TERMS[0];
    for term in &EXP_TERMS[1..] {
        sum = multiply_add::<FUSED>(sum, rest, *term);
    }
    let scale = (rounded.to_bits() << 23).wrapping_add(1.0f32.to_bits());
    sum * f32::from_bits(scale)
}

/// 1 − erf(z) = e^(−z²) · t · P(t) with t = 1 / (1 + ERF_SLOPE · z), for z ≥ 0; the greatest error is 8.3e-9.
/// Fitted by weighted least squares to values of 15 digits on [0, 4.3].
const ERF_SLOPE: f32 = 0.39;
const ERF_TERMS: [f32; 6] = [
    -0.227_537_06,
    0.886_664_1,
    -0.635_399_8,
    0.649_559,
    0.091_388_56,
    0.235_325_2,
];

/// The error function within 3e-7.
#[inline(always)]
fn erf<const FUSED: bool>(x: f32) -> f32 {
    let z = x.abs();
    let t = 1.0 / multiply_add::<FUSED>(z, ERF_SLOPE, 1.0);
    let mut sum = ERF_TERMS[0];
    for term in &ERF_TERMS[1..] {
        sum = multiply_add::<FUSED>(sum, t, *term);
    }
    let front = multiply_add::<FUSED>(-(t * sum), exp::<FUSED>(-z * z), 1.0);
    front.copysign(x)
}

/// tanh within 3e-7.
#[inline(always)]
fn tanh<const FUSED: bool>(x: f32) -> f32 {
    1.0 - 2.0 / (exp::<FUSED>(2.0 * x) + 1.0)
}

/// Applies a function to every number, sixteen at a time.
#[inline(always)]
fn map(values: &mut [f32], f: impl Fn(f32) -> f32) {
    let (blocks, rest) = values.as_chunks_mut::<LANES>();
    for block in blocks {
        for x in block {
            *x = f(*x);
        }
    }
    for x in rest {
        *x = f(*x);
    }
}

/// x · Φ(x) with the distribution function of the normal distribution.
#[inline(always)]
pub(crate) fn gelu<const FUSED: bool>(values: &mut [f32]) {
    map(values, |x| {
        0.5 * x * (1.0 + erf::<FUSED>(x * std::f32::consts::FRAC_1_SQRT_2))
    });
}

/// The older approximation of `gelu` by a hyperbolic tangent, for models that were trained with it.
#[inline(always)]
pub(crate) fn gelu_tanh<const FUSED: bool>(values: &mut [f32]) {
    let slope = (2.0 / std::f32::consts::PI).sqrt();
    map(values, |x| {
        let inner = slope * multiply_add::<FUSED>(0.044_715 * x * x, x, x);
        0.5 * x * (1.0 + tanh::<FUSED>(inner))
    });
}

/// Replaces scores by e^(scale · (score − greatest)) / total.
#[inline(always)]
pub(crate) fn softmax<const FUSED: bool>(scores: &mut [f32], scale: f32) {
    let (blocks, rest) = scores.as_chunks_mut::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for block in &*blocks {
        for i in 0..LANES {
            most[i] = if block[i] > most[i] {
                block[i]
            } else {
                most[i]
            };
        }
    }
    let most = most
        .iter()
        .chain(&*rest)
        .fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
    let mut sums = [0.0; LANES];
    for block in &mut *blocks {
        for i in 0..LANES {
            block[i] = exp::<FUSED>(scale * (block[i] - most));
            sums[i] += block[i];
        }
    }
    for (x, sum) in rest.iter_mut().zip(&mut sums) {
        *x = exp::<FUSED>(scale * (*x - most));
        *sum += *x;
    }
    let share = 1.0 / total_of(sums);
    map(scores, |x| x * share);
}

/// The sum of f over every number, in lanes.
#[inline(always)]
fn sum_of(values: &[f32], f: impl Fn(f32, f32) -> f32) -> f32 {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for block in blocks {
        for i in 0..LANES {
            sums[i] = f(block[i], sums[i]);
        }
    }
    for (x, sum) in rest.iter().zip(&mut sums) {
        *sum = f(*x, *sum);
    }
    total_of(sums)
}

/// Shifts and scales a row to mean 0 and variance 1, then by the gains and the shifts of its columns.
#[inline(always)]
pub(crate) fn normalise<const FUSED: bool>(
    row: &mut [f32],
    gains: &[f32],
    shifts: &[f32],
    epsilon: f32,
) {
    let share = 1.0 / row.len() as f32;
    let mean = sum_of(row, |x, sum| sum + x) * share;
    let variance = sum_of(row, |x, sum| {
        let off = x - mean;
        multiply_add::<FUSED>(off, off, sum)
    }) * share;
    let scale = 1.0 / (variance + epsilon).sqrt();
    for ((x, gain), shift) in row.iter_mut().zip(gains).zip(shifts) {
        *x = multiply_add::<FUSED>((*x - mean) * scale, *gain, *shift);
    }
}

/// Adds the second to the first.
#[inline(always)]
pub(crate) fn add(sums: &mut [f32], values: &[f32]) {
    for (sum, x) in sums.iter_mut().zip(values) {
        *sum += x;
    }
}
