//! fold.
