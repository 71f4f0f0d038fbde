//! The answers of a stream on their way to a caller that may read slowly, or not at all.
//!
//! Promises: an answer waits at most `limits.send_secs` to be read; there is always room for a refusal at the end, so
//! that a failed stream never looks complete.

use amem_proto::answer::Code;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;

use crate::control::Control;
use crate::refusal::{Refusal, Result};

/// The answers of a stream as a protocol reads them.
pub(crate) type AnswerStream<T> = ReceiverStream<Result<T>>;

/// Sends the answers of a stream.
#[derive(Debug)]
pub(super) struct AnswerSender<T> {
    out: mpsc::Sender<Result<T>>,
    control: Control,
}

impl<T> Clone for AnswerSender<T> {
    fn clone(&self) -> Self {
        Self {
            out: self.out.clone(),
            control: self.control.clone(),
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

impl<T: Send + 'static> AnswerSender<T> {
    /// A stream in which at most `waiting_max` answers wait.
    pub(super) fn new(control: &Control, waiting_max: usize) -> (Self, AnswerStream<T>) {
        let (out, answers) = mpsc::channel(waiting_max + 1);
        let control = control.clone();
        (Self { out, control }, ReceiverStream::new(answers))
    }

    /// Sends an answer once there is room.
    pub(super) async fn send(&self, answer: T) -> Result<(), SendError> {
        let patience = self.control.live().limits.send_after();
        match timeout(patience, self.out.reserve_many(2)).await {
            Ok(Ok(mut places)) => {
                if let Some(place) = places.next() {
                    place.send(Ok(answer));
                }
                Ok(())
            }
            Ok(Err(_)) => Err(SendError::Closed),
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
