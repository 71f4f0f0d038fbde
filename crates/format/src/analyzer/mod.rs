//! The analyzer: from a text to its terms.
//!
//! Terms are what the index of a base is of, so that the analyzer is part of the format: what terms a text gives
//! changes only together with [`ANALYZER_VERSION`], which every stored index names.
//! Not here: the indexes (`base::terms`, `delta::DeltaTerms`), and how well a text answers a question (`amem-query`).

mod analysis;
mod counts;
mod english;
mod numbers;
mod words;

pub use analysis::{Analyzer, Scratch};
pub use counts::TermCounts;
pub(crate) use numbers::Numbers;
pub use words::TERM_BYTES_MAX;

/// Names what terms a text gives; an index made under another version is not used.
pub const ANALYZER_VERSION: u32 = 1;
