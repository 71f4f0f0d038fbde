//! A conversation: messages as callers send them, and the turns that they become.

mod message;
mod normalise;

pub use message::{ContentPart, Message, Role, messages_from_json, time_from_json};
pub use normalise::{CONTEXT_MARKERS, SkippedPart, Turn, TurnUse};

pub(crate) use normalise::{TurnList, TurnRules, turns_of};
