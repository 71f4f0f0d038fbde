//! Words of a text, the index over them, and how well a text answers a question.
//!
//! The index of the base is `crate::base::terms`.

pub mod analyzer;
pub mod counts;
pub mod delta;
mod english;
mod list;
mod numbers;
pub mod query;
pub mod score;
mod top;
mod words;

pub use analyzer::{ANALYZER_VERSION, Analyzer, Scratch, TERM_BYTES_MAX};
pub use counts::TermCounts;
pub use delta::DeltaTerms;
pub(crate) use numbers::Numbers;
pub use query::TextQuery;
pub use score::{QUERY_TERMS_MAX, Scores, Texts};
pub(crate) use top::{Scored, Top};

#[cfg(test)]
mod tests;
