//! Checks of an extracted fact, whatever found it.

mod grounding;
mod instructions;
mod language;
mod verdict;

pub use language::TurnLanguage;

pub(crate) use grounding::Grounds;
pub(crate) use language::language_of;
pub(crate) use verdict::{CheckFailure, check};
