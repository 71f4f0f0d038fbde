//! The guard that answers a call that panics with INTERNAL, before its answer or within it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use amem_engine::tasks::{TaskPanic, caught};
use axum::body::{Body, HttpBody};
use hyper::{Request, Response};
use tracing::Span;

use super::encoding::{CallProgress, Encoding, EndFunction};
use super::guard::{AnswerFuture, Guard, InnerCall};
use super::watched_body::WatchedBody;
use crate::refusal::Refusal;

/// The guard.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PanicGuard(pub(crate) &'static dyn Encoding);

impl Guard for PanicGuard {
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture {
        let Self(encoding) = *self;
        let (mut head, body) = request.into_parts();
        let progress = CallProgress::of(encoding, &mut head);
        let request = Request::from_parts(head, body);
        Box::pin(async move {
            match caught(async move { inner(request).await }).await {
                Ok(answer) => {
                    let (head, body) = answer.into_parts();
                    let end = encoding.end_of(&head);
                    Response::from_parts(head, wrap(body, progress.name, end))
                }
                Err(TaskPanic) => encoding.refused(stopped(&progress.name), &progress),
            }
        })
    }
}

/// Logs the panic of a call, and gives its answer.
fn stopped(name: &str) -> Refusal {
    tracing::error!(name, "a defect stopped a call");
    Refusal::internal("a defect stopped this call; see the log of amemd")
}

/// The body of an answer, which may panic after a part of it was sent.
fn wrap(body: Body, name: Arc<str>, end: EndFunction) -> Body {
    let span = Span::current();
    WatchedBody::wrap(body, move |inner, cx| {
        let next = catch_unwind(AssertUnwindSafe(|| Pin::new(&mut *inner).poll_frame(cx)));
        next.unwrap_or_else(|_| {
            let stopped = span.in_scope(|| stopped(&name));
            // Dropping the body may panic as well.
            let inner = std::mem::take(inner);
            drop(catch_unwind(AssertUnwindSafe(|| drop(inner))));
            Poll::Ready(Some(end(stopped)))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use std::future::poll_fn;
    use std::task::Context;

    use axum::Error;
    use axum::body::Bytes;
    use http_body::Frame;
    use tonic::Status;
    use tower::Service;

    use crate::gateway::encoding::FrameResult;
    use crate::gateway::encoding::tests::ENCODINGS;
    use crate::gateway::guarded;

    #[tokio::test]
    async fn a_panic_is_answered_and_the_next_call_is_served() {
        let service = tower::service_fn(|request: Request<Body>| async move {
            assert_ne!(request.uri().path(), "/bad", "a defect");
            Ok::<_, Infallible>(Response::new(Body::empty()))
        });
        for encoding in ENCODINGS {
            let mut service = guarded(PanicGuard(encoding), service);
            let mut call = |path: &str| {
                let request = Request::builder().uri(path).body(Body::empty()).unwrap();
                service.call(request)
            };
            let (bad, good) = (call("/bad").await.unwrap(), call("/good").await.unwrap());
            let failure =
                |answer: &Response<_>| encoding.failure(answer.headers(), answer.extensions());
            assert_eq!(failure(&bad).as_deref(), Some("INTERNAL"), "{encoding:?}");
            assert_eq!(failure(&good), None, "{encoding:?}");
        }
    }

    /// One part, and then a defect.
    struct Defective(Option<Bytes>);

    impl HttpBody for Defective {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<FrameResult>> {
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
        let mut service = guarded(PanicGuard(ENCODINGS[0]), service);
        let mut body = service.call(Request::new(Body::empty())).await.unwrap();
        let mut next = async || poll_fn(|cx| Pin::new(body.body_mut()).poll_frame(cx)).await;
        let part = next().await.unwrap().unwrap().into_data();
        assert_eq!(part.unwrap(), b"part"[..]);
        let trailers = next().await.unwrap().unwrap().into_trailers().unwrap();
        let status = Status::from_header_map(&trailers).unwrap();
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(next().await.is_none());
    }
    #[tokio::test]
    async fn an_answer_by_http_that_panics_after_a_part_of_it_is_cut_off() {
        for (content_type, ends_with_event) in
            [("application/json", false), ("text/event-stream", true)]
        {
            let service = tower::service_fn(move |_: Request<Body>| async move {
                let body = Body::new(Defective(Some(Bytes::from_static(b"part"))));
                let answer = Response::builder().header("content-type", content_type);
                Ok::<_, Infallible>(answer.body(body).unwrap())
            });
            let mut service = guarded(PanicGuard(ENCODINGS[1]), service);
            let answer = service.call(Request::new(Body::empty())).await.unwrap();
            let mut body = answer.into_body();
            let mut next = async || poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
            assert!(next().await.unwrap().is_ok());
            match next().await.unwrap() {
                Ok(event) => {
                    assert!(ends_with_event);
                    let event = event.into_data().unwrap();
                    let text = std::str::from_utf8(&event).unwrap();
                    assert!(text.starts_with("event: failure\n"), "{text}");
                    assert!(text.contains("INTERNAL"), "{text}");
                }
                Err(why) => assert!(!ends_with_event && why.to_string().contains("defect")),
            }
            assert!(next().await.is_none());
        }
    }
}
