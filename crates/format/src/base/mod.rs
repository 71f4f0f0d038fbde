//! The immutable part of a brain: header, tables, content, vectors, sections.
//!
//! One file a section or table. Readers use each in place in the mapping; opening a file builds nothing. Queries cache
//! what they compute from the records (`summary_cache`, `head_cache`). docs/FORMAT.md has the layouts.

pub mod actors;
pub mod adjacency;
pub mod attributes;
pub mod authors;
pub mod change_stamps;
pub mod checksums;
pub mod chunk;
pub mod clock;
pub mod commits;
pub mod conflicts;
pub mod content;
pub mod edge;
pub mod event_times;
mod file;
pub mod head_cache;
pub mod header;
pub mod history;
pub mod identity;
pub mod image;
pub mod kinds;
pub(crate) mod merge;
pub mod node;
pub mod quantised_vectors;
mod records;
pub mod requests;
pub mod schedule;
pub mod section;
pub mod sessions;
pub mod settings;
pub(crate) mod source_table;
pub mod spans;
pub mod strengths;
pub mod summary_cache;
pub mod terms;
pub mod values;
pub mod vectors;

pub use file::Base;
