//! BM25: the terms of a question, and how well the texts of a view answer it.
//!
//! The indexes belong to the format: `amem_format::base::terms` and `amem_format::delta::DeltaTerms`.
//! Not here: the query (`TextSearch`).

mod expand;
mod languages;
mod list;
mod requests;
mod score;
mod terms;
mod typos;

pub use languages::is_foreign;
pub use requests::{QUESTION_MARKS, is_request, only_asks, only_assents, only_questions};
pub(crate) use score::{ContainedTerms, FoundTerms};
pub use score::{QUERY_TERMS_MAX, Scores, Texts};
pub use terms::{QueryTerm, TextQuery};

#[cfg(test)]
mod tests;
