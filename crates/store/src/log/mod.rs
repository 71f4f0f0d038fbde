//! The log of a brain: its frames, the room for them, checkpoints, and recovery.

pub mod checkpoint;
mod frames;
pub(crate) mod path_check;
mod recovery;
mod requests;
pub(crate) mod space;
pub mod store;
