//! How much is under way: calls, and bytes of their requests. What is too much is refused before it is read.
//!
//! Promises: what was taken comes back, however a call ends. A request's bytes are held until its answer has been sent;
//! a stream holds those of the message that is on its way, as the queues count those that have come.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Sleep, sleep};
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, header};
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic::{Code, Status};

use super::messages::{HEAD_BYTES, Messages};
use crate::access::{Caller, Needs, Pace};
use crate::config::Limits;
use crate::limits::{BATCH_BYTES_MAX, DECODED_ONE_IN, DECODED_TIMES_MAX, REQUEST_AFTER};
use crate::refusal::{Refusal, Result};
use crate::shares::{Full, Share, Shares};

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Load {
    calls: Shares,
    bytes: Shares,
}

/// A call that is under way.
#[derive(Debug)]
pub(super) struct Call(#[expect(dead_code, reason = "it is held")] Share);

/// The bytes that a request holds.
#[derive(Debug)]
pub(super) struct Held(Share);

fn busy(what: &str, why: &Full, name: &str) -> Refusal {
    let message = format!("the daemon is busy ({what}, {why}: limits.{name}): wait and call again");
    Refusal::new(Code::ResourceExhausted, "LOAD", message)
}

fn busy_with_bytes(why: &Full) -> Refusal {
    let what = "too many bytes of requests are under way";
    busy(what, why, "request_bytes_in_flight")
}

impl Load {
    /// Calls that are under way.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> u64 {
        self.calls.all()
    }

    /// As `enter`, for who may administer every brain.
    #[cfg(test)]
    pub(super) fn enter_as_admin(
        &self,
        headers: &HeaderMap,
        limits: &Limits,
    ) -> Result<(Call, Arc<Held>)> {
        let mut rights = crate::access::Rights::default();
        rights.add(None, crate::access::Role::Admin);
        let admin = Caller::new("uid:1".into(), rights);
        let needs = crate::access::needs("/amem.v1.MemoryService/Ingest").unwrap();
        self.enter(headers, &admin, needs, limits)
    }

    /// Takes a call in, with the bytes that its headers announce.
    pub(super) fn enter(
        &self,
        headers: &HeaderMap,
        caller: &Caller,
        needs: Needs,
        limits: &Limits,
    ) -> Result<(Call, Arc<Held>)> {
        let call = self.calls.take(caller, 1, limits.requests_in_flight);
        let call =
            call.map_err(|why| busy("too many calls are under way", &why, "requests_in_flight"))?;
        // More than one message is refused when it comes; of a stream the messages count, one by one. Even a call that
        // announces nothing sends something.
        let announced = match needs.pace {
            Pace::Stream => 1,
            _ => announced(headers).clamp(1, (needs.message_bytes_max + HEAD_BYTES) as u64),
        };
        let held = self
            .bytes
            .take(caller, announced, limits.request_bytes_in_flight)
            .map_err(|why| busy_with_bytes(&why))?;
        Ok((Call(call), Arc::new(Held(held))))
    }
}

/// The bytes that the headers announce.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

impl Held {
    /// Holds so many bytes from now on, but no more than a message can count for.
    fn hold(&self, bytes: u64) -> Result<()> {
        let most = BATCH_BYTES_MAX as u64 * DECODED_TIMES_MAX / DECODED_ONE_IN;
        let wanted = bytes.min(most);
        self.0.change(wanted).map_err(|why| busy_with_bytes(&why))
    }
}

fn too_slow() -> Refusal {
    let message = format!(
        "nothing of the request came for {} s: send it again",
        REQUEST_AFTER.as_secs()
    );
    Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message)
}

/// A body whose bytes are held as they come.
pub(super) struct Metered {
    inner: Body,
    held: Arc<Held>,
    seen: u64,
    /// How long its next part is waited for; `None` for a stream, of which the messages count one by one.
    next_after: Option<Duration>,
    messages: Messages,
    /// Until when that must come.
    next: Option<Pin<Box<Sleep>>>,
    refused: bool,
}

impl Metered {
    pub(super) fn wrap(inner: Body, held: Arc<Held>, is_stream: bool, messages: Messages) -> Body {
        let next_after = (!is_stream).then_some(REQUEST_AFTER);
        Body::new(Self::new(inner, held, messages, next_after))
    }

    /// One whose next part is waited for so long: a stream if that is for ever.
    fn new(inner: Body, held: Arc<Held>, messages: Messages, next_after: Option<Duration>) -> Self {
        Self {
            inner,
            held,
            seen: 0,
            next_after,
            messages,
            next: None,
            refused: false,
        }
    }

    /// Ready once nothing has come for too long; wakes whoever reads at that moment.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(after) = self.next_after else {
            return Poll::Pending;
        };
        let next = self.next.get_or_insert_with(|| Box::pin(sleep(after)));
        next.as_mut().poll(cx)
    }

    /// The bytes to hold once these have come.
    fn see(&mut self, data: &[u8]) -> Result<u64> {
        let here = self.messages.take(data)?;
        self.seen = self.seen.saturating_add(data.len() as u64);
        let bytes = match self.next_after {
            // What has come whole is counted by the queues.
            None if here == 0 => return Ok(0),
            None => here,
            Some(_) => self.seen,
        };
        Ok(bytes.max(self.messages.decoded() / DECODED_ONE_IN))
    }
}

impl HttpBody for Metered {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if this.refused {
            return Poll::Ready(None);
        }
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) else {
            ready!(this.poll_late(cx));
            this.refused = true;
            return Poll::Ready(Some(Err(too_slow().into())));
        };
        this.next = None;
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let seen = this.see(data);
            if let Err(refusal) = seen.and_then(|bytes| this.held.hold(bytes)) {
                this.refused = true;
                return Poll::Ready(Some(Err(refusal.into())));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.refused || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::MESSAGE_BYTES_MAX;
    use std::future::poll_fn;
    use tokio::time::{Instant, timeout};

    fn limits(calls: u64, bytes: u64) -> Limits {
        Limits {
            requests_in_flight: calls,
            request_bytes_in_flight: bytes,
            ..Limits::default()
        }
    }

    fn announce(bytes: u64) -> HeaderMap {
        [(header::CONTENT_LENGTH, bytes.into())]
            .into_iter()
            .collect()
    }

    #[test]
    fn calls_and_announced_bytes_are_refused_above_their_limits_and_come_back() {
        let load = Load::default();
        let none = HeaderMap::new();
        let first = load.enter_as_admin(&none, &limits(2, 100)).unwrap();
        let _second = load.enter_as_admin(&announce(60), &limits(2, 100)).unwrap();
        let refusal = load.enter_as_admin(&none, &limits(2, 100)).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "LOAD")
        );
        assert!(refusal.message.contains("limits.requests_in_flight"));
        let refusal = load
            .enter_as_admin(&announce(40), &limits(9, 100))
            .unwrap_err();
        assert!(refusal.message.contains("limits.request_bytes_in_flight"));
        // What was refused left nothing behind.
        let third = load.enter_as_admin(&announce(39), &limits(3, 100)).unwrap();
        drop((first, third));
        assert_eq!((load.calls.all(), load.bytes.all()), (1, 60));
    }

    #[tokio::test]
    async fn bytes_that_nobody_announced_are_held_until_the_call_and_its_body_end() {
        let load = Load::default();
        let (call, held) = load
            .enter_as_admin(&HeaderMap::new(), &limits(9, 100))
            .unwrap();
        let mut body = Metered::wrap(
            Body::new(body_of(vec![b'x'; 80])),
            held.clone(),
            false,
            Messages::of("/", 1 << 40),
        );
        let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        assert!(next.unwrap().is_ok());
        assert_eq!(load.bytes.all(), 80);

        let (_call, other) = load
            .enter_as_admin(&HeaderMap::new(), &limits(9, 100))
            .unwrap();
        let mut refused = Metered::wrap(
            Body::new(body_of(vec![b'x'; 80])),
            other.clone(),
            false,
            Messages::of("/", 1 << 40),
        );
        let next = poll_fn(|cx| Pin::new(&mut refused).poll_frame(cx)).await;
        let status = next.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        drop((body, call, held));
        assert_eq!(load.bytes.all(), 1);
    }

    #[test]
    fn announcements_are_believed_up_to_a_message_of_the_call() {
        let load = Load::default();
        let (_call, held) = load
            .enter_as_admin(&announce(1 << 40), &Limits::default())
            .unwrap();
        assert_eq!(load.bytes.all(), MESSAGE_BYTES_MAX as u64 + 5);
        held.hold(7).unwrap();
        assert_eq!(load.bytes.all(), 7);
    }

    #[tokio::test]
    async fn a_request_that_does_not_come_is_given_up_and_one_that_comes_slowly_is_not() {
        let load = Load::default();
        let begun = Instant::now();
        let wrap = |body, after| {
            let entered = load.enter_as_admin(&HeaderMap::new(), &limits(9, 100));
            let (_call, held) = entered.unwrap();
            Metered::new(Body::new(body), held, Messages::of("/", 1 << 40), after)
        };
        let after = 3 * Slow::STEP;
        let mut slow = wrap(Slow::new(5), Some(after));
        for _ in 0..5 {
            let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
            assert!(next.unwrap().is_ok());
        }
        let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
        let status = next.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::DeadlineExceeded);
        assert!(begun.elapsed() >= 5 * Slow::STEP + after);
        let end = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
        assert!(end.is_none());
        let mut stream = wrap(Slow::new(0), None);
        let next = poll_fn(|cx| Pin::new(&mut stream).poll_frame(cx));
        assert!(timeout(2 * after, next).await.is_err());
    }

    /// A body that gives a byte from time to time, so often, and then nothing.
    struct Slow {
        left: u32,
        next: Pin<Box<Sleep>>,
    }

    impl Slow {
        const STEP: Duration = Duration::from_millis(100);

        fn new(left: u32) -> Self {
            let next = Box::pin(sleep(Self::STEP));
            Self { left, next }
        }
    }

    impl HttpBody for Slow {
        type Data = Bytes;
        type Error = Status;
        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
            if self.left == 0 {
                return Poll::Pending;
            }
            ready!(self.next.as_mut().poll(cx));
            self.left -= 1;
            self.next = Box::pin(sleep(Self::STEP));
            Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(b"x")))))
        }
    }

    #[tokio::test]
    async fn a_complete_batch_holds_no_memory_and_an_incomplete_one_its_size() {
        use amem_proto::v1;
        use prost::Message;
        const STREAM: &str = "/amem.v1.MemoryService/IngestStream";
        let events = vec![v1::NewEvent::default(); 10_000];
        let batch = v1::IngestRequest {
            events,
            ..Default::default()
        };
        let bytes = v1::IngestStreamRequest { batch: Some(batch) }.encode_to_vec();
        let head = [&[0][..], &(bytes.len() as u32).to_be_bytes()].concat();
        let whole = [head, bytes].concat();
        let load = Load::default();
        let limits = limits(9, 1 << 30);
        for (sent, holds) in [(whole.len() - 1, true), (whole.len(), false)] {
            let entered = load.enter_as_admin(&HeaderMap::new(), &limits);
            let (_call, held) = entered.unwrap();
            let messages = Messages::of(STREAM, BATCH_BYTES_MAX);
            let stream = Body::new(body_of(whole[..sent].to_vec()));
            let mut stream = Metered::new(stream, held, messages, None);
            let next = poll_fn(|cx| Pin::new(&mut stream).poll_frame(cx)).await;
            assert!(next.unwrap().is_ok());
            let least = (10_000 * size_of::<v1::NewEvent>()) as u64 / DECODED_ONE_IN;
            assert_eq!(load.bytes.all() > least, holds, "{sent} of {}", whole.len());
        }
    }

    /// A body of these bytes.
    fn body_of(bytes: Vec<u8>) -> impl HttpBody<Data = Bytes, Error = Status> + Send + 'static {
        struct Text(Option<Bytes>);
        impl HttpBody for Text {
            type Data = Bytes;
            type Error = Status;
            fn poll_frame(
                mut self: Pin<&mut Self>,
                _cx: &mut Context<'_>,
            ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
                Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
            }
        }
        Text(Some(bytes.into()))
    }
}
