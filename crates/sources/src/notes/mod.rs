//! Notes in Markdown: front matter, blocks, tags and links.

mod blocks;
mod front_matter;
mod inline;
mod note_index;
mod reader;

pub(crate) use inline::is_link_only;
pub(crate) use reader::{read_notes, read_text, split_note};
