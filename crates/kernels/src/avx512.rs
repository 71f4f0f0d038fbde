//! AVX-512, with and without VNNI: 32 registers of 64 bytes.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::x86_64::*;

use crate::lanes::LANES;
use crate::layers::{self, PanelView, RowBlock, Tile};
use crate::target_feature::{compiled, loops, tile_kernel, with_size};
use crate::vectors::{self, BoundFormula, DotBounds, QuantisedQuery};

/// Bytes in a register.
const BYTES: usize = 64;
/// Rows of codes that are summed in parallel; their sums fill one register.
const ROWS: usize = 16;

/// The processor has AVX-512 F, BW, DQ and VL, and FMA.
#[derive(Debug, Clone, Copy)]
pub struct Avx512 {
    /// True only if it has VNNI as well.
    has_vnni: bool,
}

impl Avx512 {
    /// What this processor has of it: nothing, or the set without VNNI and, after it, the one with VNNI.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let has_base = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("fma");
        let base = has_base.then_some(Self { has_vnni: false });
        let has_vnni = has_base && is_x86_feature_detected!("avx512vnni");
        base.into_iter()
            .chain(has_vnni.then_some(Self { has_vnni }))
    }

    loops!(compiled!("avx512f,avx512bw,avx512dq,avx512vl,fma"));

    #[inline]
    pub(crate) fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        if self.has_vnni {
            // SAFETY: `self` exists and says so, so the processor has these instructions.
            unsafe { code_sums_vnni(query, rows, out) }
        } else {
            // SAFETY: `self` exists, so the processor has these instructions.
            unsafe { code_sums_bw(query, rows, out) }
        }
    }

    pub(crate) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
        rows.validate(panel);
        let lanes = panel.lanes;
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe {
            with_size!(
                rows.count,
                lanes,
                tile,
                (rows, 0, panel, 0, out),
                [1 2 3 4 5 6 7 8],
                [1 2 3]
            );
        }
    }
}

macro_rules! code_sums {
    ($name:ident, $feature:literal, $add:ident) => {
        #[target_feature(enable = $feature)]
        fn $name(query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
            let stride = query.stride();
            let (low, high) = query.halves();
            let mut blocks = out.chunks_exact_mut(ROWS);
            let mut at = 0;
            for out in &mut blocks {
                let mut sums = [_mm512_setzero_si512(); ROWS];
                for step in (0..stride).step_by(BYTES) {
                    let (low, high) = (numbers(low, step), numbers(high, step));
                    let mask = tail(stride - step);
                    for (i, sum) in sums.iter_mut().enumerate() {
                        let codes = load(rows, at + i * stride + step, mask);
                        *sum = $add(*sum, codes, low, high);
                    }
                }
                // SAFETY: `out` has 16 numbers of four bytes; the store needs no alignment.
                unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), columns(sums)) };
                at += ROWS * stride;
            }
            for out in blocks.into_remainder() {
                let mut sum = _mm512_setzero_si512();
                for step in (0..stride).step_by(BYTES) {
                    let codes = load(rows, at + step, tail(stride - step));
                    sum = $add(sum, codes, numbers(low, step), numbers(high, step));
                }
                *out = _mm512_reduce_add_epi32(sum);
                at += stride;
            }
        }
    };
}

code_sums!(code_sums_bw, "avx512f,avx512bw,avx512dq,avx512vl", add_bw);
code_sums!(
    code_sums_vnni,
    "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni",
    add_vnni
);

/// A mask of the `left` remaining bytes of a row, 64 at most.
#[inline]
fn tail(left: usize) -> u64 {
    if left >= BYTES {
        u64::MAX
    } else {
        (1 << left) - 1
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(rows: &[u8], at: usize, mask: u64) -> __m512i {
    let len = mask.count_ones() as usize;
    debug_assert!(at + len <= rows.len());
    // SAFETY: `Kernels::code_sums` asserted that `rows` holds whole rows, and the mask excludes bytes past the row;
    // excluded bytes are not read.
    unsafe { _mm512_maskz_loadu_epi8(mask, rows.as_ptr().add(at).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn numbers(half: &[i8], at: usize) -> __m512i {
    assert!(
        at + BYTES <= half.len(),
        "a query is padded to whole registers"
    );
    // SAFETY: within the slice, as just asserted.
    unsafe { _mm512_loadu_si512(half.as_ptr().add(at).cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn add_vnni(sum: __m512i, codes: __m512i, low: __m512i, high: __m512i) -> __m512i {
    let fifteen = _mm512_set1_epi8(15);
    let lows = _mm512_and_si512(codes, fifteen);
    let highs = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), fifteen);
    _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(sum, lows, low), highs, high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_bw(sum: __m512i, codes: __m512i, low: __m512i, high: __m512i) -> __m512i {
    let fifteen = _mm512_set1_epi8(15);
    let lows = _mm512_and_si512(codes, fifteen);
    let highs = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), fifteen);
    // Two products of 15 · 127 at most, twice: far within 16 bits.
    let pairs = _mm512_add_epi16(
        _mm512_maddubs_epi16(lows, low),
        _mm512_maddubs_epi16(highs, high),
    );
    _mm512_add_epi32(sum, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))
}

/// The sums of sixteen registers, one lane each, in order.
#[inline]
#[target_feature(enable = "avx512f")]
fn columns(r: [__m512i; ROWS]) -> __m512i {
    // Four rounds: each halves the number of registers and of partial sums; the shuffles keep the order.
    let pair = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let four = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    // Each 128-bit lane of `quads[i]` has a partial sum of the rows 4i, 4i + 1, 4i + 2, 4i + 3.
    let quad = |at: usize| four(pair(r[at], r[at + 1]), pair(r[at + 2], r[at + 3]));
    let (a, b, c, d) = (quad(0), quad(4), quad(8), quad(12));
    // Lanes: a0+a2 a1+a3 b0+b2 b1+b3, and likewise c, d.
    let ab = _mm512_add_epi32(
        _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b),
        _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b),
    );
    let cd = _mm512_add_epi32(
        _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d),
        _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d),
    );
    _mm512_add_epi32(
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab, cd),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab, cd),
    )
}

#[inline]
#[target_feature(enable = "avx512f")]
fn multiply_add(x: f32, column: __m512, sum: __m512) -> __m512 {
    _mm512_fmadd_ps(_mm512_set1_ps(x), column, sum)
}

/// Brings a cache line into the second cache. It faults at no address.
#[inline]
#[target_feature(enable = "sse")]
fn prefetch(line: *const f32) {
    _mm_prefetch::<_MM_HINT_T1>(line.cast());
}

tile_kernel!(
    "avx512f,avx512bw,avx512dq,avx512vl,fma",
    16,
    _mm512_setzero_ps(),
    _mm512_loadu_ps,
    multiply_add,
    _mm512_storeu_ps
);
