//! How much is under way: calls, and bytes of their requests. What is too much is refused before it is read.
//!
//! Promises: what was taken comes back, however a call ends. A request's bytes are held until its answer has been sent;
//! a stream holds those of the message that is on its way, as the queues count those that have come.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, header};
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic::{Code, Status};

use crate::config::Limits;
use crate::limits::BATCH_BYTES_MAX;
use crate::refusal::{Refusal, Result};

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Load {
    calls: AtomicU64,
    bytes: AtomicU64,
}

/// A call that is under way.
#[derive(Debug)]
pub(super) struct Call(Arc<Load>);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The bytes that a request holds.
#[derive(Debug)]
pub(super) struct Held {
    load: Arc<Load>,
    bytes: AtomicU64,
    /// Bytes of all requests.
    most: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let bytes = *self.bytes.get_mut();
        self.load.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Adds, unless it would be more than the most.
fn add(counter: &AtomicU64, amount: u64, most: u64) -> bool {
    let added = |now: u64| now.checked_add(amount).filter(|sum| *sum <= most);
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, added)
        .is_ok()
}

fn busy(what: &str, most: u64, name: &str) -> Refusal {
    let message =
        format!("the daemon is busy ({what}, at most {most}: limits.{name}): wait and call again");
    Refusal::new(Code::ResourceExhausted, "LOAD", message)
}

impl Load {
    /// Calls that are under way.
    #[cfg(test)]
    pub(super) fn under_way(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Takes a call in, with the bytes that its headers announce.
    pub(super) fn enter(
        self: &Arc<Self>,
        headers: &HeaderMap,
        limits: &Limits,
    ) -> Result<(Call, Arc<Held>)> {
        let most = limits.requests_in_flight;
        if !add(&self.calls, 1, most) {
            return Err(busy(
                "too many calls are under way",
                most,
                "requests_in_flight",
            ));
        }
        let call = Call(self.clone());
        let held = Arc::new(Held {
            load: self.clone(),
            bytes: AtomicU64::new(0),
            most: limits.request_bytes_in_flight,
        });
        // Even a call that announces nothing sends something.
        held.hold(announced(headers).max(1))?;
        Ok((call, held))
    }
}

fn too_large(bytes: u64, most: usize) -> Refusal {
    let message = format!(
        "a message has {bytes} bytes, more than the limit of {most}: send less at a time; events go by IngestStream, \
         in batches of at most {BATCH_BYTES_MAX}"
    );
    Refusal::new(Code::ResourceExhausted, "MESSAGE_SIZE", message)
}

/// The bytes that the headers announce.
fn announced(headers: &HeaderMap) -> u64 {
    let length = headers.get(header::CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
    length.unwrap_or(0)
}

impl Held {
    /// Holds so many bytes from now on, but no more than a message has.
    fn hold(&self, bytes: u64) -> Result<()> {
        let wanted = bytes.min(BATCH_BYTES_MAX as u64);
        let had = self.bytes.load(Ordering::Relaxed);
        if let Some(less) = had.checked_sub(wanted) {
            self.load.bytes.fetch_sub(less, Ordering::Relaxed);
        } else if !add(&self.load.bytes, wanted - had, self.most) {
            let what = "too many bytes of requests are under way";
            return Err(busy(what, self.most, "request_bytes_in_flight"));
        }
        // Nobody else changes it: a body is read by one.
        self.bytes.store(wanted, Ordering::Relaxed);
        Ok(())
    }
}

/// Where in the messages of a body we are: each is a byte, its length in four, and itself (PROTOCOL-HTTP2 of gRPC).
#[derive(Debug, Default)]
struct Messages {
    head: [u8; 5],
    /// Bytes of the head that are here.
    have: usize,
    /// Bytes of the message that are here, and still to come.
    here: u64,
    left: u64,
}

impl Messages {
    /// Goes on by these bytes; gives those that are here of the message that is not whole. A message that says it has
    /// more than the most is refused.
    fn take(&mut self, mut data: &[u8], most: usize) -> Result<u64> {
        while !data.is_empty() {
            if self.have < self.head.len() {
                let part = data.len().min(self.head.len() - self.have);
                self.head[self.have..self.have + part].copy_from_slice(&data[..part]);
                self.have += part;
                data = &data[part..];
                let [_, length @ ..] = self.head;
                (self.here, self.left) = (0, u64::from(u32::from_be_bytes(length)));
                if self.have == self.head.len() && self.left > most as u64 {
                    return Err(too_large(self.left, most));
                }
            } else {
                let part = data
                    .len()
                    .min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.here += part as u64;
                self.left -= part as u64;
                data = &data[part..];
            }
            if self.have == self.head.len() && self.left == 0 {
                *self = Self::default();
            }
        }
        Ok(self.here)
    }
}

/// A body whose bytes are held as they come.
pub(super) struct Metered {
    inner: Body,
    held: Arc<Held>,
    seen: u64,
    is_stream: bool,
    messages: Messages,
    /// Bytes of a message.
    message_bytes_max: usize,
    refused: bool,
}

impl Metered {
    pub(super) fn wrap(
        inner: Body,
        held: Arc<Held>,
        is_stream: bool,
        message_bytes_max: usize,
    ) -> Body {
        Body::new(Self {
            inner,
            held,
            seen: 0,
            is_stream,
            messages: Messages::default(),
            message_bytes_max,
            refused: false,
        })
    }

    /// The bytes to hold once these have come.
    fn see(&mut self, data: &[u8]) -> Result<u64> {
        let here = self.messages.take(data, self.message_bytes_max)?;
        self.seen = self.seen.saturating_add(data.len() as u64);
        Ok(if self.is_stream { here } else { self.seen })
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
        let frame = ready!(Pin::new(&mut this.inner).poll_frame(cx));
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
    use std::future::poll_fn;

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
        let load = Arc::new(Load::default());
        let none = HeaderMap::new();
        let first = load.enter(&none, &limits(2, 100)).unwrap();
        let _second = load.enter(&announce(60), &limits(2, 100)).unwrap();
        let refusal = load.enter(&none, &limits(2, 100)).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "LOAD")
        );
        assert!(refusal.message.contains("limits.requests_in_flight"));
        let refusal = load.enter(&announce(40), &limits(9, 100)).unwrap_err();
        assert!(refusal.message.contains("limits.request_bytes_in_flight"));
        // What was refused left nothing behind.
        let third = load.enter(&announce(39), &limits(3, 100)).unwrap();
        drop((first, third));
        assert_eq!(load.calls.load(Ordering::Relaxed), 1);
        assert_eq!(load.bytes.load(Ordering::Relaxed), 60);
    }

    #[tokio::test]
    async fn bytes_that_nobody_announced_are_held_until_the_call_and_its_body_end() {
        let load = Arc::new(Load::default());
        let (call, held) = load.enter(&HeaderMap::new(), &limits(9, 100)).unwrap();
        let mut body = Metered::wrap(Body::new(text(80)), held.clone(), false, 1 << 40);
        let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        assert!(next.unwrap().is_ok());
        assert_eq!(load.bytes.load(Ordering::Relaxed), 80);

        let (_call, other) = load.enter(&HeaderMap::new(), &limits(9, 100)).unwrap();
        let mut refused = Metered::wrap(Body::new(text(80)), other.clone(), false, 1 << 40);
        let next = poll_fn(|cx| Pin::new(&mut refused).poll_frame(cx)).await;
        let status = next.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted);
        drop((body, call, held));
        assert_eq!(load.bytes.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn of_a_stream_only_the_message_that_is_not_whole_counts() {
        let message = |bytes: usize| {
            let head = [&[0][..], &(bytes as u32).to_be_bytes()].concat();
            [head, vec![7; bytes]].concat()
        };
        let all = [message(10), message(0), message(70_000), message(3)].concat();
        for step in [1, 2, 5, 7, 1000, all.len()] {
            let mut messages = Messages::default();
            let here: Vec<_> = all
                .chunks(step)
                .map(|part| messages.take(part, 70_000).unwrap())
                .collect();
            assert!(here.iter().all(|bytes| *bytes < 70_000), "{step}");
            assert_eq!(here.last(), Some(&0), "{step}");
            assert!(
                step > 1000 || here.iter().any(|bytes| *bytes > 60_000),
                "{step}"
            );
        }
    }

    #[test]
    fn a_message_is_refused_by_what_it_says_of_itself_before_it_comes() {
        let mut messages = Messages::default();
        let most = 1000;
        assert_eq!(messages.take(&[0, 0, 0, 3], most), Ok(0));
        assert_eq!(messages.take(&[0xe8], most), Ok(0));
        assert_eq!(messages.take(&[7; 1000], most), Ok(0));
        let refusal = messages.take(&[0, 0, 0, 3, 0xe9], most).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.reason),
            (Code::ResourceExhausted, "MESSAGE_SIZE")
        );
        assert!(refusal.message.contains("1001"), "{}", refusal.message);
    }

    /// A body of so many bytes.
    fn text(bytes: usize) -> impl HttpBody<Data = Bytes, Error = Status> + Send + 'static {
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
        Text(Some(vec![b'x'; bytes].into()))
    }
}
