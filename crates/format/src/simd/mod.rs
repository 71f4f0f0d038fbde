//! Sums over vectors, as fast as this processor makes them.
//!
//! Which instructions there are is asked once, at the first use. Loops over `f32` are written once, in `body`, and
//! compiled for each set of instructions: none adds in another order or fuses a product with a sum, so each gives the
//! same bits. The sums over codes are of whole numbers and written by hand for each.
//!
//! Promises: every set gives what the scalar code gives, to the bit, at every length and alignment; being able to
//! build the value of a set proves that the processor has it.
//! Not here: what the sums mean (`query::vectors`, `base::codes`).

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

pub use body::{Bounds, Coded, Line, decode, unpack};
pub use hint::{LINE, prefetch, ticks};
pub use kernels::Kernels;
