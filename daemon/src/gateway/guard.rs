//! Guards: what happens around a call, as a service of tower.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::Body;
use hyper::{Request, Response};
use tower::Service;

/// An answer that is on its way. It has no type of its own, so that each guard is compiled once.
pub(crate) type AnswerFuture = Pin<Box<dyn Future<Output = Response<Body>> + Send>>;

/// What a guard stands around.
pub(crate) type InnerCall = Box<dyn FnOnce(Request<Body>) -> AnswerFuture + Send>;

/// What happens around a call.
pub(crate) trait Guard: fmt::Debug + Send + Sync {
    /// Answers a request, by `inner` if that may.
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture;
}

/// What answers a request that has passed the guards.
pub(crate) type CallFunction = Arc<dyn Fn(Request<Body>) -> AnswerFuture + Send + Sync>;

/// Calls behind guards.
#[derive(Clone)]
pub(crate) struct GuardedCalls {
    /// From the outside in.
    guards: Arc<[Arc<dyn Guard>]>,
    call: CallFunction,
}

impl GuardedCalls {
    pub(crate) fn new(guards: impl Into<Arc<[Arc<dyn Guard>]>>, call: CallFunction) -> Self {
        let guards = guards.into();
        Self { guards, call }
    }

    /// Answers a request that has passed the first `passed` guards.
    fn answer(self, passed: usize, request: Request<Body>) -> AnswerFuture {
        let Some(guard) = self.guards.get(passed).cloned() else {
            return (self.call)(request);
        };
        let inner = move |request| self.answer(passed + 1, request);
        guard.answer(request, Box::new(inner))
    }
}

impl Service<Request<Body>> for GuardedCalls {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let answer = self.clone().answer(0, request);
        Box::pin(async move { Ok(answer.await) })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A service behind one guard.
    pub(crate) fn guarded<S>(guard: impl Guard + 'static, service: S) -> GuardedCalls
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send,
    {
        let call: CallFunction = Arc::new(move |request| {
            let mut service = service.clone();
            Box::pin(async move {
                let answer = service.call(request).await;
                answer.unwrap_or_else(|never| match never {})
            })
        });
        let guards: [Arc<dyn Guard>; 1] = [Arc::new(guard)];
        GuardedCalls::new(guards, call)
    }
}
