//! Limits on files in other layouts. Exceeding one is `amem_format::Error::Limit`, with name, value and bound.

/// Decompressed bytes of all texts of an adopted file: a few megabytes of LZ4 can expand to a gigabyte.
pub const FOREIGN_TEXTS_BYTES_MAX: u64 = 4 << 30;
