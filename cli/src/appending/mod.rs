//! Texts into a brain of a daemon: checked whole, then written in batches, one after the other.
//!
//! Promises: nothing is written before every line has been read and found good; a batch is written only when those
//! before it are durable; what a run has written is not written again by its repetition. Not here: what texts say
//! (`entries`), options and what is printed (`command::append`).

mod append;
mod batch;
mod begun;
mod contents;
mod run;

pub(crate) use append::{TextImport, TextImportOutput, exists};
pub(crate) use run::RunId;
