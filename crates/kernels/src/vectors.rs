//! The portable loops over vectors, and the layout of their 4-bit codes.
//!
//! A row of 4-bit codes holds groups of 32 numbers in 16 bytes: byte i of a group has number i in its low half and
//! number 16 + i in its high half. A code c of 0 to 15 means scale · (c − 7.5). A row ends at a multiple of 16 bytes;
//! the padding has no effect, because the query is zero there.

use crate::lanes::{LANES, total_of};

/// Numbers in a group of codes.
pub(crate) const GROUP: usize = 32;
/// Bytes of a group.
pub(crate) const GROUP_BYTES: usize = GROUP / 2;
/// Bytes in the widest register: queries are padded to a multiple, so that loads past their end stay in bounds.
const WIDEST: usize = 64;
/// The code value of zero, between codes 7 and 8.
const MIDDLE: f32 = 7.5;

#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            lanes[i] += a[i] * b[i];
        }
    }
    for (lane, (a, b)) in lanes.iter_mut().zip(a_rest.iter().zip(b_rest)) {
        *lane += a * b;
    }
    total_of(lanes)
}

/// A query quantised to integers of one byte, in the layout of the rows of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct QuantisedQuery {
    stride: usize,
    low: Vec<i8>,
    high: Vec<i8>,
    /// The sum of the integers.
    total: i32,
    /// The value of an integer of 1.
    scale: f32,
    /// Length of the quantisation error.
    error: f32,
}

impl QuantisedQuery {
    /// A query of zeros.
    #[inline]
    pub fn sized(dimension: usize) -> Self {
        let stride = Self::stride_of(dimension);
        let padded = stride.next_multiple_of(WIDEST);
        Self {
            stride,
            low: vec![0; padded],
            high: vec![0; padded],
            total: 0,
            scale: 0.0,
            error: 0.0,
        }
    }

    /// Bytes in a row of codes of a dimension.
    #[inline]
    pub fn stride_of(dimension: usize) -> usize {
        dimension.div_ceil(GROUP) * GROUP_BYTES
    }

    /// Bytes in a row of codes.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The integers for the low and the high halves of a row's bytes, zero-padded to a multiple of 64.
    #[inline]
    pub(crate) fn halves(&self) -> (&[i8], &[i8]) {
        (&self.low, &self.high)
    }
}

/// Enlarges the computed length of the quantisation error to cover rounding.
const QUERY_ERROR_FACTOR: f32 = 1.0 + 1e-4;

#[inline(always)]
pub(crate) fn set(coded: &mut QuantisedQuery, query: &[f32]) {
    let mut greatest = 0.0f32;
    for &x in query {
        greatest = greatest.max(x.abs());
    }
    let scale = greatest / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let (mut total, mut squares) = (0, [0.0f32; LANES]);
    let mut number_of = |x: f32, lane: usize| {
        // Shifted to be positive, so that truncation rounds half up.
        let number = (x * inverse + 127.5) as i32 - 127;
        let number = number.clamp(-127, 127);
        let rest = x - scale * number as f32;
        squares[lane] += rest * rest;
        total += number;
        number as i8
    };
    let (groups, rest) = query.as_chunks::<GROUP>();
    let (low, _) = coded.low.as_chunks_mut::<GROUP_BYTES>();
    let (high, _) = coded.high.as_chunks_mut::<GROUP_BYTES>();
    for (group, (low, high)) in groups.iter().zip(low.iter_mut().zip(high.iter_mut())) {
        for i in 0..GROUP_BYTES {
            low[i] = number_of(group[i], i);
            high[i] = number_of(group[GROUP_BYTES + i], i);
        }
    }
    if let (Some(low), Some(high)) = (low.get_mut(groups.len()), high.get_mut(groups.len())) {
        for (i, &x) in rest.iter().enumerate() {
            let half = if i < GROUP_BYTES {
                &mut *low
            } else {
                &mut *high
            };
            half[i % GROUP_BYTES] = number_of(x, i % GROUP_BYTES);
        }
    }
    (coded.total, coded.scale) = (total, scale);
    coded.error = total_of(squares).sqrt() * QUERY_ERROR_FACTOR;
}

#[inline(always)]
pub(crate) fn code_sums(query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.stride.max(1))) {
        let halves = query.low.iter().zip(&query.high);
        let sums = row.iter().zip(halves).map(|(&byte, (&low, &high))| {
            i32::from(byte & 15) * i32::from(low) + i32::from(byte >> 4) * i32::from(high)
        });
        *out = sums.sum();
    }
}

/// The coefficients that turn sums over codes into bounds of dot products.
///
/// For a query q = scale · integers + query error, and a row r = centre + row scale · (codes − 7.5) + row error,
/// q · r = q · centre + scale · row scale · (Σ codes · integers − 7.5 · Σ integers), plus or minus
/// |q| · |row error| + |query error| · |row scale · (codes − 7.5)| and the rounding of these sums.
#[derive(Debug, Clone, Copy)]
pub struct BoundFormula {
    /// q · centre.
    pub centre: f32,
    scale: f32,
    middle: f32,
    /// |q|.
    pub length: f32,
    /// The part of the margin that is the same for all rows.
    margin: f32,
}

impl BoundFormula {
    /// For a query of this length whose dot product with the centre is `centre`, over rows within `reach` of the
    /// centre. `slack` bounds the rounding on both sides.
    #[inline]
    pub fn new(query: &QuantisedQuery, length: f32, centre: f32, reach: f32, slack: f32) -> Self {
        Self {
            centre,
            scale: query.scale,
            middle: MIDDLE * query.total as f32,
            length,
            margin: query.error * reach + slack,
        }
    }
}

/// Output buffers, one element a row.
#[derive(Debug)]
pub struct DotBounds<'a> {
    /// Upper bounds of the dot products; NaN for a row without a direction.
    pub upper: &'a mut [f32],
    /// Lower bounds.
    pub lower: &'a mut [f32],
}

/// Scale and error of a row, each the upper half of an `f32`.
#[inline(always)]
pub fn unpack(packed: u32) -> (f32, f32) {
    (
        f32::from_bits(packed & 0xffff_0000),
        f32::from_bits(packed << 16),
    )
}

/// The values of a row's codes, relative to the centre, padding included.
#[inline]
pub fn decode(packed: u32, row: &[u8]) -> impl Iterator<Item = f32> {
    let (scale, _) = unpack(packed);
    let codes = row.chunks(GROUP_BYTES).flat_map(|group| {
        let low = group.iter().map(|byte| byte & 15);
        low.chain(group.iter().map(|byte| byte >> 4))
    });
    codes.map(move |code| scale * (f32::from(code) - MIDDLE))
}

#[inline(always)]
pub(crate) fn bounds(line: &BoundFormula, sums: &[i32], scales: &[u32], out: DotBounds<'_>) {
    let rows = sums.iter().zip(scales);
    let out = out.upper.iter_mut().zip(out.lower.iter_mut());
    for ((&sum, &packed), (upper, lower)) in rows.zip(out) {
        let (scale, error) = unpack(packed);
        let middle = line.centre + line.scale * scale * (sum as f32 - line.middle);
        let margin = line.length * error + line.margin;
        *upper = middle + margin;
        *lower = middle - margin;
    }
}

#[inline(always)]
pub(crate) fn reaching(values: &[f32], least: f32, f: &mut dyn FnMut(usize)) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    for (chunk_at, chunk) in chunks.iter().enumerate() {
        let mut any = false;
        for &value in chunk {
            any |= value >= least;
        }
        if any {
            for (i, &value) in chunk.iter().enumerate() {
                if value >= least {
                    f(chunk_at * LANES + i);
                }
            }
        }
    }
    for (i, &value) in rest.iter().enumerate() {
        if value >= least {
            f(chunks.len() * LANES + i);
        }
    }
}

#[inline(always)]
pub(crate) fn greatest(values: &[f32]) -> usize {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut lanes = [f32::NEG_INFINITY; LANES];
    for chunk in chunks {
        for i in 0..LANES {
            lanes[i] = if chunk[i] > lanes[i] {
                chunk[i]
            } else {
                lanes[i]
            };
        }
    }
    let most = lanes
        .iter()
        .chain(rest)
        .fold(f32::NEG_INFINITY, |a, &b| if b > a { b } else { a });
    values.iter().position(|&value| value == most).unwrap_or(0)
}

/// Rounds a positive number up to an `f32` whose lower 16 bits are zero.
#[inline(always)]
fn rounded_up(x: f32) -> f32 {
    f32::from_bits((x.to_bits() + 0xffff) & 0xffff_0000)
}

/// Enlarges the computed error to cover rounding, relatively and absolutely.
const ERROR_FACTOR: f32 = 1.0 + 1e-4;
const ERROR_EXTRA: f32 = 1e-6;

#[inline(always)]
pub(crate) fn quantise(off: &[f32], codes: &mut [u8]) -> u32 {
    let mut greatest = 0.0f32;
    for &x in off {
        greatest = greatest.max(x.abs());
    }
    let scale = rounded_up(greatest / MIDDLE);
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let mut squares = [0.0f32; LANES];
    let (groups, rest) = off.as_chunks::<GROUP>();
    let mut code_of = |x: f32, lane: usize| {
        // Truncation of a positive number rounds half up: the same on every machine, without a call.
        let code = (x * inverse + (MIDDLE + 0.5)).clamp(0.0, 15.0) as u8;
        let error = x - scale * (f32::from(code) - MIDDLE);
        squares[lane] += error * error;
        code
    };
    for (group, bytes) in groups.iter().zip(codes.chunks_exact_mut(GROUP_BYTES)) {
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = code_of(group[i], i) | code_of(group[GROUP_BYTES + i], i) << 4;
        }
    }
    if let Some(bytes) = codes.get_mut(groups.len() * GROUP_BYTES..)
        && !rest.is_empty()
    {
        for (i, byte) in bytes.iter_mut().enumerate() {
            let mut half = |at: usize| rest.get(at).map_or(0, |&x| code_of(x, i));
            *byte = half(i) | half(GROUP_BYTES + i) << 4;
        }
    }
    let error = rounded_up(total_of(squares).sqrt() * ERROR_FACTOR + ERROR_EXTRA);
    scale.to_bits() | error.to_bits() >> 16
}
