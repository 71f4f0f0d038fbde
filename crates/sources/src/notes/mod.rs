//! Notes in Markdown: front matter, blocks, tags and links.

mod blocks;
mod front_matter;
mod inline;
mod note_index;
mod plain;
mod reader;

pub(crate) use inline::is_link_only;
pub use plain::{PlainBlock, PlainNote};
pub(crate) use reader::{is_property, observed, read_notes, read_text, split_note};
