//! The memory daemon.

#![forbid(unsafe_code)]
fn main() {}
