//! Checks of an extracted fact, whatever found it.

mod grounding;
mod instructions;
mod order_words;
mod orders;
mod verdict;

pub(crate) use grounding::Grounds;
pub(crate) use instructions::is_instruction;
pub use orders::gives_orders;
pub(crate) use orders::overrides;
pub(crate) use verdict::{CheckFailure, check};
