//! Decisions: what a new fact does to the memories that are there.

mod grounds;
mod pair;
mod phrases;
mod reading;
mod rule;
mod slot_relation;
mod value_type;
mod words;

pub(crate) use reading::FactReading;
pub(crate) use rule::{Decision, decide};
pub use slot_relation::{SlotRelation, slot_relation};

#[cfg(test)]
mod pairs_test;
