//! Answers until they are read: a call holds its slot until its answer has been sent; an unread answer is given up.
//!
//! Promises: the slot of a call is free again when its answer ends, is given up, or is dropped; little of an unread
//! answer waits in its connection (`unsent_bytes`), and little of all unread answers in the daemon, whatever their
//! protocol. `watch` checks answers from outside, since the server polls a body only when there is room to send.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use amem_locks::LockResultExt;
use amem_proto::answer::Code;
use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, interval, sleep_until};
use tracing::Span;

use super::encoding::{Encoding, EndFunction, FrameResult};
use super::latency_guard::SharedCallTimer;
use super::unsent_bytes::UnsentBytes;
use crate::calls::AnswerLease;
use crate::ingress::deadline::Deadline;
use crate::ingress::load::CallSlot;
use crate::limits::{ANSWER_PART_BYTES, UNREAD_AFTER, UNREAD_AFTER_WHEN_MANY, UNREAD_BYTES};
use crate::refusal::Refusal;

/// How often `watch` checks the answers.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// The answers that are not sent yet.
#[derive(Debug, Default)]
pub(super) struct PendingAnswers {
    next: AtomicU64,
    pending: Mutex<HashMap<u64, Arc<Mutex<PendingAnswer>>>>,
}

/// The unsent rest of an answer.
#[derive(Debug)]
struct PendingAnswer {
    inner: Body,
    /// The rest of the last frame of `inner`: it goes in parts.
    rest: Bytes,
    /// When the server was given the answer, or a part that it has not sent yet; `None` once it asks for more.
    given: Option<Instant>,
    deadline: Option<Deadline>,
    /// Of its connection.
    unsent: Arc<UnsentBytes>,
    /// A frame of `inner` that was taken before there was room for it.
    first: Option<FrameResult>,
    /// Held until the answer ends.
    slot: Option<CallSlot>,
    hold: AnswerHold,
    /// Of the call.
    span: Span,
    end: AnswerState,
}

/// What ends with an answer, whether it is read or given up.
#[derive(Debug, Default)]
pub(super) struct AnswerHold {
    /// Its bytes, if it is large.
    pub(super) lease: Option<AnswerLease>,
    /// Of its call.
    pub(super) timer: Option<SharedCallTimer>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerState {
    /// More is to come.
    Open,
    /// Given up after this time; the client does not know yet.
    Unread(Duration),
    /// The client has the end.
    Ended,
}

impl PendingAnswer {
    /// Ends the answer; returns what it held, to be dropped without the lock.
    fn close(&mut self, end: AnswerState) -> (Body, Option<CallSlot>, AnswerHold) {
        self.end = end;
        self.rest = Bytes::new();
        self.first = None;
        let hold = std::mem::take(&mut self.hold);
        (std::mem::take(&mut self.inner), self.slot.take(), hold)
    }

    /// Encodes a large answer now: encoded it takes a fraction of the memory, and it may not be read for long.
    fn encode(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        // An answer that is not ready is polled again when there is room.
        if let Poll::Ready(Some(frame)) = Pin::new(&mut self.inner).poll_frame(&mut cx) {
            self.given = Some(Instant::now());
            match frame.map(Frame::into_data) {
                Ok(Ok(data)) => self.rest = data,
                Ok(Err(trailers)) => self.first = Some(Ok(trailers)),
                Err(status) => self.first = Some(Err(status)),
            }
        }
    }

    fn part(&mut self) -> Frame<Bytes> {
        self.given = Some(Instant::now());
        let bytes = self.rest.len().min(ANSWER_PART_BYTES);
        Frame::data(self.unsent.give(self.rest.split_to(bytes)))
    }

    /// True once the call is done and all of its answer is here: its time is not what the client takes to read.
    fn is_whole(&self) -> bool {
        self.inner.is_end_stream() || self.inner.size_hint().exact().is_some()
    }

    /// True once nothing more comes of an open answer.
    fn is_complete(&self) -> bool {
        self.rest.is_empty() && self.first.is_none() && self.inner.is_end_stream()
    }
}

/// How the body of an answer ends early: with its reason, and with an error where its client does not read.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerEnd {
    pub(super) end: EndFunction,
    pub(super) encoding: &'static dyn Encoding,
}

impl PendingAnswers {
    /// The body to send: it holds `slot` until it ends.
    pub(super) fn send(
        self: &Arc<Self>,
        inner: Body,
        slot: CallSlot,
        deadline: Option<Deadline>,
        (unsent, end): (Arc<UnsentBytes>, AnswerEnd),
        hold: AnswerHold,
    ) -> Body {
        // An answer of headers only is sent at once.
        if inner.is_end_stream() {
            return inner;
        }
        let is_large = hold.lease.is_some();
        let mut answer = PendingAnswer {
            inner,
            rest: Bytes::new(),
            first: None,
            // A client whose window is closed never lets the server ask for it.
            given: Some(Instant::now()),
            deadline,
            unsent: unsent.clone(),
            slot: Some(slot),
            hold,
            span: Span::current(),
            end: AnswerState::Open,
        };
        if is_large {
            answer.encode();
        }
        let answer = Arc::new(Mutex::new(answer));
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        self.pending.lock().unpoisoned().insert(key, answer.clone());
        Body::new(AnswerBody {
            answers: self.clone(),
            key,
            answer,
            late: None,
            unsent,
            end,
        })
    }

    /// Gives up answers that are not read, for as long as it is polled.
    pub(super) async fn watch(&self) {
        let mut ticks = interval(CHECK_EVERY);
        loop {
            self.check(ticks.tick().await);
        }
    }

    fn check(&self, now: Instant) {
        let pending: Vec<_> = self.pending.lock().unpoisoned().values().cloned().collect();
        let mut bytes = 0;
        let mut unread = Vec::new();
        for answer in pending {
            let here = answer.lock().unpoisoned();
            bytes += here.rest.len();
            if let (Some(given), AnswerState::Open) = (here.given, here.end) {
                drop(here);
                unread.push((given, answer));
            }
        }
        unread.sort_by_key(|(given, _)| *given);
        for (_, answer) in unread {
            let patience = if bytes > UNREAD_BYTES {
                UNREAD_AFTER_WHEN_MANY
            } else {
                UNREAD_AFTER
            };
            let mut answer = answer.lock().unpoisoned();
            // The client may have read it meanwhile.
            let is_unread = answer.given.is_some_and(|given| now >= given + patience);
            if is_unread && answer.end == AnswerState::Open {
                bytes = bytes.saturating_sub(answer.rest.len());
                let held = answer.close(AnswerState::Unread(patience));
                let (span, unsent) = (answer.span.clone(), answer.unsent.clone());
                drop(answer);
                unsent.give_up();
                let (_, _, hold) = &held;
                if let Some(timer) = &hold.timer {
                    timer.end(Some(SLOW_READER));
                }
                drop(held);
                span.in_scope(|| tracing::debug!("gave up an unread answer"));
            }
        }
    }
}

/// The body of a pending answer.
struct AnswerBody {
    answers: Arc<PendingAnswers>,
    key: u64,
    answer: Arc<Mutex<PendingAnswer>>,
    /// Wakes the server at the deadline.
    late: Option<Pin<Box<Sleep>>>,
    unsent: Arc<UnsentBytes>,
    end: AnswerEnd,
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        self.answers.pending.lock().unpoisoned().remove(&self.key);
    }
}

/// The reason of an answer that was given up.
const SLOW_READER: &str = "SLOW_READER";

fn unread(after: Duration) -> Refusal {
    let seconds = after.as_secs();
    let message =
        format!("the client did not read the answer for {seconds} s: call again, and keep reading");
    Refusal::new(Code::DeadlineExceeded, SLOW_READER, message)
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<FrameResult>> {
        let this = &mut *self;
        let has_room = this.unsent.poll_room(cx).is_ready();
        let mut answer = this.answer.lock().unpoisoned();
        match answer.end {
            AnswerState::Open => {}
            AnswerState::Ended => return Poll::Ready(None),
            AnswerState::Unread(after) => {
                answer.end = AnswerState::Ended;
                return Poll::Ready(Some(Err(this.end.encoding.error(unread(after)))));
            }
        }
        let deadline = answer.deadline.filter(|_| !answer.is_whole());
        if let Some(deadline) = deadline.filter(|deadline| deadline.is_over()) {
            drop(answer.close(AnswerState::Ended));
            return Poll::Ready(Some((this.end.end)(deadline.exceeded())));
        }
        if !has_room {
            // The connection has too much unsent, of this answer or of others.
            answer.given.get_or_insert_with(Instant::now);
            return Poll::Pending;
        }
        answer.given = None;
        if !answer.rest.is_empty() {
            return Poll::Ready(Some(Ok(answer.part())));
        }
        let next = match answer.first.take() {
            Some(first) => Poll::Ready(Some(first)),
            None => Pin::new(&mut answer.inner).poll_frame(cx),
        };
        match next {
            Poll::Pending => {
                let Some(deadline) = answer.deadline else {
                    return Poll::Pending;
                };
                let late = this
                    .late
                    .get_or_insert_with(|| Box::pin(sleep_until(deadline.at)));
                if late.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                drop(answer.close(AnswerState::Ended));
                Poll::Ready(Some((this.end.end)(deadline.exceeded())))
            }
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    answer.rest = data;
                    Poll::Ready(Some(Ok(answer.part())))
                }
                Err(trailers) => {
                    drop(answer.close(AnswerState::Ended));
                    Poll::Ready(Some(Ok(trailers)))
                }
            },
            Poll::Ready(last) => {
                drop(answer.close(AnswerState::Ended));
                Poll::Ready(last)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        let answer = self.answer.lock().unpoisoned();
        match answer.end {
            AnswerState::Open => answer.is_complete(),
            AnswerState::Unread(_) => false,
            AnswerState::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let answer = self.answer.lock().unpoisoned();
        match (answer.inner.size_hint().exact(), &answer.first) {
            (Some(bytes), None) => SizeHint::with_exact(bytes + answer.rest.len() as u64),
            _ => SizeHint::default(),
        }
    }
}

#[cfg(test)]
mod tests;
