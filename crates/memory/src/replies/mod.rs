//! Answers of models: read leniently, taken only as far as they are whole.

mod reader;
mod shapes;

pub use reader::read_values;

pub(crate) use shapes::{DecisionOp, ModelDecision, ModelFact, decisions_in, facts_in_reply};

#[cfg(test)]
mod answers_test;
#[cfg(test)]
mod malformed_test;
