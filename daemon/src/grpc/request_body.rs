//! The body of a request: its bytes are held as they arrive, and it must not stall.
//!
//! Promises: a message over the limit of its call is refused by its length, before it arrives; a unary request holds
//! its bytes until its answer has been sent, a stream those of the message that is arriving: queues count the others.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use amem_proto::answer::Code;
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, Bytes};

use super::messages::Messages;
use crate::ingress::load::HeldBytes;
use crate::limits::{DECODED_ONE_IN, REQUEST_AFTER};
use crate::refusal::{Refusal, Result};

fn too_slow() -> Refusal {
    let message = format!(
        "no part of the request arrived for {} s: send it again",
        REQUEST_AFTER.as_secs()
    );
    Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message)
}

/// A body whose bytes are held as they arrive.
pub(super) struct RequestBody {
    inner: Body,
    held: Arc<HeldBytes>,
    received: u64,
    /// How long the body may stall; `None` for a stream, whose messages count one by one.
    stall_max: Option<Duration>,
    messages: Messages,
    stalled: Option<Pin<Box<Sleep>>>,
    is_refused: bool,
}

impl RequestBody {
    pub(super) fn wrap(
        inner: Body,
        held: Arc<HeldBytes>,
        is_stream: bool,
        messages: Messages,
    ) -> Body {
        let stall_max = (!is_stream).then_some(REQUEST_AFTER);
        Body::new(Self::new(inner, held, messages, stall_max))
    }

    fn new(
        inner: Body,
        held: Arc<HeldBytes>,
        messages: Messages,
        stall_max: Option<Duration>,
    ) -> Self {
        Self {
            inner,
            held,
            received: 0,
            stall_max,
            messages,
            stalled: None,
            is_refused: false,
        }
    }

    /// Ready once the body has stalled for too long.
    fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(max) = self.stall_max else {
            return Poll::Pending;
        };
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(max)));
        stalled.as_mut().poll(cx)
    }

    /// The bytes to hold now that `data` has arrived.
    fn receive(&mut self, data: &[u8]) -> Result<u64> {
        let partial = self.messages.take(data)?;
        self.received = self.received.saturating_add(data.len() as u64);
        let bytes = match self.stall_max {
            // The queue counts a message of a stream that has arrived whole.
            None if partial == 0 => return Ok(0),
            None => partial,
            Some(_) => self.received,
        };
        Ok(bytes.max(self.messages.decoded() / DECODED_ONE_IN))
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if this.is_refused {
            return Poll::Ready(None);
        }
        let Poll::Ready(frame) = Pin::new(&mut this.inner).poll_frame(cx) else {
            ready!(this.poll_stalled(cx));
            this.is_refused = true;
            return Poll::Ready(Some(Err(too_slow().into())));
        };
        this.stalled = None;
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let bytes = this.receive(data);
            if let Err(refusal) = bytes.and_then(|bytes| this.held.hold(bytes)) {
                this.is_refused = true;
                return Poll::Ready(Some(Err(refusal.into())));
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.is_refused || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::ingress::load::LoadLimits;
    use crate::limits::BATCH_BYTES_MAX;
    use std::future::poll_fn;
    use tokio::time::{Instant, timeout};
    use tonic::codegen::http::HeaderMap;

    fn limits(calls: u64, bytes: u64) -> Limits {
        Limits {
            requests_in_flight: calls,
            request_bytes_in_flight: bytes,
            ..Limits::default()
        }
    }

    #[tokio::test]
    async fn bytes_that_nobody_announced_are_held_until_the_call_and_its_body_end() {
        let load = LoadLimits::default();
        let slot = load
            .acquire_as_admin(&HeaderMap::new(), &limits(9, 100))
            .unwrap();
        let mut body = RequestBody::wrap(
            Body::new(body_of(vec![b'x'; 80])),
            slot.bytes().clone(),
            false,
            Messages::of("/", 1 << 40),
        );
        let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        assert!(next.unwrap().is_ok());
        assert_eq!(load.bytes_held(), 80);

        let other = load
            .acquire_as_admin(&HeaderMap::new(), &limits(9, 100))
            .unwrap();
        let mut refused = RequestBody::wrap(
            Body::new(body_of(vec![b'x'; 80])),
            other.bytes().clone(),
            false,
            Messages::of("/", 1 << 40),
        );
        let next = poll_fn(|cx| Pin::new(&mut refused).poll_frame(cx)).await;
        let status = next.unwrap().unwrap_err();
        assert_eq!(status.code(), tonic::Code::ResourceExhausted);
        drop((body, slot));
        assert_eq!(load.bytes_held(), 1);
    }

    #[tokio::test]
    async fn a_request_that_does_not_come_is_given_up_and_one_that_comes_slowly_is_not() {
        let load = LoadLimits::default();
        let begun = Instant::now();
        let wrap = |body, after| {
            let slot = load.acquire_as_admin(&HeaderMap::new(), &limits(9, 100));
            let held = slot.unwrap().bytes().clone();
            RequestBody::new(Body::new(body), held, Messages::of("/", 1 << 40), after)
        };
        let after = 3 * Slow::STEP;
        let mut slow = wrap(Slow::new(5), Some(after));
        for _ in 0..5 {
            let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
            assert!(next.unwrap().is_ok());
        }
        let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
        let status = next.unwrap().unwrap_err();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
        assert!(begun.elapsed() >= 5 * Slow::STEP + after);
        let end = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
        assert!(end.is_none());
        let mut stream = wrap(Slow::new(0), None);
        let next = poll_fn(|cx| Pin::new(&mut stream).poll_frame(cx));
        assert!(timeout(2 * after, next).await.is_err());
    }

    /// A body of `left` bytes, each after `STEP`, that then stalls.
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
        let load = LoadLimits::default();
        let limits = limits(9, 1 << 30);
        for (sent, holds) in [(whole.len() - 1, true), (whole.len(), false)] {
            let slot = load.acquire_as_admin(&HeaderMap::new(), &limits);
            let held = slot.unwrap().bytes().clone();
            let messages = Messages::of(STREAM, BATCH_BYTES_MAX);
            let stream = Body::new(body_of(whole[..sent].to_vec()));
            let mut stream = RequestBody::new(stream, held, messages, None);
            let next = poll_fn(|cx| Pin::new(&mut stream).poll_frame(cx)).await;
            assert!(next.unwrap().is_ok());
            let least = (10_000 * size_of::<v1::NewEvent>()) as u64 / DECODED_ONE_IN;
            assert_eq!(
                load.bytes_held() > least,
                holds,
                "{sent} of {}",
                whole.len()
            );
        }
    }

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
