//! What amemd and amemctl ask of the system for their own process: no core dumps, errors instead of death by SIGXFSZ,
//! and mutexes that outlive a panic.

#![forbid(unsafe_code)]

mod dumps;
mod file_sizes;
mod mutex;

pub use dumps::disable_core_dumps;
pub use file_sizes::fail_writes_beyond_limit;
pub use mutex::locked;
