//! Fact memory: conversations in, facts out, with decisions, scopes and history, and no model needed.
//!
//! ```
//! use amem_format::Micros;
//! use amem_memory::{FactKind, facts_in_turn, slot_keys};
//! use amem_query::time_phrase::Clock;
//!
//! let said = "I live in Porto. What is the weather like?";
//! let facts = facts_in_turn(said, None, &[], &Clock::utc(Micros(0)), 0);
//! assert_eq!(facts.len(), 1);
//! assert_eq!(facts[0].text, "User lives in Porto");
//! assert_eq!(facts[0].kind, FactKind::Fact);
//!
//! // A later fact with the same key may end this one.
//! assert_eq!(slot_keys(&facts[0].text), slot_keys("User lives in Lisbon"));
//! ```
//!
//! `add` turns messages into facts and decides what each does to the memories that are there: a new memory, a new
//! version, an end, or nothing. Patterns find facts and a table of slots decides; a model may find more, and decides
//! only what rules leave open. `change` updates and deletes. A caller implements the ports: `FactStore`, `Embedder`,
//! `Ids`, `Model`.
//!
//! The ports are synchronous: an add is one function from a request to one commit, and its caller runs it on a thread
//! that may wait. No lock is held meanwhile: the store refuses a commit whose decisions are from an older version of
//! the scope, and the add decides again.
//!
//! Promises: a fact says only what its turns say; a duplicate never ends a memory, a contradiction never loses the new
//! fact; every fact is accounted for in the answer; bad input is a typed error; no text causes a panic.
//! Not here: where memories are stored, providers of models, files, the network, clocks and randomness.

#![forbid(unsafe_code)]

pub mod limits;

mod error;
mod fact;
pub mod graph;
mod hash;
mod kind;
mod language;
mod pending;
mod scope;
mod score;
mod validity;

mod text;

mod conversation;

mod secrets;

mod instructions;
mod patterns;
mod reading;
mod slots;

mod relations;

mod check;
mod decide;
pub mod filter;
mod replies;

pub mod model;
pub mod store;

pub mod add;
pub mod change;

pub use add::{AddAnswer, AddPorts, AddRequest, add};
pub use conversation::{
    CONTEXT_MARKERS, ContentPart, Message, Role, SkippedPart, Turn, TurnUse, messages_from_json,
    time_from_json,
};
pub use error::{Error, Result};
pub use fact::ExtractedFact;
pub use filter::FactFilter;
pub use hash::{bytes_hash, text_hash};
pub use kind::{FactKind, FactSource};
pub use language::TurnLanguage;
pub use patterns::facts_in_turn;
pub use pending::{PendingReason, PendingWork, retry_pause};
pub use replies::read_values;
pub use scope::{FactScope, SCOPE_FIELDS};
pub use score::Calibration;
pub use slots::slot_keys;
pub use validity::{DatePrecision, Validity};
