//! What is counted of the daemon itself.
//!
//! Promises: counting takes no lock that a call could wait for; it changes no answer. Not here: publishing it
//! (`services::status`, `metrics`); how long calls take (`latency`); the metrics of brains (`amem_engine`).

mod daemon_metrics;
mod process;

pub(crate) use daemon_metrics::{DaemonMetrics, Phase};
pub(crate) use process::Process;
