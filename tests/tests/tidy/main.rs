//! Code about code: what a review would otherwise have to say again and again.
//!
//! `sources` holds rules of every Rust file, `arrows` which crate may know which, `format` and `records` the
//! tables and numbers of docs/FORMAT.md against the code, `documents` the links and names in the documents, `proto` the
//! form of the protos, `house` the cycles between modules, the sizes of facades and functions, and the names.
//!
//! Promises: each complaint names the file, the line and what is expected; all of them are listed at once.

mod arrows;
mod documents;
mod format;
mod house;
mod proto;
mod records;
mod sources;
mod tree;
