//! The entity graph of facts: who and what a fact names, and how they are related.
//!
//! It is read from the text of a fact, so that it is as true as the fact: it holds while the fact does, and goes when
//! the fact goes.

mod entity;
mod names;
mod relation_table;
mod relations;
#[cfg(test)]
mod relations_test;

pub use entity::{EntityKind, EntityMention, EntityRelation, FactGraph, entity_key};
pub use relations::fact_graph;
