//! Section 0x52, attribute values: which events have a value under a path of their attributes.
//!
//! | at | type | field |
//! |---|---|---|
//! | 0 | u32 | version; another than the reader's: the index counts as absent |
//! | 4 | u32 | events that no list tells of o |
//! | 8 | u64 | lists v |
//! | 16 | u64 × v | what each list is of: a hash of path and value, ascending |
//! | | u64 × (v + 1) | where each list begins in the lists |
//! | | u32 × o | events that no list tells of, ascending |
//! | | | lists |
//!
//! An index only proposes: two values may have one hash, so whoever finds an event here still asks its attributes.
//! Events of the last kind have too many values (`limits::INDEXED_VALUES_MAX`), and are always proposed.
//!
//! Not here: which values an event has, and what their hashes are (`query::filter`).

mod index;
mod list;
mod merge;

pub use index::ValueIndex;
pub use list::EventList;
pub use merge::{IndexEdits, write};

/// Of the layout, of the hashes, and of what is left out.
pub const VALUES_VERSION: u32 = 1;
