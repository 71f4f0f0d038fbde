//! Checks of an extracted fact, whatever found it.

mod grounding;
mod instructions;
mod verdict;

pub(crate) use grounding::Grounds;
pub(crate) use instructions::is_instruction;
pub(crate) use verdict::{CheckFailure, check};
