//! The immutable part of a brain.

pub mod terms;
