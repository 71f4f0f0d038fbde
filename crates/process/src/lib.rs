//! Process setup of amemd and amemctl: no core dumps, write errors instead of SIGXFSZ, and mutexes that ignore
//! poisoning.

#![forbid(unsafe_code)]

mod dumps;
mod file_sizes;
mod mutex;

pub use dumps::disable_core_dumps;
pub use file_sizes::fail_writes_beyond_limit;
pub use mutex::locked;
