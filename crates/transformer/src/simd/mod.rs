//! Kernels of the forward pass, for the best instruction set of this processor.
//!
//! The hot kernel is `tile`: up to 8 rows times up to 48 packed columns, with every sum in a register. It is written by
//! hand for each set. The other loops are written once, in `body`, and compiled for each set.
//!
//! Promises: the sets with fused multiply-add (AVX2, AVX-512, NEON) return the same bits, those of `body` with fused
//! operations: each sum adds its products in the order of the depth. A value of a set's type proves that the processor
//! has the set. The scalar set rounds each product; it differs by rounding only.
//! Not here: what is multiplied (`matrix`, `encoder`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
mod kernels;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod target_feature;
#[cfg(test)]
mod tests;

pub(crate) use body::{
    LANES, LaneBlock, PanelView, RowBlock, TILE_COLUMNS, TILE_LANES, TILE_ROWS, Tile,
};
pub(crate) use kernels::Kernels;
