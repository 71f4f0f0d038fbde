//! Answers on their way to who asked: what a call holds it holds until its answer has been sent, and an answer that
//! nobody reads is given up.
//!
//! Promises: a call's place and the bytes of its request come back when its answer ends, is given up, or is dropped;
//! of answers that are not read, little waits in the connection (`unsent`), and not too much in all. An answer is
//! looked at (`watch`) from outside, since the server asks for more of it only when there is room to send.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body::Frame;
use tokio::time::{Instant, Sleep, interval, sleep_until};
use tonic::body::Body;
use tonic::codegen::{Body as HttpBody, Bytes};
use tonic::{Code, Status};
use tracing::Span;

use super::unsent::Unsent;
use crate::ingress::deadline::Deadline;
use crate::ingress::load::{Call, Held};
use crate::limits::{ANSWER_PART_BYTES, UNREAD_AFTER, UNREAD_AFTER_WHEN_MANY, UNREAD_BYTES};
use crate::refusal::{Refusal, trailers};

/// How often answers are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a call holds.
pub(super) type Places = (Call, Arc<Held>);

/// The answers that are on their way.
#[derive(Debug, Default)]
pub(super) struct Answers {
    next: AtomicU64,
    ways: Mutex<HashMap<u64, Arc<Mutex<Way>>>>,
}

/// What is still to be sent of one.
#[derive(Debug)]
struct Way {
    inner: Body,
    /// The rest of a part that was too large to be given at once.
    rest: Bytes,
    /// Since when the last part has been waiting to be sent; `None` while the server asks for more.
    given: Option<Instant>,
    deadline: Option<Deadline>,
    /// Held until the answer ends.
    places: Option<Places>,
    /// The call, in the log.
    call: Span,
    end: End,
}

/// How far an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// There is more.
    Open,
    /// Nobody read it for so long: this is still to be told.
    Unread(Duration),
    /// It was sent, or it was told why not.
    Told,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Way {
    /// Gives back what it holds; the caller drops it where it holds no lock.
    fn close(&mut self, end: End) -> (Body, Option<Places>) {
        self.end = end;
        self.rest = Bytes::new();
        (std::mem::take(&mut self.inner), self.places.take())
    }

    /// The next part of the rest.
    fn part(&mut self, unsent: &Arc<Unsent>) -> Frame<Bytes> {
        self.given = Some(Instant::now());
        let bytes = self.rest.len().min(ANSWER_PART_BYTES);
        Frame::data(unsent.give(self.rest.split_to(bytes)))
    }
}

impl Answers {
    /// An answer that is watched on its way.
    pub(super) fn send(
        self: &Arc<Self>,
        inner: Body,
        places: Places,
        deadline: Option<Deadline>,
        unsent: Arc<Unsent>,
    ) -> Body {
        // A head alone is sent at once.
        if inner.is_end_stream() {
            return inner;
        }
        let way = Arc::new(Mutex::new(Way {
            inner,
            rest: Bytes::new(),
            given: None,
            deadline,
            places: Some(places),
            call: Span::current(),
            end: End::Open,
        }));
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        lock(&self.ways).insert(key, way.clone());
        Body::new(Sending {
            answers: self.clone(),
            key,
            way,
            late: None,
            unsent,
        })
    }

    /// Gives up answers that nobody reads, for as long as it is polled.
    pub(super) async fn watch(&self) {
        let mut look = interval(LOOK_EVERY);
        loop {
            self.look(look.tick().await);
        }
    }

    fn look(&self, now: Instant) {
        let ways: Vec<_> = lock(&self.ways).values().cloned().collect();
        let mut bytes = 0;
        let mut unread = Vec::new();
        for way in ways {
            let here = lock(&way);
            bytes += here.rest.len();
            if let (Some(given), End::Open) = (here.given, here.end) {
                drop(here);
                unread.push((given, way));
            }
        }
        unread.sort_by_key(|(given, _)| *given);
        for (_, way) in unread {
            let patience = match bytes > UNREAD_BYTES {
                true => UNREAD_AFTER_WHEN_MANY,
                false => UNREAD_AFTER,
            };
            let mut way = lock(&way);
            // It may have been read meanwhile.
            let is_unread = way.given.is_some_and(|given| now >= given + patience);
            if is_unread && way.end == End::Open {
                bytes = bytes.saturating_sub(way.rest.len());
                let held = way.close(End::Unread(patience));
                let call = way.call.clone();
                drop(way);
                drop(held);
                call.in_scope(|| tracing::debug!("gave up an answer that nobody reads"));
            }
        }
    }
}

/// The body of an answer.
struct Sending {
    answers: Arc<Answers>,
    key: u64,
    way: Arc<Mutex<Way>>,
    /// Wakes the server at the deadline of an answer that waits for more.
    late: Option<Pin<Box<Sleep>>>,
    unsent: Arc<Unsent>,
}

impl Drop for Sending {
    fn drop(&mut self) {
        lock(&self.answers.ways).remove(&self.key);
    }
}

fn unread(after: Duration) -> Refusal {
    let seconds = after.as_secs();
    let message = format!("the answer was not read for {seconds} s: call again, and read on");
    Refusal::new(Code::DeadlineExceeded, "SLOW_READER", message)
}

impl HttpBody for Sending {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let has_room = this.unsent.poll_room(cx).is_ready();
        let mut way = lock(&this.way);
        match way.end {
            End::Open => {}
            End::Told => return Poll::Ready(None),
            End::Unread(after) => {
                way.end = End::Told;
                return Poll::Ready(Some(Err(unread(after).into())));
            }
        }
        if let Some(deadline) = way.deadline.filter(|deadline| deadline.is_over()) {
            drop(way.close(End::Told));
            return Poll::Ready(Some(trailers(deadline.exceeded().into())));
        }
        if !has_room {
            // It waits to be read, be it by other answers of its connection.
            way.given.get_or_insert_with(Instant::now);
            return Poll::Pending;
        }
        way.given = None;
        if !way.rest.is_empty() {
            return Poll::Ready(Some(Ok(way.part(&this.unsent))));
        }
        match Pin::new(&mut way.inner).poll_frame(cx) {
            Poll::Pending => {
                let Some(deadline) = way.deadline else {
                    return Poll::Pending;
                };
                let late = this
                    .late
                    .get_or_insert_with(|| Box::pin(sleep_until(deadline.at)));
                if late.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                drop(way.close(End::Told));
                Poll::Ready(Some(trailers(deadline.exceeded().into())))
            }
            Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => {
                    way.rest = data;
                    Poll::Ready(Some(Ok(way.part(&this.unsent))))
                }
                Err(trailers) => {
                    drop(way.close(End::Told));
                    Poll::Ready(Some(Ok(trailers)))
                }
            },
            Poll::Ready(last) => {
                drop(way.close(End::Told));
                Poll::Ready(last)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        lock(&self.way).end == End::Told
    }
}

#[cfg(test)]
mod tests;
