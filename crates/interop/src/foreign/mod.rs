//! Files of the reference implementation (crate `agentic-memory`): the native layout without the flags, sections and
//! journal of amemd. Ids may have gaps, edges may be in any order.
//!
//! [`Foreign`] reads such a file in place, [`to_dense`] converts it for adoption, and [`write_compatible`] writes a
//! graph byte for byte as the reference does.
//!
//! Not here: the layout of the specification ([`crate::spec1`]), live brains.

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
