//! Context: the best of what a brain knows about a question, as a text within a budget of tokens.
//!
//! A heading, and for each event a line: `- [12] 2026-03-01: text`. Behind the day stands what a reader needs to judge
//! the text, `(contested, by ann)` for instance: competing statements with their author, superseded ones, decisions,
//! inferences and skills, a confidence below one half, what it explains, and why it replaced another event. Search hits
//! are replaced by their newest heads; events that explain the packed ones (`Why`) join them, with the score of the
//! explained event over one plus their distance. Of a text of more than 900 bytes the sentences that match the
//! question are shown, with `…` for what is left out.
//!
//! Promises: the text never has more tokens than the budget (`count_tokens`); every byte counts, headings included; a
//! greater budget shows every event and every part of it that a smaller one does; the answer is a function of the view
//! and the request.

mod block;
mod counter;
mod excerpt;
mod packer;
mod passage;
mod request;
mod run;

pub use crate::sentences::sentence_ranges;
pub use counter::count_tokens;
pub use passage::{Passage, Passages};
pub use request::{ContextRequest, PackedContext, PackedEvent};
