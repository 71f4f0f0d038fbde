//! The daemon as a process: from its first call to its last.

mod check;
mod server;
mod start;

pub use server::run;
pub use start::main;
