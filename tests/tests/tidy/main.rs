//! Code about code: rules that a review would otherwise repeat.
//!
//! `sources` holds rules of every Rust file, `arrows` the layers of crates, `house` cycles between modules, sizes of
//! facades and functions, and names; `format` and `records` hold docs/FORMAT.md against the code, `documents` the links
//! and names in the documents, `outside` which files open paths and start programs, `proto` the style of the protos,
//! `agents` the plugins in deploy/agents.
//!
//! Promises: each complaint names the file, the line and what is expected; one run lists all of them.

mod agents;
mod arrows;
mod documents;
mod format;
mod house;
mod outside;
mod proto;
mod records;
mod sources;
mod tree;
