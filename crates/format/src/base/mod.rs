//! The immutable part of a brain: header, tables, content, vectors, sections.
//!
//! One file per part; each part is read from the mapping in place, nothing is built when a file is opened. What
//! queries learn of the records while they read them is kept beside (`learnt`, `replaced`).
//! Layouts are tabled in docs/FORMAT.md.

pub mod actors;
pub mod adjacency;
pub mod attributes;
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
pub mod requests;
pub mod schedule;
pub mod section;
pub mod sessions;
pub mod settings;
pub(crate) mod source_table;
pub mod strengths;
pub mod summary_cache;
pub mod terms;
pub mod values;
pub mod vectors;

pub use file::Base;
