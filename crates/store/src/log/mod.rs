//! The log of a brain: its frames, the room for them, checkpoints, recovery.
//!
//! `store` has the state; every other module adds what can be done with it, each on top of those before it.

pub(crate) mod checkpoint;
pub(crate) mod commit;
mod content_check;
mod due;
pub(crate) mod erase;
mod file_mark;
pub(crate) mod frames;
pub(crate) mod install;
pub(crate) mod missing_file;
pub(crate) mod path_check;
pub(crate) mod read_only;
pub(crate) mod recovery;
pub(crate) mod reembedding;
pub(crate) mod requests;
pub(crate) mod space;
pub(crate) mod store;
pub(crate) mod vector_rows;
