//! The body of a request: its bytes are held as they arrive, and it must not stall.
//!
//! Promises: a message over the limit of its call is refused by its length, before it arrives; a unary request holds
//! its bytes until its answer has been sent, a stream those of the message that is arriving: queues count the others.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::{Body, HttpBody};
use tokio::time::{Sleep, sleep};

use super::encoding::{BodyCounter, BodyStall, Encoding, FrameResult};
use super::watched_body::WatchedBody;
use crate::ingress::load::HeldBytes;
use crate::limits::DECODED_ONE_IN;
use crate::refusal::{Refusal, Result};

/// Watches a body whose bytes are held as they arrive.
pub(super) struct RequestBody {
    held: Arc<HeldBytes>,
    received: u64,
    /// How long the body may stall; `None` for a stream, whose messages count one by one.
    stall: Option<BodyStall>,
    counter: Box<dyn BodyCounter>,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(super) fn wrap(
        body: Body,
        held: Arc<HeldBytes>,
        counter: Box<dyn BodyCounter>,
        stall: Option<BodyStall>,
        encoding: &'static dyn Encoding,
    ) -> Body {
        let mut watched = Self {
            held,
            received: 0,
            stall,
            counter,
            stalled: None,
        };
        WatchedBody::wrap(body, move |inner, cx| {
            let next = ready!(watched.poll(inner, cx));
            Poll::Ready(next.unwrap_or_else(|refusal| {
                *inner = Body::empty();
                Some(Err(encoding.error(refusal)))
            }))
        })
    }

    /// The next part; a refusal if there may be no more.
    fn poll(
        &mut self,
        inner: &mut Body,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<FrameResult>>> {
        let Poll::Ready(frame) = Pin::new(inner).poll_frame(cx) else {
            return Poll::Ready(Err(ready!(self.poll_stalled(cx))));
        };
        self.stalled = None;
        if let Some(Ok(frame)) = &frame
            && let Some(data) = frame.data_ref()
        {
            let bytes = self.receive(data)?;
            self.held.hold(bytes)?;
        }
        Poll::Ready(Ok(frame))
    }

    /// Ready once the body has stalled for too long.
    fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<Refusal> {
        let Some(BodyStall { max, refusal }) = self.stall else {
            return Poll::Pending;
        };
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(max)));
        ready!(stalled.as_mut().poll(cx));
        Poll::Ready(refusal(max))
    }

    /// The bytes to hold now that `data` has arrived.
    fn receive(&mut self, data: &[u8]) -> Result<u64> {
        let partial = self.counter.take(data)?;
        self.received = self.received.saturating_add(data.len() as u64);
        let bytes = match self.stall {
            // The queue counts a message of a stream that has arrived whole.
            None if partial == 0 => return Ok(0),
            None => partial,
            Some(_) => self.received,
        };
        Ok(bytes.max(self.counter.decoded() / DECODED_ONE_IN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limits;
    use crate::ingress::load::LoadLimits;
    use crate::limits::BATCH_BYTES_MAX;
    use std::future::poll_fn;
    use std::time::Duration;

    use axum::Error;
    use axum::body::Bytes;
    use http_body::Frame;

    use amem_proto::answer::Code;
    use hyper::{HeaderMap, Request};
    use tokio::time::{Instant, timeout};
    use tonic::Status;

    use crate::gateway::encoding::tests::ENCODINGS;
    use crate::ingress::requirement::Requirement;

    /// What counts the messages of a call of gRPC.
    fn counter(path: &str, bytes_max: u64) -> Box<dyn BodyCounter> {
        let (head, ()) = Request::builder().uri(path).body(()).unwrap().into_parts();
        let requirement = Requirement {
            request_bytes_max: bytes_max,
            ..Requirement::OPEN
        };
        ENCODINGS[0].counter(&head, &requirement)
    }

    fn stall(max: Duration) -> BodyStall {
        let refusal = |_| Refusal::new(Code::DeadlineExceeded, "SLOW", "nothing arrived");
        BodyStall { max, refusal }
    }

    fn status(error: Error) -> Status {
        Status::from_error(error.into_inner())
    }

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
            counter("/", 1 << 40),
            Some(stall(Duration::from_secs(60))),
            ENCODINGS[0],
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
            counter("/", 1 << 40),
            Some(stall(Duration::from_secs(60))),
            ENCODINGS[0],
        );
        let next = poll_fn(|cx| Pin::new(&mut refused).poll_frame(cx)).await;
        let status = status(next.unwrap().unwrap_err());
        assert_eq!(status.code(), tonic::Code::ResourceExhausted);
        drop((body, slot));
        assert_eq!(load.bytes_held(), 1);
    }

    #[tokio::test]
    async fn a_request_that_does_not_come_is_given_up_and_one_that_comes_slowly_is_not() {
        let load = LoadLimits::default();
        let wrap = |body, after: Option<Duration>, encoding| {
            let slot = load.acquire_as_admin(&HeaderMap::new(), &limits(9, 100));
            let held = slot.unwrap().bytes().clone();
            let after = after.map(stall);
            RequestBody::wrap(
                Body::new(body),
                held,
                counter("/", 1 << 40),
                after,
                encoding,
            )
        };
        let after = 3 * Slow::STEP;
        for encoding in ENCODINGS {
            let begun = Instant::now();
            let mut slow = wrap(Slow::new(5), Some(after), encoding);
            for _ in 0..5 {
                let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
                assert!(next.unwrap().is_ok());
            }
            let next = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
            let reason = encoding.failure_of(&next.unwrap().unwrap_err());
            assert_eq!(reason, "SLOW", "{encoding:?}");
            assert!(begun.elapsed() >= 5 * Slow::STEP + after);
            let end = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
            assert!(end.is_none());
        }
        let mut stream = wrap(Slow::new(0), None, ENCODINGS[0]);
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
        type Error = Error;
        fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<FrameResult>> {
            if self.left == 0 {
                return Poll::Pending;
            }
            ready!(self.next.as_mut().poll(cx));
            self.left -= 1;
            self.next = Box::pin(sleep(Self::STEP));
            Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
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
            let messages = counter(STREAM, BATCH_BYTES_MAX as u64);
            let stream = Body::new(body_of(whole[..sent].to_vec()));
            let mut stream = RequestBody::wrap(stream, held, messages, None, ENCODINGS[0]);
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

    fn body_of(bytes: Vec<u8>) -> impl HttpBody<Data = Bytes, Error = Error> + Send + 'static {
        struct Text(Option<Bytes>);
        impl HttpBody for Text {
            type Data = Bytes;
            type Error = Error;
            fn poll_frame(
                mut self: Pin<&mut Self>,
                _cx: &mut Context<'_>,
            ) -> Poll<Option<FrameResult>> {
                Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
            }
        }
        Text(Some(bytes.into()))
    }
}
