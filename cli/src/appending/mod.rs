//! Imports texts into a brain: checked in full, then written batch by batch.
//!
//! Promises: nothing is written before every line is valid; a batch is written only when those before are durable; a
//! repeated run writes nothing twice.
//!
//! Not here: what texts say (`entries`), arguments and output (`command::import_text`).

mod append;
mod begun;
mod contents;
mod existing;

pub(crate) use append::{TextImport, TextImportOutput, exists};
