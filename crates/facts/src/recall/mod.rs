//! Recall: one answer of what was formed, what was said and what was written.
//!
//! Memories, turns and other events of the scopes are found by one search. A memory and the turn that it is from are
//! one entry, shown by the text that says more of what the question asks. Of a long turn the passage that answers is
//! shown. A turn whose memory ended is shown to questions about the past only; a turn never shows what was forgotten.
//!
//! Not here: how events are ranked (`amem_query::search`), and how many lines a client has room for.

mod candidate;
mod forgotten;
mod instructions;
mod lookup;
mod order;
mod past;
mod request;
mod run;
mod said;
mod sentence;
mod unformed;
mod wording;

pub use forgotten::TurnEnd;
pub(crate) use forgotten::{forget_turn, turn_end, turn_ends};
pub(crate) use lookup::spoken;
pub use lookup::{SpokenMemory, SpokenName};
pub use request::{Recall, RecallAnswer, RecalledEntry, RecalledSource};
pub(crate) use said::memory_from;
pub use sentence::SaidSentence;
pub(crate) use sentence::said_sentence;
pub(crate) use unformed::unformed;
