//! fold.

pub mod image;
