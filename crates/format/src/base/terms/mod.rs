//! The term index of the base: the events of each term, with frequencies, read in place.
//!
//! A sorted dictionary, postings in packed blocks of 128, the number of terms in each text, and running sums of those
//! lengths: statistics of the first k events (an `as_of` view) cost one search and one block. FORMAT.md, "terms", has
//! the layout.
//!
//! Not here: texts after the base (`delta::postings`), scores (`amem_query::bm25`).

mod block;
mod cursor;
mod index;
mod merge;
mod new_terms;
mod packer;
mod postings;
mod quarter;

pub use block::{BLOCK_POSTINGS, DecodedBlock, PostingBlock};
pub use cursor::{END, PostingCursor};
pub use index::Terms;
pub use merge::IndexMerge;
pub use postings::Postings;
pub use quarter::LengthQuarter;

/// The greatest length and frequency; greater ones saturate.
pub const COUNT_MAX: u32 = u16::MAX as u32;

/// The damaged part, in errors.
const WHAT: &str = "term index";

#[cfg(test)]
mod tests;
