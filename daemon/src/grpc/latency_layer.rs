//! The layer that measures calls (`ingress::latency`).

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, ready};

use amem_engine::polls::{named, named_poll};
use amem_locks::LockResultExt;
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic_types::StatusExt;
use tower::{Layer, Service};

use super::response_future::ResponseFuture;
use crate::ingress::latency::{CallTimer, Latencies};

/// Wraps every service.
#[derive(Debug, Clone)]
pub(crate) struct LatencyLayer(pub(crate) Latencies);

impl<S> Layer<S> for LatencyLayer {
    type Service = LatencyService<S>;

    fn layer(&self, inner: S) -> LatencyService<S> {
        let latencies = self.0.clone();
        LatencyService { inner, latencies }
    }
}

/// The timer of a call, also for the layer that gives up answers: a body that is not read is not polled.
#[derive(Debug, Clone)]
pub(super) struct SharedCallTimer(Arc<Mutex<CallTimer>>);

impl SharedCallTimer {
    pub(super) fn begin(latencies: &Latencies, path: &str) -> Self {
        Self(Arc::new(Mutex::new(CallTimer::begin(latencies, path))))
    }

    fn timer(&self) -> MutexGuard<'_, CallTimer> {
        self.0.lock().unpoisoned()
    }

    /// Counts the end, once.
    pub(super) fn end(&self, failed: Option<&str>) {
        self.timer().end(failed);
    }

    /// The latency of a stream ends with its first message.
    fn record_message(&self) {
        let mut timer = self.timer();
        if timer.streams {
            timer.record();
        }
    }
}

/// A service whose calls are measured.
#[derive(Debug, Clone)]
pub(crate) struct LatencyService<S> {
    inner: S,
    latencies: Latencies,
}

impl<S> Service<Request<Body>> for LatencyService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let path: Arc<str> = request.uri().path().into();
        let call = SharedCallTimer::begin(&self.latencies, &path);
        request.extensions_mut().insert(call.clone());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let (head, body) = named(path.clone(), answer).await?.into_parts();
            if let Some(reason) = why_failed(&head.headers) {
                // An answer of headers only: its body is not polled.
                call.end(Some(&reason));
            }
            call.timer().answered = true;
            let body = LatencyBody {
                inner: body,
                call,
                path,
            };
            Ok(Response::from_parts(head, Body::new(body)))
        })
    }
}

/// The reason of the status in headers or trailers, unless it is OK.
fn why_failed(headers: &HeaderMap) -> Option<String> {
    let status = Status::from_header_map(headers)?;
    (status.code() != tonic::Code::Ok).then(|| reason(&status))
}

/// The reason by which a failure is counted.
fn reason(status: &Status) -> String {
    match status.get_details_error_info() {
        Some(info) if !info.reason.is_empty() => info.reason,
        _ => code_name(status.code()),
    }
}

/// The name of a code as gRPC writes it, such as `NOT_FOUND`.
fn code_name(code: tonic::Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// The body of an answer, watched for its end.
struct LatencyBody {
    inner: Body,
    call: SharedCallTimer,
    path: Arc<str>,
}

impl HttpBody for LatencyBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let inner = Pin::new(&mut this.inner);
        let frame = ready!(named_poll(&this.path, || inner.poll_frame(cx)));
        match &frame {
            None => this.call.end(None),
            Some(Err(status)) => this.call.end(Some(&reason(status))),
            Some(Ok(frame)) => match frame.trailers_ref() {
                Some(trailers) => this.call.end(why_failed(trailers).as_deref()),
                None => this.call.record_message(),
            },
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

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
        LatencyLayer(latencies.clone())
            .layer(service)
            .call(request)
            .await
            .unwrap()
    }

    /// An answer that does not come.
    struct Endless;

    impl HttpBody for Endless {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
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
        let refusal =
            crate::refusal::Refusal::new(amem_proto::answer::Code::Aborted, "CONDITION", "no");
        assert_eq!(reason(&refusal.into()), "CONDITION");
        assert_eq!(
            code_name(tonic::Code::DeadlineExceeded),
            "DEADLINE_EXCEEDED"
        );
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
