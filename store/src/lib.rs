//! The single writer of a brain.
