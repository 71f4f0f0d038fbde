//! How long calls take, by RPC: one HDR histogram each.
//!
//! A call's latency is from the arrival of its head to the end of its answer, or, if that streams, to the first
//! message: the length of a stream says nothing of the daemon. It is under way until its answer has ended. A call whose
//! caller goes before that has failed, unless its answer has no end and has begun: going is how such a call ends well.
//!
//! Promises: the number of histograms is that of the RPCs that exist, whatever paths are called.
//! Not here: telling them (`services::admin`).

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;

use hdrhistogram::Histogram;
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic_types::StatusExt;
use tower::{Layer, Service};

use crate::limits::REASONS_MAX;
use crate::methods::Method;

/// Microseconds of the longest latency that is told apart.
const LONGEST_MICROS: u64 = 3_600_000_000;

/// Decimal digits to which latencies are told apart.
const DIGITS: u8 = 3;

/// The latencies of every RPC.
#[derive(Debug, Clone)]
pub(crate) struct Latencies(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    rpcs: BTreeMap<String, Mutex<Rpc>>,
    /// Calls that were refused or failed, by reason: only they take this lock.
    refused: Mutex<BTreeMap<String, u64>>,
}

/// What is known of one RPC.
#[derive(Debug, Clone)]
pub(crate) struct Rpc {
    /// Calls under way.
    pub(crate) in_flight: u64,
    /// Calls that were refused or failed.
    pub(crate) errors: u64,
    /// Microseconds.
    pub(crate) micros: Histogram<u64>,
    streams: bool,
    is_endless: bool,
}

impl Latencies {
    /// For these RPCs.
    pub(crate) fn new(methods: impl IntoIterator<Item = Method>) -> Self {
        let rpcs = methods.into_iter().filter_map(|method| {
            let rpc = Rpc {
                in_flight: 0,
                errors: 0,
                // It grows with the latencies it is told: one that begins with room for the longest takes 190 KB,
                // for each of the RPCs that nobody calls.
                micros: Histogram::new(DIGITS).ok()?,
                streams: method.streams,
                is_endless: method.is_endless,
            };
            Some((method.path, Mutex::new(rpc)))
        });
        Self(Arc::new(Inner {
            rpcs: rpcs.collect(),
            refused: Mutex::default(),
        }))
    }

    /// The RPCs after a path that were called, by path; at most so many, and whether there are more.
    pub(crate) fn page(&self, after: &str, size: usize) -> (Vec<(String, Rpc)>, bool) {
        let from = (
            std::ops::Bound::Excluded(after),
            std::ops::Bound::<&str>::Unbounded,
        );
        let mut called = self.0.rpcs.range::<str, _>(from).filter_map(|(path, rpc)| {
            let rpc = rpc.lock().unwrap_or_else(PoisonError::into_inner);
            (!rpc.micros.is_empty() || rpc.in_flight > 0).then(|| (path.clone(), rpc.clone()))
        });
        let page = called.by_ref().take(size).collect();
        (page, called.next().is_some())
    }

    /// Calls that were refused or failed, by reason.
    pub(crate) fn refused(&self) -> BTreeMap<String, u64> {
        let refused = self.0.refused.lock();
        refused.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn refuse(&self, reason: &str) {
        let refused = self.0.refused.lock();
        let mut refused = refused.unwrap_or_else(PoisonError::into_inner);
        let is_room = refused.len() < REASONS_MAX || refused.contains_key(reason);
        let reason = if is_room { reason } else { "OTHER" };
        *refused.entry(reason.to_owned()).or_default() += 1;
    }

    /// True if there is an RPC with this path.
    pub(crate) fn knows(&self, path: &str) -> bool {
        self.0.rpcs.contains_key(path)
    }

    fn change(&self, path: &str, change: impl FnOnce(&mut Rpc)) {
        if let Some(rpc) = self.0.rpcs.get(path) {
            change(&mut rpc.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl<S> Layer<S> for Latencies {
    type Service = Timed<S>;

    fn layer(&self, inner: S) -> Timed<S> {
        Timed {
            inner,
            latencies: self.clone(),
        }
    }
}

/// A service whose calls are timed.
#[derive(Debug, Clone)]
pub(crate) struct Timed<S> {
    inner: S,
    latencies: Latencies,
}

type Answer<E> = Pin<Box<dyn Future<Output = Result<Response<Body>, E>> + Send>>;

impl<S> Service<Request<Body>> for Timed<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Answer<S::Error>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut call = Call::begin(&self.latencies, request.uri().path());
        let answer = self.inner.call(request);
        Box::pin(async move {
            let (head, body) = answer.await?.into_parts();
            if let Some(reason) = why_failed(&head.headers) {
                // A head alone: its body is not looked at.
                call.end(Some(&reason));
            }
            call.answered = true;
            let body = Measured { inner: body, call };
            Ok(Response::from_parts(head, Body::new(body)))
        })
    }
}

/// The reason of a call that was left by its caller.
const GONE: &str = "GONE";

/// The reason of a status that is not OK, if a head or trailers name one.
fn why_failed(headers: &HeaderMap) -> Option<String> {
    let status = Status::from_header_map(headers)?;
    (status.code() != tonic::Code::Ok).then(|| reason(&status))
}

/// What a failure is counted as.
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

/// A call under way. Dropped without an end, it counts as failed, as the caller has gone; unless that is its end.
struct Call {
    latencies: Latencies,
    path: String,
    streams: bool,
    /// Its answer has no end.
    is_endless: bool,
    /// Its answer has begun.
    answered: bool,
    began: Instant,
    timed: bool,
    ended: bool,
}

impl Call {
    fn begin(latencies: &Latencies, path: &str) -> Self {
        let (mut streams, mut is_endless) = (false, false);
        latencies.change(path, |rpc| {
            rpc.in_flight += 1;
            (streams, is_endless) = (rpc.streams, rpc.is_endless);
        });
        Self {
            latencies: latencies.clone(),
            path: path.to_owned(),
            streams,
            is_endless,
            answered: false,
            began: Instant::now(),
            timed: false,
            ended: false,
        }
    }

    /// It has its latency, once.
    fn time(&mut self) {
        if std::mem::replace(&mut self.timed, true) {
            return;
        }
        let micros = u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.latencies.change(&self.path, |rpc| {
            // It can't fail: there is room to be had for the longest.
            rpc.micros.record(micros.clamp(1, LONGEST_MICROS)).ok();
        });
    }

    /// It has ended, well or for a reason.
    fn end(&mut self, failed: Option<&str>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.time();
        self.latencies.change(&self.path, |rpc| {
            rpc.in_flight -= 1;
            rpc.errors += u64::from(failed.is_some());
        });
        if let Some(reason) = failed {
            self.latencies.refuse(reason);
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        let is_enough = self.is_endless && self.answered;
        self.end((!is_enough).then_some(GONE));
    }
}

/// The body of an answer, watched for its end.
struct Measured {
    inner: Body,
    call: Call,
}

impl HttpBody for Measured {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.get_mut();
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
        match &frame {
            None => this.call.end(None),
            Some(Err(status)) => this.call.end(Some(&reason(status))),
            Some(Ok(frame)) => match frame.trailers_ref() {
                Some(trailers) => this.call.end(why_failed(trailers).as_deref()),
                None if this.call.streams => this.call.time(),
                None => {}
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
    use std::convert::Infallible;

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
        latencies.layer(service).call(request).await.unwrap()
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
        drop(Call::begin(&latencies, "/a/Endless"));
        let (page, _) = latencies.page("", 1);
        assert_eq!(told(&page[0].1), (3, 2, 0));
        assert_eq!(latencies.refused()[GONE], 1);
    }

    #[test]
    fn failures_are_counted_by_reason_and_of_reasons_there_is_an_end() {
        let latencies = latencies();
        let refusal = crate::refusal::Refusal::new(tonic::Code::Aborted, "CONDITION", "no");
        assert_eq!(reason(&refusal.into()), "CONDITION");
        assert_eq!(
            code_name(tonic::Code::DeadlineExceeded),
            "DEADLINE_EXCEEDED"
        );
        for at in 0..REASONS_MAX + 5 {
            latencies.refuse(&format!("R{at}"));
        }
        latencies.refuse("R0");
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
        assert_eq!(refused, [(GONE, 1), ("NOT_FOUND", 2)]);
        assert!(latencies.page("", 1).1);
        assert_eq!(latencies.page("/a/One", 10).0.len(), 1);
    }
}
