//! AVX2 with FMA: registers of 8 numbers, 16 of them.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::x86_64::*;

use super::body::{self, LANES, PanelView, RowBlock, Tile};
use super::target_feature::{bodies, tile_kernel, with_size};

/// Rows at a time: four rows of three registers are 12 sums, and leave four registers for the operands.
const ROWS: usize = 4;

/// The processor has AVX2 and FMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn new() -> Option<Self> {
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Self(()))
    }

    bodies!("avx2,fma");

    pub(super) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
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
