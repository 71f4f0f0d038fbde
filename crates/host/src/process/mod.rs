//! The process and its surroundings: no core dumps, write errors instead of SIGXFSZ;
//! users of the machine, whom a file may belong to, reading files that others named, and the environment of children.

pub mod child;
mod dumps;
mod file_sizes;
pub mod files;
pub mod trust;
pub mod users;

pub use dumps::disable_core_dumps;
pub use file_sizes::fail_writes_beyond_limit;
