//! The layer that answers INTERNAL for a call that panics, before its answer or within it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes};
use tower::{Layer, Service};
use tracing::Span;

use super::response_future::ResponseFuture;
use super::status::trailers;
use crate::refusal::Refusal;
use amem_engine::tasks::{TaskPanic, caught};

/// Wraps every service.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PanicLayer;

impl<S> Layer<S> for PanicLayer {
    type Service = PanicService<S>;

    fn layer(&self, inner: S) -> PanicService<S> {
        PanicService { inner }
    }
}

/// A service whose panics become answers.
#[derive(Debug, Clone)]
pub(crate) struct PanicService<S> {
    inner: S,
}

impl<S> Service<Request<Body>> for PanicService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let path = request.uri().path().to_owned();
        let answer = caught(self.inner.call(request));
        Box::pin(async move {
            match answer.await {
                Ok(answer) => Ok(answer?.map(|body| PanicBody::wrap(body, path))),
                Err(TaskPanic) => Ok(stopped(&path).into_http()),
            }
        })
    }
}

/// Logs the panic of a call, and gives its answer.
fn stopped(path: &str) -> Status {
    tracing::error!(path, "a defect stopped a call");
    let why = "a defect stopped this call; see the log of amemd";
    Refusal::internal(why).into()
}

/// The body of an answer, which may panic after a part of it was sent.
struct PanicBody {
    /// `None` once it has panicked.
    inner: Option<Body>,
    path: String,
    /// Of the call.
    span: Span,
}

impl PanicBody {
    fn wrap(inner: Body, path: String) -> Body {
        // An answer of headers only is complete.
        if inner.is_end_stream() {
            return inner;
        }
        let (inner, span) = (Some(inner), Span::current());
        Body::new(Self { inner, path, span })
    }
}

impl HttpBody for PanicBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        catch_unwind(AssertUnwindSafe(|| Pin::new(inner).poll_frame(cx))).unwrap_or_else(|_| {
            let stopped = self.span.in_scope(|| stopped(&self.path));
            // Dropping the body may panic as well.
            let inner = self.inner.take();
            drop(catch_unwind(AssertUnwindSafe(|| drop(inner))));
            Poll::Ready(Some(trailers(stopped)))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.inner.as_ref();
        inner.map_or(SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::future::poll_fn;

    #[tokio::test]
    async fn a_panic_is_answered_and_the_next_call_is_served() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            assert_ne!(request.uri().path(), "/bad", "a defect");
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        let mut service = PanicLayer.layer(service);
        let mut call = |path: &str| {
            let request = Request::builder().uri(path).body(Body::empty()).unwrap();
            service.call(request)
        };
        let (bad, good) = (call("/bad"), call("/good"));
        let status = Status::from_header_map(bad.await.unwrap().headers()).unwrap();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(Status::from_header_map(good.await.unwrap().headers()).is_none());
    }

    /// One part, and then a defect.
    struct Defective(Option<Bytes>);

    impl HttpBody for Defective {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            let part = self.0.take();
            assert!(part.is_some(), "a defect");
            Poll::Ready(part.map(|part| Ok(Frame::data(part))))
        }
    }

    impl Drop for Defective {
        fn drop(&mut self) {
            assert!(self.0.is_some(), "another");
        }
    }

    #[tokio::test]
    async fn an_answer_that_panics_after_a_part_of_it_ends_with_a_status() {
        let service = tower::service_fn(|_: Request<Body>| async {
            let body = Body::new(Defective(Some(Bytes::from_static(b"part"))));
            Ok::<_, Infallible>(Response::new(body))
        });
        let mut service = PanicLayer.layer(service);
        let mut body = service.call(Request::new(Body::empty())).await.unwrap();
        let mut next = async || poll_fn(|cx| Pin::new(body.body_mut()).poll_frame(cx)).await;
        let part = next().await.unwrap().unwrap().into_data();
        assert_eq!(part.unwrap(), b"part"[..]);
        let trailers = next().await.unwrap().unwrap().into_trailers().unwrap();
        let status = Status::from_header_map(&trailers).unwrap();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(next().await.is_none());
    }
}
