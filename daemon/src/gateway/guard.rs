//! A guard: what happens around a call, as a layer of tower.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use hyper::{Request, Response};
use tower::{Layer, Service};

/// An answer that is on its way. It has no type of its own, so that each guard is compiled once.
pub(crate) type AnswerFuture = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What a guard stands around: `inner` begins its work once it is called.
pub(crate) type InnerCall = Box<dyn FnOnce(Request<Body>) -> AnswerFuture + Send>;

/// What happens around a call.
pub(crate) trait Guard: Clone + Send + 'static {
    /// Answers a request, by `inner` if that may.
    fn answer(self, request: Request<Body>, inner: InnerCall) -> AnswerFuture;
}

/// The layer of a guard.
#[derive(Debug, Clone)]
pub(crate) struct GuardLayer<G>(pub(crate) G);

impl<G: Clone, S> Layer<S> for GuardLayer<G> {
    type Service = GuardedService<G, S>;

    fn layer(&self, inner: S) -> GuardedService<G, S> {
        let guard = self.0.clone();
        GuardedService { guard, inner }
    }
}

/// A service behind a guard.
#[derive(Debug, Clone)]
pub(crate) struct GuardedService<G, S> {
    guard: G,
    inner: S,
}

impl<G, S> Service<Request<Body>> for GuardedService<G, S>
where
    G: Guard,
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
    S: Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        // The service that was ready is the one to call.
        let next = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, next);
        let inner = move |request| -> AnswerFuture {
            let answer = ready.call(request);
            Box::pin(async move { answer.await.unwrap_or_else(|never| match never {}) })
        };
        let answer = self.guard.clone().answer(request, Box::new(inner));
        Box::pin(async move { Ok(answer.await) })
    }
}
