//! REST behind the guards of the gateway, as the router of its listener.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use hyper::{Request, Response};
use tokio::sync::{mpsc, watch};
use tower::{Layer, Service};

use super::background::BackgroundWork;
use super::call::{Description, RestSite};
use super::head_guard::HeadGuard;
use super::openapi;
use super::routes;
use super::serve::respond;
use crate::calls::Gateway;
use crate::gateway::{GuardLayer, GuardStack};
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
    let head = GuardLayer(HeadGuard(gateway.control.clone()));
    let admitted = guards.admitted(RestService(site));
    routes::router(&guards.around(head.layer(admitted)))
}

/// Serves requests that were admitted.
#[derive(Debug, Clone)]
struct RestService(Arc<RestSite>);

impl Service<Request<Body>> for RestService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = respond(self.0.clone(), request);
        Box::pin(async move { Ok(answer.await) })
    }
}
