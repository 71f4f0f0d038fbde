//! Kernels over vectors and 4-bit codes, for the best instruction set of this processor.
//!
//! The instruction set is detected once, at the first use. Loops over `f32` are written once, in `body`, and compiled
//! for each set: none reorders sums or fuses multiply and add, so all return the same bits. Sums over codes are integer
//! sums, written by hand for each set.
//!
//! Promises: every set returns the bits of the scalar code, at every length and alignment; a value of a set's type
//! proves that the processor has the set.
//! Not here: what the sums mean (`vectors`, `base::quantised_vectors`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod body;
mod hint;
mod kernels;
#[cfg(target_arch = "aarch64")]
mod neon;
mod target_feature;
#[cfg(test)]
mod tests;

pub use body::{BoundFormula, DotBounds, QuantisedQuery, decode, unpack};
pub use hint::{LINE, prefetch, ticks};
pub use kernels::Kernels;
