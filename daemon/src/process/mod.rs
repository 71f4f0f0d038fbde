//! The process: flags, log, signals, exit codes; and the daemon from its start to its end.

mod start;

mod check;
mod folder;
mod manual;

mod server;
mod supervisor;

mod ending;
mod standstill;

pub use folder::open_folder;
pub use server::run;
pub use start::main;
