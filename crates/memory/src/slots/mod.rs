//! Slots: what a fact says, as subject, attribute and value, so that a rule can decide between two facts.
//!
//! "User lives in Porto" fills the slot (user, home) with one value; "User likes jazz" adds jazz to (user, like), which
//! has many. `parse` reads the slots of a fact's text; `table` says which verbs fill which.

mod keys;
pub(crate) mod parse;
pub(crate) mod slot;
mod table;
pub(crate) mod values;

pub use keys::slot_keys;
