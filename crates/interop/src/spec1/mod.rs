//! The interchange layout of the specification document: read, and written on request.
//!
//! 64-byte nodes, 13-byte edges, times in seconds, one LZ4 frame of all texts and metadata, vectors
//! in a slot each, four indexes. Where the document is silent, `docs/FORMAT.md` says what we chose.
//!
//! Not here: telling it from the native layout ([`crate::detect`]), live brains.

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
