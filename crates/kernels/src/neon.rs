//! NEON: 32 registers of 16 bytes. Every 64-bit ARM processor has it.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::aarch64::*;

use crate::lanes::LANES;
use crate::layers::{self, PanelView, RowBlock, Tile};
use crate::target_feature::{compiled, loops, tile_kernel, with_size};
use crate::vectors::{self, BoundFormula, DotBounds, GROUP_BYTES, QuantisedQuery};

/// The processor has NEON.
#[derive(Debug, Clone, Copy)]
pub struct Neon(());

impl Neon {
    pub(crate) fn new() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    loops!(compiled!("neon"));

    pub(crate) fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { code_sums(query, rows, out) }
    }

    pub(crate) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
        rows.validate(panel);
        let lanes = panel.lanes;
        let vectors = if lanes == 3 { 3 } else { 2 };
        for at in (0..lanes * LANES).step_by(vectors * 4) {
            // SAFETY: `self` exists, so the processor has these instructions.
            unsafe {
                with_size!(
                    rows.count,
                    vectors,
                    tile,
                    (rows, 0, panel, at, out),
                    [1 2 3 4 5 6 7 8],
                    [2 3]
                );
            }
        }
    }
}

#[target_feature(enable = "neon")]
fn code_sums(query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
    let (low, high) = query.halves();
    let (low, _) = low.as_chunks::<GROUP_BYTES>();
    let (high, _) = high.as_chunks::<GROUP_BYTES>();
    for (out, row) in out.iter_mut().zip(rows.chunks_exact(query.stride().max(1))) {
        let mut sum = vdupq_n_s32(0);
        for ((codes, low), high) in row.as_chunks::<GROUP_BYTES>().0.iter().zip(low).zip(high) {
            sum = group(sum, codes, low, high);
        }
        *out = vaddvq_s32(sum);
    }
}

/// Adds the 32 products of a group.
#[inline]
#[target_feature(enable = "neon")]
fn group(
    sum: int32x4_t,
    codes: &[u8; GROUP_BYTES],
    low: &[i8; GROUP_BYTES],
    high: &[i8; GROUP_BYTES],
) -> int32x4_t {
    // SAFETY: each is an array of sixteen bytes; these loads need no alignment.
    let (codes, low, high) = unsafe {
        (
            vld1q_u8(codes.as_ptr()),
            vld1q_s8(low.as_ptr()),
            vld1q_s8(high.as_ptr()),
        )
    };
    let lows = vreinterpretq_s8_u8(vandq_u8(codes, vdupq_n_u8(15)));
    let highs = vreinterpretq_s8_u8(vshrq_n_u8::<4>(codes));
    // Four products of 15 · 127 at most: far within 16 bits.
    let front = vmlal_s8(
        vmull_s8(vget_low_s8(lows), vget_low_s8(low)),
        vget_low_s8(highs),
        vget_low_s8(high),
    );
    let back = vmlal_high_s8(vmull_high_s8(lows, low), highs, high);
    vpadalq_s16(vpadalq_s16(sum, front), back)
}

#[inline]
#[target_feature(enable = "neon")]
fn multiply_add(x: f32, column: float32x4_t, sum: float32x4_t) -> float32x4_t {
    vfmaq_n_f32(sum, column, x)
}

/// The processor recognises the pattern by itself, and Rust has no stable hint for it.
#[inline]
fn prefetch(_line: *const f32) {}

tile_kernel!(
    "neon",
    4,
    vdupq_n_f32(0.0),
    vld1q_f32,
    multiply_add,
    vst1q_f32
);
