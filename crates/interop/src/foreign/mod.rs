//! Files of the reference implementation: read only, and written on request.
//!
//! The reference (crate `agentic-memory`) writes the native layout without our flags, sections and
//! journal; its ids may have gaps, its edges any order. [`crate::detect`] tells the layouts
//! apart,//! [`Foreign`] reads such a file in place, [`to_dense`] makes of it what a brain adopts, and
//! [`write_compatible`] writes a graph byte for byte as the reference would.
//!
//! Not here: the layout of the specification document ([`crate::spec1`]), live brains.

pub(crate) mod layout;

mod file;
pub(crate) mod text;

mod adopt;

mod compat;
mod compat_index;
mod tokens;

pub(crate) mod export;
#[cfg(test)]
pub(crate) mod sample;

pub use adopt::{AdoptionReport, ORIGIN_ID, to_dense};
pub use compat::{CompatOptions, CompatReport, write_compatible};
pub use file::{AsWritten, Foreign};
