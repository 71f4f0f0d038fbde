//! Section 0x52, attribute values: which events have a value under a path of their attributes.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u32 | version; another than the reader's: the index counts as absent |
//! | 4 | u32 | unlisted events o |
//! | 8 | u64 | lists v |
//! | 16 | u64 × v | each list's key: a hash of path and value, ascending |
//! | | u64 × (v + 1) | where each list begins in the lists |
//! | | u32 × o | unlisted events, ascending: those with too many values |
//! | | | lists |
//!
//! The index gives candidates: two values may have one hash, so callers check the attributes of each event. Unlisted
//! events have too many values (`limits::INDEXED_VALUES_MAX`) and are always candidates.
//!
//! Not here: which values an event has, and what their hashes are (`query::filter`).

mod index;
mod list;
mod merge;

pub use index::ValueIndex;
pub use list::EventList;
pub use merge::{IndexEdits, write};

/// The version of layout, hashes and omissions.
pub const VALUES_VERSION: u32 = 2;
