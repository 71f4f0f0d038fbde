//! IngestStream: batches go to the writer one after the other while earlier ones are being made durable; the
//! answers come in order.

use std::sync::Arc;

use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use prost::Message;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status, Streaming};

use super::Daemon;
use super::memory::ingested;
use crate::convert::Asks;
use crate::limits::{SEND_AFTER, STREAM_AFTER, STREAM_BATCHES_MAX};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};
use crate::writer::Written;

/// A batch that is with the writer, or why it is not.
type Sent = Result<(Arc<OpenBrain>, oneshot::Receiver<Result<Written>>)>;

/// The answers to a stream of batches.
pub(super) fn ingest(
    daemon: Arc<Daemon>,
    principal: String,
    batches: Streaming<v1::IngestStreamRequest>,
) -> ReceiverStream<Result<v1::IngestStreamResponse, Status>> {
    let (sent, waiting) = mpsc::channel(STREAM_BATCHES_MAX);
    let (answers, out) = mpsc::channel(STREAM_BATCHES_MAX);
    let sending = tokio::spawn(send(daemon, principal, batches, sent));
    tokio::spawn(async move {
        if answer(waiting, &answers).await.is_none() {
            // The caller is gone: what it sent is executed, what it would have sent is not.
            sending.abort();
            return;
        }
        let end = match sending.await {
            Ok(end) => end,
            Err(_) => Err(Refusal::internal("a defect stopped the stream").into()),
        };
        if let Err(status) = end {
            drop(answers.send(Err(status)).await);
        }
    });
    ReceiverStream::new(out)
}

/// Takes batches and gives them to the writer, at most so many ahead of their answers.
async fn send(
    daemon: Arc<Daemon>,
    principal: String,
    mut batches: Streaming<v1::IngestStreamRequest>,
    to: mpsc::Sender<Sent>,
) -> Result<(), Status> {
    let mut stop = daemon.stop.clone();
    loop {
        let Ok(place) = to.reserve().await else {
            return Ok(());
        };
        let batch = tokio::select! {
            batch = timeout(STREAM_AFTER, batches.message()) => match batch {
                Ok(batch) => batch?,
                Err(_) => {
                    let seconds = STREAM_AFTER.as_secs();
                    let message = format!("no batch came for {seconds} s: open a new stream");
                    return Err(Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message).into());
                }
            },
            _ = stop.wait_for(|stop| *stop) => {
                let message = "the daemon is stopping: send what was not answered again";
                return Err(Refusal::new(Code::Unavailable, "CLOSING", message).into());
            }
        };
        let Some(batch) = batch else {
            return Ok(());
        };
        place.send(one(&daemon, &principal, batch).await);
    }
}

async fn one(daemon: &Daemon, principal: &str, message: v1::IngestStreamRequest) -> Sent {
    let batch = message
        .batch
        .ok_or_else(|| Refusal::invalid("batch", "a message of the stream has none"))?;
    let bytes = batch.encoded_len();
    let (name, request) = batch.into_request(principal)?;
    let brain = daemon.brains.get(&name).await?;
    let answered = brain.write_when_free(request, bytes).await?;
    Ok((brain, answered))
}

/// Answers batches in order; `None` if nobody listens any more.
async fn answer(
    mut waiting: mpsc::Receiver<Sent>,
    answers: &mpsc::Sender<Result<v1::IngestStreamResponse, Status>>,
) -> Option<()> {
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
            Err(refusal) => Outcome::Failure(refusal.into()),
        };
        let response = v1::IngestStreamResponse {
            batch_index,
            result: Some(result),
        };
        // An answer that nobody reads is not waited with for ever: the stream ends, what was sent is executed.
        timeout(SEND_AFTER, answers.send(Ok(response)))
            .await
            .ok()?
            .ok()?;
        batch_index += 1;
    }
    Some(())
}
