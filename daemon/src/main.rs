//! The memory daemon.
fn main() {}
