//! The journal as read into memory.
