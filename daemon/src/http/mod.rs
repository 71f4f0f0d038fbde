//! Figures for Prometheus, and whether the daemon lives and is ready, by HTTP.
//!
//! Promises: nothing that is in a brain is told, nor any secret; whoever calls, and however slowly, holds up nobody but
//! who looks at metrics. Not here: counting (`figures`, `latency`, `jobs`).

mod server;

mod brain_metrics;
mod gathered;
mod pages;
mod prometheus;

pub(crate) use server::Metrics;
