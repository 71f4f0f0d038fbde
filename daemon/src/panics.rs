//! A call that panics is answered INTERNAL, and nobody else notices. Work that goes on for the daemon's life is cut
//! into turns, one of which may panic.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tower::{Layer, Service};

use crate::refusal::Refusal;

/// Wraps every service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatchPanics;

impl<S> Layer<S> for CatchPanics {
    type Service = Caught<S>;

    fn layer(&self, inner: S) -> Caught<S> {
        Caught { inner }
    }
}

/// A service whose panics become answers.
#[derive(Debug, Clone)]
pub(crate) struct Caught<S> {
    inner: S,
}

type Answer<E> = Pin<Box<dyn Future<Output = Result<Response<Body>, E>> + Send>>;

impl<S> Service<Request<Body>> for Caught<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let answer = caught(self.inner.call(request));
        Box::pin(async move {
            answer.await.unwrap_or_else(|Panicked| {
                tracing::error!(path, "a defect stopped a call");
                let why = "a defect stopped this call; the daemon's log tells more";
                Ok(Status::from(Refusal::internal(why)).into_http())
            })
        })
    }
}

/// Something panicked: the hook for panics has told it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Goes on with something until it ends or panics. Whoever shares its state has to see to it afterwards.
pub(crate) fn caught<T>(
    work: impl Future<Output = T>,
) -> impl Future<Output = Result<T, Panicked>> {
    let mut work = Box::pin(work);
    poll_fn(
        move |cx| match catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    #[tokio::test]
    async fn a_panic_is_answered_and_the_next_call_is_served() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            assert_ne!(request.uri().path(), "/bad", "a defect");
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let mut service = CatchPanics.layer(service);
        let mut call = |path: &str| {
            let request = Request::builder().uri(path).body(Body::empty()).unwrap();
            service.call(request)
        };
        let (bad, good) = (call("/bad"), call("/good"));
        let status = Status::from_header_map(bad.await.unwrap().headers()).unwrap();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(Status::from_header_map(good.await.unwrap().headers()).is_none());
    }
}
