//! Turns of a conversation, and the facts of them.

mod fact;
mod message;
mod normalise;

pub use fact::ExtractedFact;
pub use message::{ContentPart, Message, Role, messages_from_json, time_from_json};
pub use normalise::{CONTEXT_MARKERS, SkippedPart, Turn, TurnUse};

pub(crate) use normalise::{TurnList, TurnRules, turns_of};
