//! AVX2: registers of 32 bytes.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::x86_64::*;

use super::body::{self, BoundFormula, DotBounds, GROUP_BYTES, QuantisedQuery};
use super::target_feature::bodies;

/// The processor has AVX2.
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx2 {
    pub(super) fn new() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    bodies!("avx2");

    pub(super) fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { code_sums(query, rows, out) }
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
