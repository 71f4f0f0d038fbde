//! What crosses crates: a disk that forgets what was not synced.
//!
//! Not here: the scenarios, which know what a store must keep.

pub mod disk;
