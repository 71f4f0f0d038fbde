//! Limits of fact memory: each has a name, a default, and an error that names it.

/// Messages of one add.
pub const MESSAGES_MAX: usize = 1_000;
/// Bytes of the text of one message.
pub const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Bytes of the texts of all messages of one add.
///
/// An answer repeats the texts that are stored as they are, and has room for no more than twice as much.
pub const MESSAGES_BYTES_MAX: usize = 2 << 20;
/// Characters of one extracted fact; a longer one is rejected.
pub const FACT_CHARS_MAX: usize = 500;
/// Facts of one add.
pub const FACTS_MAX: usize = 500;
/// Bytes of a text that is stored as it is (`infer` off, update).
pub const MEMORY_BYTES_MAX: usize = 64 << 10;
/// Bytes of a scope's field.
pub const SCOPE_BYTES_MAX: usize = 256;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 256;
/// Bytes of a custom prompt.
pub const PROMPT_BYTES_MAX: usize = 32 << 10;
/// Bytes of the metadata of an add, as JSON.
pub const METADATA_BYTES_MAX: usize = 32 << 10;
/// Entities that one fact names; more are not read from it.
pub const FACT_ENTITIES_MAX: usize = 12;
/// Bytes of a name of an entity, and of a relation.
pub const ENTITY_NAME_BYTES_MAX: usize = 256;
/// Bytes of the description of an entity.
pub const ENTITY_DESCRIPTION_BYTES_MAX: usize = 4 << 10;
/// Names of one entity that a call adds or removes.
pub const ENTITY_ALIASES_MAX: usize = 32;
/// Candidates for one fact.
pub const CANDIDATES_MAX: usize = 10;
/// Nearest memories among the candidates for one fact.
pub const NEAREST_MAX: usize = 5;
/// Objects and lists inside each other in a filter.
pub const FACT_FILTER_DEPTH_MAX: usize = 16;
/// Conditions and connectives of a filter.
pub const FACT_FILTER_NODES_MAX: usize = 256;
/// Values of all lists of a filter.
pub const FACT_FILTER_VALUES_MAX: usize = 10_000;
/// Objects and lists inside each other in an answer of a model.
pub const REPLY_DEPTH_MAX: usize = 32;
/// Bytes of an answer of a model that are read.
pub const REPLY_BYTES_MAX: usize = 1 << 20;
/// Times that a store may find its scope changed during one add before the add gives up.
pub const COMMIT_TRIES_MAX: usize = 5;
/// Tries of pending work before patterns take over.
pub const PENDING_TRIES_MAX: u32 = 12;
/// Changes of one batch.
pub const BATCH_CHANGES_MAX: usize = 1_000;
/// Memories that a new one follows from.
pub const BECAUSE_MAX: usize = 100;
/// Bytes of the reason of a change.
pub const REASON_BYTES_MAX: usize = 4 << 10;
/// Memories that one commit of a deletion by scope ends.
pub const DELETED_AT_ONCE_MAX: usize = 10_000;
