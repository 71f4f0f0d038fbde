//! The metrics of the daemon itself.
//!
//! Promises: counting takes no lock. Not here: publishing (`calls::status`, `http::pages`), latencies
//! (`ingress::latency`), the metrics of brains (`amem_engine`).

mod daemon_metrics;
mod process;

pub(crate) use daemon_metrics::{DaemonMetrics, Phase, STALLS};
pub(crate) use process::Process;
