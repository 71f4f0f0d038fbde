//! Conversations: files of turns, and how they get into a brain.

mod batches;
mod run;
mod transfer;
mod turns;

pub(crate) use run::Run;
pub(crate) use transfer::{Import, ImportError, Imported};
