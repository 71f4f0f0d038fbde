//! The answers of a stream on their way to a caller who may read slowly, or not at all.
//!
//! Promises: an answer waits to be read for so long and no longer (`limits.send_secs`); there is always room for the
//! last word, so that a stream which failed does not end as if it had not.

use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};

use crate::control::Control;
use crate::refusal::Refusal;

/// Where the answers of a stream go.
#[derive(Debug)]
pub(super) struct Outgoing<T> {
    out: mpsc::Sender<Result<T, Status>>,
    control: Control,
}

impl<T> Clone for Outgoing<T> {
    fn clone(&self) -> Self {
        Self {
            out: self.out.clone(),
            control: self.control.clone(),
        }
    }
}

/// Why an answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gone {
    /// The caller has ended the stream.
    Closed,
    /// It has not read for so many seconds.
    Slow(u64),
}

impl<T: Send + 'static> Outgoing<T> {
    /// A stream in which so many answers may wait.
    pub(super) fn new(
        control: &Control,
        waiting_max: usize,
    ) -> (Self, ReceiverStream<Result<T, Status>>) {
        let (out, answers) = mpsc::channel(waiting_max + 1);
        let control = control.clone();
        (Self { out, control }, ReceiverStream::new(answers))
    }

    /// Sends an answer, when there is room.
    pub(super) async fn send(&self, answer: T) -> Result<(), Gone> {
        let patience = self.control.live().limits.send_after();
        match timeout(patience, self.out.reserve_many(2)).await {
            Ok(Ok(mut places)) => {
                if let Some(place) = places.next() {
                    place.send(Ok(answer));
                }
                Ok(())
            }
            Ok(Err(_)) => Err(Gone::Closed),
            Err(_) => Err(Gone::Slow(patience.as_secs())),
        }
    }

    /// Ends the stream with an error; nobody may be there to hear it.
    pub(super) fn fail(&self, status: impl Into<Status>) {
        drop(self.out.try_send(Err(status.into())));
    }

    /// True if nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.out.is_closed()
    }

    /// Ready when nobody reads any more.
    pub(super) async fn closed(&self) {
        self.out.closed().await;
    }
}

impl Gone {
    /// As the stream's last word. `remedy` says how to go on.
    pub(super) fn refusal(self, reason: &'static str, remedy: &str) -> Refusal {
        match self {
            Self::Closed => Refusal::cancelled(),
            Self::Slow(seconds) => {
                let message = format!("nothing was read for {seconds} s: {remedy}");
                Refusal::new(Code::Aborted, reason, message)
            }
        }
    }
}
