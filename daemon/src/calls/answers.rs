//! The answers of a stream on their way to a caller that may read slowly, or not at all.
//!
//! Promises: an answer waits at most `limits.send_secs` to be read; its bytes count until the one behind it is read
//! (`limits.answer_bytes_in_flight`); there is always room for a refusal at the end, so that a failed stream never
//! looks complete.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use amem_proto::answer::Code;
use prost::Message;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::Stream;

use crate::auth::Caller;
use crate::control::Control;
use crate::ingress::quota::{Quota, QuotaLease};
use crate::limits::UNCOUNTED_ANSWER_BYTES;
use crate::refusal::{Refusal, Result};

/// What the answers to one caller may hold.
#[derive(Debug, Clone)]
pub(crate) struct AnswerBudget {
    quota: Quota,
    control: Control,
    caller: Caller,
}

/// The bytes of an answer under way, as one of the extensions of a response.
#[derive(Debug, Clone)]
pub(crate) struct AnswerLease(#[expect(dead_code, reason = "it is held")] Arc<QuotaLease>);

impl From<QuotaLease> for AnswerLease {
    fn from(lease: QuotaLease) -> Self {
        Self(Arc::new(lease))
    }
}

impl AnswerBudget {
    pub(super) fn new(quota: &Quota, control: &Control, caller: &Caller) -> Self {
        Self {
            quota: quota.clone(),
            control: control.clone(),
            caller: caller.clone(),
        }
    }

    fn max(&self) -> u64 {
        self.control.live().limits.answer_bytes_in_flight
    }

    /// Counts the bytes of an answer before it is encoded; a refusal if there is no room for them.
    pub(crate) fn lease_bytes(&self, bytes: usize) -> Result<Option<AnswerLease>> {
        if bytes <= UNCOUNTED_ANSWER_BYTES {
            return Ok(None);
        }
        let lease = self.quota.take(&self.caller, bytes as u64, self.max());
        let lease = lease.map_err(|why| {
            let message = format!(
                "the daemon is busy (too many bytes of answers wait to be read, {why}: \
                 limits.answer_bytes_in_flight): read the answers of earlier calls, or retry later"
            );
            Refusal::new(Code::ResourceExhausted, "LOAD", message)
        })?;
        Ok(Some(lease.into()))
    }

    /// Counts an answer of a stream once there is room for it.
    async fn wait(&self, answer: &impl Message) -> Option<QuotaLease> {
        let bytes = answer.encoded_len();
        if bytes <= UNCOUNTED_ANSWER_BYTES {
            return None;
        }
        let lease = self.quota.wait(&self.caller, bytes as u64, self.max());
        Some(lease.await)
    }
}

/// An answer of a stream with the bytes that it holds.
type HeldAnswer<T> = (T, Option<QuotaLease>);

/// The answers of a stream as a protocol reads them. The newest one counts until the next is asked for: then the
/// protocol has passed it on.
#[derive(Debug)]
pub(crate) struct AnswerStream<T> {
    answers: mpsc::Receiver<Result<HeldAnswer<T>>>,
    newest: Option<QuotaLease>,
}

impl<T> Unpin for AnswerStream<T> {}

impl<T> Stream for AnswerStream<T> {
    type Item = Result<T>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        self.newest = None;
        let next = self.answers.poll_recv(cx);
        next.map(|answer| {
            let answer = answer?;
            Some(answer.map(|(answer, lease)| {
                self.newest = lease;
                answer
            }))
        })
    }
}

/// Sends the answers of a stream.
#[derive(Debug)]
pub(super) struct AnswerSender<T> {
    out: mpsc::Sender<Result<HeldAnswer<T>>>,
    budget: AnswerBudget,
}

impl<T> Clone for AnswerSender<T> {
    fn clone(&self) -> Self {
        Self {
            out: self.out.clone(),
            budget: self.budget.clone(),
        }
    }
}

/// Why an answer was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SendError {
    /// The caller has ended the stream.
    Closed,
    /// The caller has not read for this many seconds.
    Slow(u64),
}

impl<T: Message + 'static> AnswerSender<T> {
    /// A stream in which at most `waiting_max` answers wait.
    pub(super) fn new(budget: AnswerBudget, waiting_max: usize) -> (Self, AnswerStream<T>) {
        let (out, answers) = mpsc::channel(waiting_max + 1);
        let newest = None;
        (Self { out, budget }, AnswerStream { answers, newest })
    }

    /// Sends an answer once there is room.
    pub(super) async fn send(&self, answer: T) -> Result<(), SendError> {
        let patience = self.budget.control.live().limits.send_after();
        let room = async {
            let places = self.out.reserve_many(2).await.ok()?;
            let lease = tokio::select! {
                lease = self.budget.wait(&answer) => lease,
                () = self.out.closed() => return None,
            };
            Some((places, lease))
        };
        let room = timeout(patience, room).await;
        match room {
            Ok(Some((mut places, lease))) => {
                if let Some(place) = places.next() {
                    place.send(Ok((answer, lease)));
                }
                Ok(())
            }
            Ok(None) => Err(SendError::Closed),
            Err(_) => Err(SendError::Slow(patience.as_secs())),
        }
    }

    /// Ends the stream with a refusal; without effect if the caller has gone.
    pub(super) fn fail(&self, refusal: Refusal) {
        drop(self.out.try_send(Err(refusal)));
    }

    /// True if the caller has ended the stream.
    pub(super) fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    /// Waits until the caller ends the stream.
    pub(super) async fn closed(&self) {
        self.out.closed().await;
    }
}

impl SendError {
    /// The refusal at the end of the stream. `remedy` says how to go on.
    pub(super) fn refusal(self, reason: &'static str, remedy: &str) -> Refusal {
        match self {
            Self::Closed => Refusal::cancelled(),
            Self::Slow(seconds) => {
                let message = format!("the caller did not read for {seconds} s: {remedy}");
                Refusal::new(Code::Aborted, reason, message)
            }
        }
    }
}
