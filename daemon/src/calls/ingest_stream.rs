//! IngestStream: batches go to the writer one after the other while earlier ones are being made durable; the
//! answers come in order.
//!
//! Promises: what was given to the writer is executed, whether or not its answers are read; a stream that ends
//! before every batch was answered ends with an error.

use std::sync::Arc;

use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use prost::Message;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};
use tracing::Instrument;

use super::Daemon;
use super::answers::{Gone, Outgoing};
use super::memory::ingested;
use crate::access::Caller;
use crate::calls::{Asks, Says};
use crate::limits::{INGEST_STREAMS_MAX, STREAM_AFTER, STREAM_BATCHES_MAX};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};
use crate::writer::Written;

/// A batch that is with the writer, or why it is not.
type Sent = Result<(Arc<OpenBrain>, oneshot::Receiver<Result<Written>>)>;

/// The answers to a stream of batches.
pub(super) fn ingest(
    daemon: Arc<Daemon>,
    caller: Caller,
    batches: Streaming<v1::IngestStreamRequest>,
) -> Result<ReceiverStream<Result<v1::IngestStreamResponse, Status>>> {
    let turn = daemon.streams.take(&caller, 1, INGEST_STREAMS_MAX as u64);
    let turn = turn.map_err(|why| {
        let message = format!("too many streams of batches are open ({why}): wait and retry");
        Refusal::new(Code::ResourceExhausted, "LOAD", message)
    })?;
    let (sent, mut waiting) = mpsc::channel(STREAM_BATCHES_MAX);
    let (answers, out) = Outgoing::new(&daemon.control, STREAM_BATCHES_MAX);
    let sending = tokio::spawn(send_all(daemon, caller, batches, sent).in_current_span());
    let answer = async move {
        let _turn = turn;
        let end = match answer_all(&mut waiting, &answers).await {
            Ok(()) => match sending.await {
                Ok(end) => end,
                Err(_) => Err(Refusal::internal("a defect stopped the stream").into()),
            },
            Err(gone) => {
                sending.abort();
                let remedy = "what was sent is executed: send what was not answered again, with its request_id";
                Err(gone.refusal("SLOW_READER", remedy).into())
            }
        };
        if let Err(status) = end {
            answers.fail(status);
        }
        drop(answers);
        // The writer passes over what nobody waits for: what it was given is waited for.
        while let Some(sent) = waiting.recv().await {
            if let Ok((_, answered)) = sent {
                drop(answered.await);
            }
        }
    };
    tokio::spawn(answer.in_current_span());
    Ok(out)
}

/// Takes batches and gives them to the writer, at most so many ahead of their answers.
async fn send_all(
    daemon: Arc<Daemon>,
    caller: Caller,
    mut batches: Streaming<v1::IngestStreamRequest>,
    to: mpsc::Sender<Sent>,
) -> Result<(), Status> {
    let mut stop = daemon.stop.clone();
    loop {
        let Ok(place) = to.reserve().await else {
            return Ok(());
        };
        let batch = tokio::select! {
            batch = in_time(batches.message()) => batch?,
            _ = stop.wait_for(|stop| *stop) => {
                let message = "the daemon is stopping: send what was not answered again";
                return Err(Refusal::new(Code::Unavailable, "CLOSING", message).into());
            }
        };
        let Some(batch) = batch else {
            return Ok(());
        };
        place.send(one(&daemon, &caller, batch).await);
    }
}

/// What comes next of a stream, if it comes in time.
async fn in_time<T>(next: impl Future<Output = Result<T, Status>>) -> Result<T, Status> {
    match timeout(STREAM_AFTER, next).await {
        Ok(next) => next,
        Err(_) => {
            let seconds = STREAM_AFTER.as_secs();
            let message = format!("no batch came for {seconds} s: open a new stream");
            Err(Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message).into())
        }
    }
}

async fn one(daemon: &Daemon, caller: &Caller, message: v1::IngestStreamRequest) -> Sent {
    let batch = message.said()?;
    let bytes = batch.encoded_len();
    let (name, request) = batch.into_request(&caller.principal)?;
    let brain = daemon.brains.get(caller, &name).await?;
    let answered = brain.write_when_free(request, bytes).await?;
    Ok((brain, answered))
}

impl Says for v1::IngestStreamRequest {
    type What = v1::IngestRequest;

    fn said(self) -> Result<v1::IngestRequest> {
        let none = || Refusal::invalid("batch", "a message of the stream has none");
        self.batch.ok_or_else(none)
    }
}

/// Answers batches in order, as long as the answers are read.
async fn answer_all(
    waiting: &mut mpsc::Receiver<Sent>,
    answers: &Outgoing<v1::IngestStreamResponse>,
) -> Result<(), Gone> {
    let mut batch_index = 0;
    while let Some(sent) = waiting.recv().await {
        let outcome = match sent {
            Err(refusal) => Err(refusal),
            Ok((brain, answered)) => answered
                .await
                .unwrap_or_else(|_| Err(Refusal::outcome_unknown()))
                .map(|written| ingested(&brain, &written)),
        };
        let result = match outcome {
            Ok(done) => Outcome::Done(done),
            Err(refusal) => Outcome::Failure(refusal.0.into()),
        };
        let response = v1::IngestStreamResponse {
            batch_index,
            result: Some(result),
        };
        answers.send(response).await?;
        batch_index += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::{Instant, sleep};

    #[tokio::test(start_paused = true)]
    async fn a_batch_that_does_not_come_ends_its_stream_and_one_that_comes_late_does_not() {
        let after = |time| async move {
            sleep(time).await;
            Ok(7)
        };
        let second = Duration::from_secs(1);
        assert_eq!(in_time(after(STREAM_AFTER - second)).await.unwrap(), 7);
        let begun = Instant::now();
        let status = in_time(after(STREAM_AFTER + second)).await.unwrap_err();
        assert_eq!(begun.elapsed().as_secs(), STREAM_AFTER.as_secs());
        assert_eq!(status.code(), Code::DeadlineExceeded);
        let message = status.message();
        assert!(message.contains("600 s: open a new stream"), "{message}");
    }
}
