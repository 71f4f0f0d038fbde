//! Facts by patterns: no model.
//!
//! A trigger (`families`) marks a clause; the whole clause is the fact, with the person rewritten (`person`). Guards
//! (`guards`) refuse questions, conditions, hedges, quoted speech and sentences about the reader; what has nothing but
//! pronouns left is no fact.

pub(crate) mod clauses;
pub(crate) mod content;
mod detection;
pub(crate) mod extract;
pub(crate) mod families;
mod forgetting;
pub(crate) mod guards;
pub(crate) mod languages;
pub(crate) mod person;
pub(crate) mod reasons;
#[cfg(test)]
mod reasons_test;
mod turn;

pub(crate) use content::has_content_words;
pub(crate) use detection::language_of;
pub use extract::is_standing;
pub(crate) use forgetting::{ForgetRequest, forget_requests};
pub(crate) use person::DEFAULT_SPEAKER;
pub(crate) use turn::facts_in_foreign_turn;
pub use turn::facts_in_turn;
