//! Texts as events: conversations, notes in Markdown, JSON lines of events and tables that were made of them.
//!
//! Promises: an error names the text, the line and the reason; nothing is dropped without being counted; for JSON
//! lines, memory is bounded by the longest line.
//!
//! Not here: writing them (`appending`).

mod conversation;
mod entry;
mod events;
mod input;
mod notes;
mod table;
mod text;

pub(crate) use entry::{EntryOrigin, EntrySession, TextEntry};
pub(crate) use input::ImportInput;
pub(crate) use table::lines_of_table;
pub(crate) use text::{ImportText, TextFormat};
