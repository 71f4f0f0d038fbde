//! The interchange layout of the specification (spec-1): reader and writer.
//!
//! 64-byte nodes, 13-byte edges, times in seconds, one LZ4 frame with all texts and metadata, one slot per vector, four
//! indexes. Where the specification is silent, `docs/FORMAT.md` states the choice of amemd.
//!
//! Not here: detection of the layout ([`crate::detect`]), live brains.

mod header;

mod content;
mod file;
mod node;
mod verify;

mod cluster;
mod index;
mod write;

pub use content::CONTENT_BYTES_MAX;
pub use file::Spec1;
pub use write::{Spec1Report, write};

pub(crate) use header::{FLAGS_KNOWN, fits};
