//! NEON: registers of 4 numbers, 32 of them. Every 64-bit ARM processor has it.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::aarch64::*;

use super::body::{self, LANES, PanelView, RowBlock, Tile};
use super::target_feature::{bodies, tile_kernel, with_size};

/// The processor has NEON.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    pub(super) fn new() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    bodies!("neon");

    pub(super) fn tile(self, rows: RowBlock<'_>, panel: PanelView<'_>, out: &mut Tile) {
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
