//! The entity graph of a fact: who and what it names, and how they are related.

mod entity;

pub use entity::{EntityKind, EntityMention, EntityRelation, FactGraph, entity_key};
