//! Loops over numbers, for the best instruction set of this processor.
//!
//! ```
//! use amem_kernels::{Kernels, QuantisedQuery};
//!
//! // Two rows of codes, each of a query's stride: zeros give sums of zero.
//! let query = QuantisedQuery::of(&[1.0; 32]);
//! let rows = vec![0; 2 * query.stride()];
//! let mut sums = [1; 2];
//! Kernels::best().code_sums(&query, &rows, &mut sums);
//! assert_eq!(sums, [0, 0]);
//! ```
//!
//! The instruction set is detected once, at the first use. Loops over `f32` are written once, in `vectors` (dot
//! products and 4-bit codes) and `layers` (the forward pass of a model), and compiled for each set. By hand for each
//! set are the sums over codes and the tile of a matrix product, which keeps every sum in a register.
//!
//! Promises: of `vectors`, every set returns the bits of the scalar code, at every length and alignment. Of `layers`,
//! the sets with fused multiply-add return the same bits; the scalar set rounds each product and differs by rounding
//! only. A value of a set's type proves that the processor has the set.
//! Not here: what the numbers mean.

#![deny(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod hint;
mod kernels;
mod lanes;
mod layers;
#[cfg(target_arch = "aarch64")]
mod neon;
mod target_feature;
#[cfg(test)]
mod tests;
mod vectors;

pub use hint::{LINE, prefetch, ticks};
pub use kernels::Kernels;
pub use lanes::LANES;
pub use layers::{LaneBlock, PanelView, RowBlock, TILE_COLUMNS, TILE_LANES, TILE_ROWS, Tile};
pub use vectors::{BoundFormula, DotBounds, QuantisedQuery, decode, unpack};
