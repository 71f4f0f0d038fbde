//! The journal as read into memory: append-only, each entry stamped with its LSN.

pub mod append;
