//! Every limit of a file of another layout: its name, its value, its unit.
//!
//! Exceeding one is `amem_format::Error::Limit`, which carries the name, the value and the bound.

/// Bytes of all texts of a file of another layout, decompressed, that becomes a brain: a few megabytes of LZ4 can claim
/// a gigabyte.
pub const FOREIGN_TEXTS_BYTES_MAX: u64 = 4 << 30;
