//! Bodies: those of requests as they arrive, and those of answers until they are read.
//!
//! Promises: a request that is too large, packed or not, of another type, cut off or too slow is refused; its bytes
//! count while it is in progress. An answer holds its slot until it was read, and a connection on which an answer is
//! not read ends after `UNREAD_AFTER`. Not here: what is in them (`json`), how they are packed (`coding`).

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use amem_engine::tasks::{AnyAnswer, AnyWork, typed, untyped};
use amem_locks::LockResultExt;
use amem_proto::answer::Code;
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use hyper::HeaderMap;
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::coding::{Coding, too_large};
use crate::calls::AnswerLease;
use crate::ingress::latency::CallTimer;
use crate::ingress::load::{CallSlot, HeldBytes};
use crate::limits::{ANSWER_PART_BYTES, HTTP_UNREAD_EVERY, UNREAD_AFTER};
use crate::refusal::{Refusal, Result};

/// Reads the body of a request. Each part of it must come within `wait`.
pub(super) async fn receive(
    headers: &HeaderMap,
    mut body: Body,
    bytes_max: u64,
    held: &HeldBytes,
    wait: Duration,
) -> Result<Vec<u8>> {
    if announced(headers).is_some_and(|bytes| bytes > bytes_max) {
        return Err(too_large(bytes_max));
    }
    let coding = Coding::of_body(headers)?;
    let mut bytes = Vec::new();
    loop {
        let next = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
        let frame = match timeout(wait, next).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(why))) => {
                let message = format!("the body is incomplete ({why}): send all of it");
                return Err(Refusal::new(Code::InvalidArgument, "BODY", message));
            }
            Err(_) => {
                let message = format!(
                    "no further part of the body came within {wait:?} (limits.body_millis): send it without pauses"
                );
                return Err(Refusal::new(
                    Code::DeadlineExceeded,
                    "BODY_TIMEOUT",
                    message,
                ));
            }
        };
        if let Ok(part) = frame.into_data() {
            if (bytes.len() + part.len()) as u64 > bytes_max {
                return Err(too_large(bytes_max));
            }
            bytes.extend_from_slice(&part);
            held.hold(bytes.len() as u64)?;
        }
    }
    if bytes.is_empty() {
        return Ok(bytes);
    }
    check_type(headers)?;
    match coding {
        None => Ok(bytes),
        Some(coding) => unpacked(coding, bytes, bytes_max, held).await,
    }
}

/// The bytes of a packed body. While it is unpacked, it counts as a whole body beside itself.
async fn unpacked(
    coding: Coding,
    packed: Vec<u8>,
    bytes_max: u64,
    held: &HeldBytes,
) -> Result<Vec<u8>> {
    held.hold(packed.len() as u64 + bytes_max)?;
    let bytes = waiting(move || coding.unpack(&packed, bytes_max)).await??;
    held.hold(bytes.len() as u64)?;
    Ok(bytes)
}

/// Bodies that are packed, unpacked or read at a time: half of the processors, so that callers with many large bodies
/// leave the other half to those with small ones.
static LARGE_BODIES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new((cpus / 2).max(1))
});

/// Runs work on a large body on a thread that may wait, in its turn.
pub(super) fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T>> + Send {
    let work = untyped(work);
    async move { Ok(typed(waiting_untyped(work).await?)?) }
}

async fn waiting_untyped(work: AnyWork) -> Result<AnyAnswer> {
    let turn = LARGE_BODIES.acquire().await;
    let _turn = turn.map_err(|why| Refusal::internal(format!("no body is read: {why}")))?;
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|why| Refusal::internal(format!("a body was not read or made: {why}")))
}

fn announced(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// A body is JSON, in UTF-8. Browsers send bodies of some other types to foreign hosts without asking them.
fn check_type(headers: &HeaderMap) -> Result<()> {
    let refused = |found: &str| {
        let message = format!("the content type of the body is {found}: send application/json");
        Refusal::new(Code::InvalidArgument, "MEDIA_TYPE", message)
    };
    let Some(value) = headers.get(CONTENT_TYPE) else {
        return Err(refused("not set"));
    };
    let text = value.to_str().map_err(|_| refused("not text"))?;
    let mut parts = text.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| {
        let charset = parameter.split_once('=');
        charset.is_none_or(|(name, value)| {
            !name.eq_ignore_ascii_case("charset")
                || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
    });
    if is_json && is_utf8 {
        return Ok(());
    }
    Err(refused(&format!("{text:?}")))
}

/// The answers of a connection that are not read yet, and when each was last read from.
#[derive(Debug, Default)]
pub(super) struct UnreadAnswers {
    next: AtomicU64,
    read_at: Mutex<HashMap<u64, Instant>>,
}

impl UnreadAnswers {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<u64, Instant>) -> T) -> T {
        change(&mut self.read_at.lock().unpoisoned())
    }

    /// The number of a new answer.
    pub(super) fn number(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The connection has a part of an answer, and is expected to ask for more.
    pub(super) fn give(&self, number: u64) {
        self.with(|read_at| read_at.insert(number, Instant::now()));
    }

    /// Nothing more of an answer is waiting to be read.
    pub(super) fn end(&self, number: u64) {
        self.with(|read_at| read_at.remove(&number));
    }

    /// Ready once an answer was not read from for `UNREAD_AFTER`.
    pub(super) async fn given_up(&self) {
        loop {
            sleep(HTTP_UNREAD_EVERY).await;
            let is_old = |at: &Instant| at.elapsed() >= UNREAD_AFTER;
            if self.with(|read_at| read_at.values().any(is_old)) {
                return;
            }
        }
    }
}

/// What ends with an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerHold {
    pub(super) slot: Option<CallSlot>,
    /// Its bytes, if it is large.
    pub(super) lease: Option<AnswerLease>,
    /// Of its call, if it succeeded.
    pub(super) timer: Option<CallTimer>,
}

/// The body of an answer. It goes in parts, so that the connection asks for the next one once there is room.
#[derive(Debug)]
pub(super) struct AnswerBody {
    rest: Bytes,
    hold: AnswerHold,
    number: u64,
    answers: Arc<UnreadAnswers>,
}

impl AnswerBody {
    pub(super) fn new(bytes: Bytes, hold: AnswerHold, answers: Arc<UnreadAnswers>) -> Self {
        let number = answers.number();
        answers.give(number);
        Self {
            rest: bytes,
            hold,
            number,
            answers,
        }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.answers.give(self.number);
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let part = self.rest.len().min(ANSWER_PART_BYTES);
        let part = self.rest.split_to(part);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.answers.end(self.number);
        // A timer that is dropped before its end counts its caller as gone.
        if let Some(mut timer) = self.hold.timer.take()
            && self.rest.is_empty()
        {
            timer.end(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_in_utf_8() {
        for (value, good) in [
            (Some("application/json"), true),
            (Some("Application/JSON; charset=UTF-8"), true),
            (Some("application/json;charset=\"utf-8\""), true),
            (Some("application/json; charset=latin1"), false),
            (Some("text/plain"), false),
            (Some("application/x-www-form-urlencoded"), false),
            (None, false),
        ] {
            let headers = value.map(|value| (CONTENT_TYPE, value.parse().unwrap()));
            let checked = check_type(&headers.into_iter().collect());
            assert_eq!(checked.is_ok(), good, "{value:?}");
        }
    }

    #[tokio::test]
    async fn an_answer_goes_in_parts_and_counts_until_it_is_dropped() {
        let answers = Arc::<UnreadAnswers>::default();
        let bytes = Bytes::from(vec![7; ANSWER_PART_BYTES + 1]);
        let mut body = AnswerBody::new(bytes, AnswerHold::default(), answers.clone());
        assert_eq!(body.size_hint().exact(), Some(ANSWER_PART_BYTES as u64 + 1));
        let mut parts = Vec::new();
        while let Some(Ok(frame)) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            parts.push(frame.into_data().unwrap().len());
        }
        assert_eq!(parts, [ANSWER_PART_BYTES, 1]);
        assert_eq!(answers.with(|read_at| read_at.len()), 1);
        drop(body);
        assert_eq!(answers.with(|read_at| read_at.len()), 0);
    }
}
