//! Decisions: what a new fact does to the memories that are there.

pub(crate) mod pair;
pub(crate) mod rule;

#[cfg(test)]
mod pairs_test;
