//! Text: the terms of a question, how well the texts of a view answer it (BM25), and the query.
//!
//! The indexes are of the format: `amem_format::base::terms` and `amem_format::delta::DeltaTerms`.

mod search;

mod list;
mod score;
mod terms;

pub(crate) use search::parse;
pub use search::{Hits, Text};

pub use score::{QUERY_TERMS_MAX, Scores, Texts};
pub use terms::TextQuery;

#[cfg(test)]
mod tests;
