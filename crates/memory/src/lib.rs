//! Fact memory: conversations in, facts out, with decisions, scopes and history, and no model needed.
//!
//! `messages_from_json` reads what callers send; `facts_in_turn` finds facts by patterns. Everything here is a function
//! of its arguments: a time comes with the request, ids come from a port.
//!
//! Promises: a fact says only what its turns say; a duplicate never deletes a memory, a contradiction never loses the
//! new fact; bad input is a typed error; no text makes it panic.
//! Not here: where facts are stored, providers of models, the network, the clock.

#![forbid(unsafe_code)]

pub mod limits;

mod error;
mod hash;
mod kind;
mod pending;
mod scope;
mod score;
mod validity;

mod text;
mod turns;

mod check;
mod patterns;
mod slots;

mod decide;
pub mod filter;
mod replies;

pub mod model;
pub mod store;

pub mod add;

pub use add::{AddAnswer, AddPorts, AddRequest, add};
pub use check::TurnLanguage;
pub use error::{Error, Result};
pub use filter::FactFilter;
pub use hash::text_hash;
pub use kind::{FactKind, FactSource};
pub use model::Model;
pub use patterns::facts_in_turn;
pub use pending::{PendingReason, PendingWork, retry_pause};
pub use replies::read_values;
pub use scope::{FactScope, SCOPE_FIELDS};
pub use score::Calibration;
pub use slots::slot_keys;
pub use store::{Embedder, FactStore, Ids};
pub use turns::{
    CONTEXT_MARKERS, ContentPart, ExtractedFact, Message, Role, SkippedPart, Turn, TurnUse,
    messages_from_json, time_from_json,
};
pub use validity::{DatePrecision, Validity};
