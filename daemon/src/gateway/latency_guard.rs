//! The guard that measures calls (`ingress::latency`).

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, ready};

use amem_engine::polls::{named, named_poll};
use amem_locks::LockResultExt;
use axum::body::{Body, HttpBody};
use hyper::http::Extensions;
use hyper::{Method, Request};

use super::encoding::{CallProgress, Encoding, FrameResult, PartKind};
use super::guard::{AnswerFuture, Guard, InnerCall};
use super::watched_body::WatchedBody;
use crate::ingress::latency::{CallTimer, Latencies};

/// The guard.
#[derive(Debug, Clone)]
pub(crate) struct LatencyGuard {
    pub(crate) latencies: Latencies,
    pub(crate) encoding: &'static dyn Encoding,
}

/// The timer of a call, as one of its extensions: what gives up answers needs it, since a body that is not read is not
/// polled.
#[derive(Debug, Clone)]
pub(crate) struct SharedCallTimer(Arc<Mutex<CallTimer>>);

impl SharedCallTimer {
    pub(super) fn begin(latencies: &Latencies, path: &str) -> Self {
        Self(Arc::new(Mutex::new(CallTimer::begin(latencies, path))))
    }

    fn timer(&self) -> MutexGuard<'_, CallTimer> {
        self.0.lock().unpoisoned()
    }

    /// Counts the end, once.
    pub(crate) fn end(&self, failed: Option<&str>) {
        self.timer().end(failed);
    }

    /// Looks at a part of the answer; `None` is its end.
    fn watch(&self, frame: Option<&FrameResult>, encoding: &dyn Encoding) {
        let frame = match frame {
            None => return self.end(None),
            Some(Err(error)) => return self.end(Some(&encoding.failure_of(error))),
            Some(Ok(frame)) => frame,
        };
        if let Some(trailers) = frame.trailers_ref() {
            let failure = encoding.failure(trailers, &Extensions::new());
            return self.end(failure.as_deref());
        }
        match frame.data_ref().map(|data| encoding.part_kind(data)) {
            // The latency of a stream ends with its first message.
            Some(PartKind::Message) if self.timer().streams => self.timer().record(),
            Some(PartKind::Failure(reason)) => self.end(Some(&reason)),
            _ => {}
        }
    }
}

impl Guard for LatencyGuard {
    fn answer(&self, request: Request<Body>, inner: InnerCall) -> AnswerFuture {
        let encoding = self.encoding;
        let (mut head, body) = request.into_parts();
        let CallProgress { name, .. } = CallProgress::of(encoding, &mut head);
        let measured = encoding.measured(&head);
        let call = measured.map(|path| SharedCallTimer::begin(&self.latencies, path));
        if let Some(call) = &call {
            head.extensions.insert(call.clone());
        }
        let is_head = head.method == Method::HEAD;
        let answer = named(name.clone(), inner(Request::from_parts(head, body)));
        Box::pin(async move {
            let answer = answer.await;
            let Some(call) = call else {
                return answer;
            };
            let failure = encoding.failure(answer.headers(), answer.extensions());
            if failure.is_some() || is_head || answer.body().is_end_stream() {
                // The body is not polled, or says nothing more.
                call.end(failure.as_deref());
            }
            call.timer().answered = true;
            answer.map(|body| {
                WatchedBody::wrap(body, move |inner, cx| {
                    let frame = ready!(named_poll(&name, || Pin::new(&mut *inner).poll_frame(cx)));
                    call.watch(frame.as_ref(), encoding);
                    if inner.is_end_stream() {
                        // It is not polled again.
                        call.end(None);
                    }
                    Poll::Ready(frame)
                })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;
    use std::task::Context;

    use axum::Error;
    use axum::body::Bytes;
    use hyper::Response;
    use tonic::Status;
    use tower::Service;

    use crate::gateway::encoding::tests::ENCODINGS;
    use crate::gateway::guarded;
    use crate::ingress::latency::Rpc;
    use crate::ingress::methods::Method;
    use crate::limits::REASONS_MAX;

    fn latencies() -> Latencies {
        let method = |path: &str, streams, is_endless| Method {
            path: path.into(),
            streams,
            is_endless,
        };
        Latencies::new([
            method("/a/Endless", true, true),
            method("/a/One", false, false),
            method("/a/Two", true, false),
        ])
    }

    async fn call(
        latencies: &Latencies,
        path: &str,
        answer: fn() -> Response<Body>,
    ) -> Response<Body> {
        let service =
            tower::service_fn(move |_: Request<Body>| async move { Ok::<_, Infallible>(answer()) });
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let guard = LatencyGuard {
            latencies: latencies.clone(),
            encoding: ENCODINGS[0],
        };
        let mut service = guarded(guard, service);
        service.call(request).await.unwrap()
    }

    /// An answer that does not come.
    struct Endless;

    impl HttpBody for Endless {
        type Data = Bytes;
        type Error = Error;

        fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<FrameResult>> {
            Poll::Pending
        }
    }

    #[tokio::test]
    async fn who_has_enough_of_an_answer_without_an_end_has_not_failed() {
        let latencies = latencies();
        let endless = || Response::new(Body::new(Endless));
        drop(call(&latencies, "/a/Endless", endless).await);
        let (page, _) = latencies.page("", 1);
        let told = |rpc: &Rpc| (rpc.micros.len(), rpc.errors, rpc.in_flight);
        assert_eq!(told(&page[0].1), (1, 0, 0));
        assert_eq!(latencies.refused(), BTreeMap::new());
        // Nor has it ended well if it was refused, or if there was no answer yet.
        let refused = || Status::not_found("no").into_http();
        drop(call(&latencies, "/a/Endless", refused).await);
        drop(CallTimer::begin(&latencies, "/a/Endless"));
        let (page, _) = latencies.page("", 1);
        assert_eq!(told(&page[0].1), (3, 2, 0));
        assert_eq!(latencies.refused()["GONE"], 1);
    }

    #[test]
    fn failures_are_counted_by_reason_and_of_reasons_there_is_an_end() {
        let latencies = latencies();
        for at in 0..REASONS_MAX + 5 {
            latencies.count_refusal(&format!("R{at}"));
        }
        latencies.count_refusal("R0");
        let refused = latencies.refused();
        assert_eq!(refused.len(), REASONS_MAX + 1);
        assert_eq!((refused["R0"], refused["OTHER"]), (2, 5));
    }

    #[tokio::test]
    async fn calls_are_counted_when_their_answers_end_and_unknown_paths_are_not() {
        let latencies = latencies();
        let refused = || Status::not_found("no").into_http();
        drop(call(&latencies, "/a/One", refused).await);
        drop(call(&latencies, "/a/Else", refused).await);
        let held = call(&latencies, "/a/Two", || Response::new(Body::new(Endless))).await;
        let (page, more) = latencies.page("", 10);
        let told: Vec<_> = page
            .iter()
            .map(|(path, rpc)| (path.as_str(), rpc.micros.len(), rpc.errors, rpc.in_flight))
            .collect();
        assert_eq!(told, [("/a/One", 1, 1, 0), ("/a/Two", 0, 0, 1)]);
        assert!(!more);
        drop(held);
        let (page, _) = latencies.page("/a/One", 10);
        assert_eq!(
            (page[0].1.errors, page[0].1.in_flight),
            (1, 0),
            "its caller has gone"
        );
        let refused = latencies.refused();
        let refused: Vec<_> = refused.iter().map(|(why, n)| (why.as_str(), *n)).collect();
        assert_eq!(refused, [("GONE", 1), ("NOT_FOUND", 2)]);
        assert!(latencies.page("", 1).1);
        assert_eq!(latencies.page("/a/One", 10).0.len(), 1);
    }
}
