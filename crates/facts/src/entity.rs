//! An entity, and the list of them that was counted last.

use std::sync::Arc;

use amem_format::types::{Generation, Lsn, Micros};
use amem_memory::FactScope;
use amem_memory::graph::EntityKind;
use uuid::Uuid;

/// Someone or something that memories name.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    /// What a caller named it, else as memories write it most often.
    pub name: String,
    /// Its other names.
    pub aliases: Vec<String>,
    /// What it is, if a memory or a caller tells.
    pub kind: Option<EntityKind>,
    /// What a caller, or a model, says of it; empty for nothing.
    pub description: String,
    /// Memories that name it.
    pub facts: u64,
    /// When the first of them was said.
    pub first_said: Option<Micros>,
    /// When the newest was.
    pub last_said: Option<Micros>,
}

/// What entities were counted for: a state of a brain, a scope and a time.
pub(crate) type TallyKey = (Uuid, Generation, Lsn, u64, FactScope, Option<Micros>, bool);

/// The entities that were counted last, which the next page is from.
pub(crate) type EntityCache = Option<(TallyKey, Arc<Vec<Entity>>)>;
