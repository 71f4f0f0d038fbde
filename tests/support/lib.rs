//! What crosses crates: a disk that forgets what was not synced, and the proof that a store survives it.
//!
//! Not here: the scenarios, which know what a store must keep.

pub mod crash;
pub mod disk;
