//! What crosses crates: a disk that forgets what was not synced, the proof that a store survives it, and
//! helpers of the tests in `tests/`.
//!
//! Not here: the scenarios, which know what a store must keep.

#![forbid(unsafe_code)]

pub mod crash;
pub mod disk;
pub mod graphs;
pub mod model;
pub mod random;
pub mod shared;
