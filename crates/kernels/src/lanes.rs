//! Partial sums in lanes, and the order in which they are added.

/// Numbers that are processed in parallel: one, two or four registers.
pub const LANES: usize = 16;

/// Adds up the lanes, always in this order.
#[inline(always)]
pub(crate) fn total_of(mut lanes: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
        width /= 2;
    }
    lanes[0]
}
