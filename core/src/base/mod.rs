//! The immutable part of a brain.
