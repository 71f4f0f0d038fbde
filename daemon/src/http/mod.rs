//! HTTP/1: pages for metrics and health, on a listener that identifies nobody.
//!
//! Every request passes `ingress::admission`, as calls of gRPC do. The pages are open: their peers have no role, and no
//! request that needs one is admitted here.
//! Promises: no page has anything that is in a brain, nor a secret; a slow client delays only other clients of the
//! pages.
//! Not here: what is counted (`metrics`, `ingress::latency`, `jobs`).

mod server;
mod status;

mod pages;

mod brain_metrics;
mod page_cache;
mod prometheus;

pub(crate) use server::MetricsServer;
