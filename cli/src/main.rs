//! The command line of amemd.
fn main() {}
