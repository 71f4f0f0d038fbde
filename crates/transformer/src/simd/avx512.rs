//! AVX-512: registers of 16 numbers, 32 of them.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::x86_64::*;

use super::body::{self, LANES, PanelView, RowBlock, Tile};
use super::target_feature::{bodies, tile_kernel, with_size};

/// The processor has AVX-512 F, BW, DQ and VL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(super) fn new() -> Option<Self> {
        let found = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("fma");
        found.then_some(Self(()))
    }

    bodies!("avx512f,avx512bw,avx512dq,avx512vl,fma");

    pub(super) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
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
