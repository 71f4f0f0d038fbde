//! The journal as read into memory.

pub mod append;
