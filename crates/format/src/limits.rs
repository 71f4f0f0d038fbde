//! Every limit of a brain: its name, its value, its unit.
//!
//! Exceeding one is `Error::Limit`, which carries the name, the value and the bound.

/// Events in one brain; ids fit 32 bits inside indexes.
pub const NODES_MAX: u64 = u32::MAX as u64 - 1;
/// Edges in one brain; positions fit 32 bits inside indexes.
pub const EDGES_MAX: u64 = u32::MAX as u64 - 1;
/// Bytes of one event's text.
pub const TEXT_BYTES_MAX: usize = 1 << 20;
/// Bytes of one event's attributes as JSON.
pub const ATTRIBUTES_BYTES_MAX: usize = 64 << 10;
/// Bytes of `amem.origin`, which do not count towards the limit of the other attributes.
pub const ORIGIN_BYTES_MAX: usize = 2 << 10;
/// Depth of nesting of attributes.
pub const ATTRIBUTES_DEPTH_MAX: usize = 8;
/// Keys of attributes, nested ones counted.
pub const ATTRIBUTES_KEYS_MAX: usize = 256;
/// Numbers in a vector.
pub const DIMENSION_MAX: u32 = 4096;
/// Bytes of a frame: header, payload and padding.
pub const FRAME_BYTES_MAX: usize = 16 << 20;
/// Bytes of a transaction in the journal, with headers and padding of its frames; readers read it in place.
pub const TRANSACTION_BYTES_MAX: usize = 2 << 30;
/// Bytes of a session's key, of an agent's name, of a principal.
pub const NAME_BYTES_MAX: usize = 256;
/// Bytes of a session's outcome.
pub const OUTCOME_BYTES_MAX: usize = 4096;
/// Bytes of the settings as JSON.
pub const SETTINGS_BYTES_MAX: usize = 64 << 10;
/// Requests remembered for idempotent retries, at most: the newest by LSN.
pub const REQUESTS_MAX: usize = 10_000_000;
/// Requests remembered however long ago they came: a clock that is set forward takes none of these.
pub const REQUESTS_MIN: usize = 4096;
/// How long a request is remembered by the writer's clock, in microseconds (24 hours).
pub const REQUEST_WINDOW_MICROS: i64 = 24 * 3600 * 1_000_000;
/// Bytes of a stored answer to a request.
pub const ANSWER_BYTES_MAX: usize = 1 << 20;
/// Commits kept for subscribers across checkpoints, by count.
pub const RECENT_COMMITS_MAX: usize = 65_536;
/// Bytes of commits kept for subscribers across checkpoints, at least, however small the brain is.
pub const RECENT_COMMITS_BYTES_MIN: usize = 1 << 20;
/// Bytes of commits kept for subscribers across checkpoints, at most, however large the brain is.
pub const RECENT_COMMITS_BYTES_MAX: usize = 16 << 20;
/// Between these bounds, commits kept for subscribers take the preceding bytes of the base divided by this.
pub const RECENT_COMMITS_SHARE: u64 = 128;
/// The last recorded time, in microseconds: the end of the year 9999, after which protobuf has no time.
pub const TIME_MICROS_MAX: i64 = 253_402_300_799_999_999;
/// The last LSN.
pub const LSN_MAX: u64 = 1 << 62;
/// The last generation.
pub const GENERATION_MAX: u64 = 1 << 62;
/// Sections in one file.
pub const SECTIONS_MAX: usize = 256;
/// Attribute values of one event in the index; an event with more is a candidate of every filter.
pub const INDEXED_VALUES_MAX: usize = 256;
