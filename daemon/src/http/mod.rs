//! HTTP: fact memory as REST for identified callers (`api`), and pages for metrics and health on a listener without
//! authentication.
//!
//! Of the pages, every request passes `ingress::admission`, as calls of gRPC do. They are open: their peers have no
//! role, and a request that needs one is refused here.
//! Promises: no page shows content of a brain, or a secret; a slow client delays only other clients of the
//! pages.
//! Not here: the metrics themselves (`metrics`, `ingress::latency`, `jobs`).

mod server;
mod status;

mod pages;

mod brain_metrics;
mod page_cache;
mod prometheus;

mod api;

pub(crate) use api::{Rest, description, router};
pub(crate) use server::MetricsServer;
