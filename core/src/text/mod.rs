//! Words of a text, the index over them, and how well a text answers a query.

pub mod analyzer;
pub mod delta;
mod english;

pub use analyzer::{ANALYZER_VERSION, Analyzer, Scratch, TERM_BYTES_MAX, TermCounts};
pub use delta::DeltaTerms;
