//! What is counted while the daemon works, for whoever looks at it.
//!
//! Promises: counting takes no lock that a writer or a call could wait for, and allocates nothing; what is counted
//! changes no answer. Not here: telling it (`services::status`, `metrics`); how long calls take (`latency`).

#[path = "../../../crates/engine/src/metrics/histogram.rs"]
mod buckets;

#[path = "../../../crates/engine/src/metrics/brain.rs"]
mod brain;
mod daemon;
#[path = "../../../crates/engine/src/metrics/subscribers.rs"]
mod followers;
mod process;

pub(crate) use brain::{BrainFigures, micros};
pub(crate) use buckets::{Buckets, Counted, TIME_BOUNDS};
pub(crate) use daemon::{Figures, Phase};
pub(crate) use followers::{Follower, Followers};
pub(crate) use process::Process;
