//! The command line of amemd.

#![forbid(unsafe_code)]
fn main() {}
