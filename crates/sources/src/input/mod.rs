//! The bytes of a source: a folder, a file or a ZIP; as text, as lines, as elements of JSON, as rows.

mod database;
mod elements;
mod encoding;
mod lines;
mod regular_file;
mod tree;
mod zip;

pub(crate) use database::open_database;
pub(crate) use elements::JsonElements;
pub(crate) use encoding::{decode, decode_head};
pub(crate) use lines::{JsonLine, JsonLines, LineReader, TextLine};
pub(crate) use tree::{FileTree, TreeFile};
