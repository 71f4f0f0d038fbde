//! The analyzer: from a text to its terms.
//!
//! A base stores an index of terms, so that the analyzer is part of the format: the terms of a text change only
//! together with [`ANALYZER_VERSION`], which every stored index names.
//! Not here: the indexes (`base::terms`, `delta::DeltaTerms`) and ranking (`amem-query`).

mod analysis;
mod counts;
mod english;
mod numbers;
mod words;

pub use analysis::{Analyzer, Scratch};
pub use counts::TermCounts;
pub use english::is_stop_word;
pub(crate) use numbers::Numbers;
pub use words::TERM_BYTES_MAX;

/// The version of the rules from text to terms; an index of another version is not used.
pub const ANALYZER_VERSION: u32 = 1;
