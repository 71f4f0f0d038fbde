//! Decisions: what a new fact does to the memories that are there.

mod pair;
mod rule;

pub(crate) use pair::FactReading;
pub(crate) use rule::{Decision, decide};

#[cfg(test)]
mod pairs_test;
