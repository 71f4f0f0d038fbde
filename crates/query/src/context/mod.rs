//! Context: the best of what a brain knows about a question, as a text within a budget of tokens.
//!
//! Search hits are replaced by their newest heads. Heads are packed by score, each that still fits. If room remains,
//! events that explain the packed ones (`Why`) follow; their score is that of the explained event over one plus their
//! distance. The text gives each event's id, type, date and confidence, ready for a model.
//!
//! Promises: the text never has more tokens than the budget, by the given counter; every byte counts, headings
//! included; the answer is a function of the view, the request and the counter.

mod block;
mod counter;
mod request;

pub use counter::{Thirds, TokenCounter};
pub use request::{ContextRequest, PackedContext, PackedEvent};
