//! AVX2 with FMA: 16 registers of 32 bytes.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::x86_64::*;

use crate::lanes::LANES;
use crate::layers::{self, PanelView, RowBlock, Tile};
use crate::target_feature::{compiled, loops, tile_kernel, with_size};
use crate::vectors::{self, BoundFormula, DotBounds, GROUP_BYTES, QuantisedQuery};

/// Rows of a tile at a time: four rows of three registers are 12 sums, and leave four registers for the operands.
const ROWS: usize = 4;

/// The processor has AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    pub(crate) fn new() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }

    loops!(compiled!("avx2,fma"));

    pub(crate) fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { code_sums(query, rows, out) }
    }

    pub(crate) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
        rows.validate(panel);
        let lanes = panel.lanes;
        let vectors = if lanes == 3 { 3 } else { 2 };
        let parts = lanes * LANES / (vectors * 8) * rows.count.div_ceil(ROWS);
        // Each part prefetches its share.
        let mut shares = panel.next.chunks(panel.next.len().div_ceil(parts).max(1));
        for at in (0..lanes * LANES).step_by(vectors * 8) {
            for first in (0..rows.count).step_by(ROWS) {
                let next = shares.next().unwrap_or_default();
                let panel = PanelView { next, ..panel };
                let count = ROWS.min(rows.count - first);
                // SAFETY: `self` exists, so the processor has these instructions.
                unsafe {
                    with_size!(
                        count,
                        vectors,
                        tile,
                        (rows, first, panel, at, out),
                        [1 2 3 4],
                        [2 3]
                    );
                }
            }
        }
    }
}

#[target_feature(enable = "avx2")]
fn code_sums(query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
    let (low, high) = query.halves();
    let (low, _) = low.as_chunks::<GROUP_BYTES>();
    let (high, _) = high.as_chunks::<GROUP_BYTES>();
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.stride().max(1))) {
        let mut sum = _mm256_setzero_si256();
        for ((codes, low), high) in row.as_chunks::<GROUP_BYTES>().0.iter().zip(low).zip(high) {
            sum = _mm256_add_epi32(sum, group(codes, low, high));
        }
        let half = _mm_add_epi32(
            _mm256_castsi256_si128(sum),
            _mm256_extracti128_si256::<1>(sum),
        );
        let pair = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
        let all = _mm_add_epi32(pair, _mm_shuffle_epi32::<0b10_11_00_01>(pair));
        *out = _mm_cvtsi128_si32(all);
    }
}

/// Partial sums of the 32 products of a group.
#[inline]
#[target_feature(enable = "avx2")]
fn group(codes: &[u8; GROUP_BYTES], low: &[i8; GROUP_BYTES], high: &[i8; GROUP_BYTES]) -> __m256i {
    // SAFETY: each is an array of sixteen bytes; these loads need no alignment.
    let (codes, low, high) = unsafe {
        (
            _mm_loadu_si128(codes.as_ptr().cast()),
            _mm_loadu_si128(low.as_ptr().cast()),
            _mm_loadu_si128(high.as_ptr().cast()),
        )
    };
    let both = _mm256_set_m128i(_mm_srli_epi16::<4>(codes), codes);
    let codes = _mm256_and_si256(both, _mm256_set1_epi8(15));
    // Two products of 15 · 127 at most: far within 16 bits.
    let pairs = _mm256_maddubs_epi16(codes, _mm256_set_m128i(high, low));
    _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
}

#[inline]
#[target_feature(enable = "avx2,fma")]
fn multiply_add(x: f32, column: __m256, sum: __m256) -> __m256 {
    _mm256_fmadd_ps(_mm256_set1_ps(x), column, sum)
}

/// Brings a cache line into the second cache. It faults at no address.
#[inline]
#[target_feature(enable = "sse")]
fn prefetch(line: *const f32) {
    _mm_prefetch::<_MM_HINT_T1>(line.cast());
}

tile_kernel!(
    "avx2,fma",
    8,
    _mm256_setzero_ps(),
    _mm256_loadu_ps,
    multiply_add,
    _mm256_storeu_ps
);
