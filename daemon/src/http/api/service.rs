//! REST behind the guards of the gateway, as the router of its listener.

use std::sync::Arc;

use axum::Router;
use tokio::sync::{mpsc, watch};

use super::background::BackgroundWork;
use super::call::{Description, RestSite};
use super::head_guard::HeadGuard;
use super::openapi;
use super::routes;
use super::serve::respond;
use crate::calls::Gateway;
use crate::gateway::{CallFunction, GuardStack};
use crate::http::pages::PageSources;
use crate::ingress::latency::Latencies;

/// The router of all routes. Work in the background ends once `stopping` is true, and holds `alive`.
pub(crate) fn router(
    gateway: &Arc<Gateway>,
    latencies: &Latencies,
    guards: &GuardStack,
    (stopping, alive): (watch::Receiver<bool>, mpsc::WeakSender<()>),
) -> Router {
    let site = Arc::new(RestSite {
        gateway: gateway.clone(),
        sources: PageSources {
            brains: gateway.brains.clone(),
            latencies: latencies.clone(),
        },
        description: Description {
            document: || openapi::document().1,
            page: openapi::page,
        },
        background: BackgroundWork { stopping, alive },
        metrics: Default::default(),
        events: Default::default(),
        exports: Default::default(),
    });
    let head = HeadGuard(gateway.control.clone());
    let call: CallFunction = Arc::new(move |request| Box::pin(respond(site.clone(), request)));
    routes::router(&guards.around(Some(Arc::new(head)), call))
}
