//! The term index of the base: which events say a term, and how often; used in place.
//!
//! A sorted dictionary, postings in packed blocks of 128, the length of every event's text in terms,
//! and running sums of those lengths, so that the statistics of the first k events (an `as_of` view)
//! cost a search and a block. The layout is in FORMAT.md, "terms".
//!
//! Not here: what came since (`text::delta`), scores (`text::score`).

mod block;
mod cursor;
mod index;
mod merge;
mod new_terms;
mod packer;
mod postings;

pub use block::{BLOCK_POSTINGS, DecodedBlock, PostingBlock};
pub use cursor::{END, PostingCursor};
pub use index::Terms;
pub use merge::IndexMerge;
pub use postings::Postings;

/// The greatest length and frequency that are told apart; greater ones count as this.
pub const COUNT_MAX: u32 = u16::MAX as u32;

/// What is damaged, in errors.
const WHAT: &str = "term index";

#[cfg(test)]
mod tests;
