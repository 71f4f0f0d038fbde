//! NEON, which every 64-bit ARM processor has; the compiler uses it for the plain loops too.

#![expect(unsafe_code, reason = "intrinsics")]

use std::arch::aarch64::*;

use super::body::{self, BoundFormula, DotBounds, GROUP_BYTES, QuantisedQuery};
use super::target_feature::bodies;

/// The processor has NEON.
#[derive(Debug, Clone, Copy)]
pub struct Neon(());

impl Neon {
    pub(super) fn new() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }

    bodies!("neon");

    pub(super) fn code_sums(self, query: &QuantisedQuery, rows: &[u8], out: &mut [i32]) {
        // SAFETY: `self` exists, so the processor has these instructions.
        unsafe { code_sums(query, rows, out) }
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
