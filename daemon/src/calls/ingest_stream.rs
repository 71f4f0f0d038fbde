//! IngestStream: batches go to the writer one after the other while earlier ones become durable; answers are in order.
//!
//! Promises: an enqueued batch is executed, whether or not its answer is read; a stream that ends before
//! every batch was answered ends with a refusal.

use amem_engine::tasks::spawn_part;
use std::sync::Arc;

use amem_proto::answer::Code;
use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::{Stream, StreamExt};

use super::answers::{AnswerSender, AnswerStream, SendError};
use super::gateway::Gateway;
use super::memory::{EnqueuedChange, PendingChange, Write};
use super::validate::Validate;
use crate::auth::Caller;
use crate::limits::{INGEST_STREAMS_MAX, STREAM_AFTER, STREAM_BATCHES_MAX};
use crate::refusal::{Refusal, Result};

/// An enqueued batch, or why it is refused.
type EnqueueResult = Result<EnqueuedChange>;

/// The answers to a stream of batches.
pub(crate) fn ingest(
    gateway: Arc<Gateway>,
    caller: Caller,
    batches: impl Stream<Item = Result<v1::IngestStreamRequest>> + Unpin + Send + 'static,
) -> Result<AnswerStream<v1::IngestStreamResponse>> {
    let turn = gateway.streams.take(&caller, 1, INGEST_STREAMS_MAX as u64);
    let turn = turn.map_err(|why| {
        let message = format!("too many streams of batches are open ({why}): retry later");
        Refusal::new(Code::ResourceExhausted, "LOAD", message)
    })?;
    let (sent, mut waiting) = mpsc::channel(STREAM_BATCHES_MAX);
    let (answers, out) = AnswerSender::new(gateway.answers_to(&caller), STREAM_BATCHES_MAX);
    let sending = spawn_part(send_all(gateway, caller, batches, sent));
    let answer = async move {
        let _turn = turn;
        let end = match answer_all(&mut waiting, &answers).await {
            Ok(()) => match sending.await {
                Ok(end) => end,
                Err(_) => Err(Refusal::internal("a defect stopped the stream")),
            },
            Err(gone) => {
                sending.abort();
                let remedy = "the daemon executes what it received: send unanswered batches again, with their request_ids";
                Err(gone.refusal("SLOW_READER", remedy))
            }
        };
        if let Err(refusal) = end {
            answers.fail(refusal);
        }
        drop(answers);
        // The writer skips a batch whose answer is dropped.
        while let Some(batch) = waiting.recv().await {
            if let Ok(enqueued) = batch {
                drop(enqueued.done().await);
            }
        }
    };
    spawn_part(answer);
    Ok(out)
}

/// Enqueues batches, at most as many ahead of their answers as `to` has room for.
async fn send_all(
    gateway: Arc<Gateway>,
    caller: Caller,
    mut batches: impl Stream<Item = Result<v1::IngestStreamRequest>> + Unpin,
    to: mpsc::Sender<EnqueueResult>,
) -> Result<()> {
    let mut stop = gateway.stop.clone();
    loop {
        let Ok(place) = to.reserve().await else {
            return Ok(());
        };
        let batch = tokio::select! {
            batch = in_time(batches.try_next()) => batch?,
            _ = stop.wait_for(|stop| *stop) => {
                let message = "the daemon is stopping: send unanswered batches again";
                return Err(Refusal::new(Code::Unavailable, "CLOSING", message));
            }
        };
        let Some(batch) = batch else {
            return Ok(());
        };
        place.send(enqueue(&gateway, &caller, batch).await);
    }
}

/// The next batch; SLOW_SENDER if it does not come in time.
async fn in_time<T>(next: impl Future<Output = Result<T>>) -> Result<T> {
    match timeout(STREAM_AFTER, next).await {
        Ok(next) => next,
        Err(_) => {
            let seconds = STREAM_AFTER.as_secs();
            let message = format!("no batch arrived for {seconds} s: open a new stream");
            Err(Refusal::new(Code::DeadlineExceeded, "SLOW_SENDER", message))
        }
    }
}

async fn enqueue(
    gateway: &Gateway,
    caller: &Caller,
    message: v1::IngestStreamRequest,
) -> EnqueueResult {
    let batch = message.validate()?;
    PendingChange::prepare(gateway, caller, batch)
        .await?
        .enqueue()
        .await
}

impl Validate for v1::IngestStreamRequest {
    type Valid = v1::IngestRequest;

    fn validate(self) -> Result<v1::IngestRequest> {
        let none = || Refusal::invalid("batch", "a message of the stream has no batch");
        self.batch.ok_or_else(none)
    }
}

/// AnswerStream batches in order, as long as the answers are read.
async fn answer_all(
    waiting: &mut mpsc::Receiver<EnqueueResult>,
    answers: &AnswerSender<v1::IngestStreamResponse>,
) -> Result<(), SendError> {
    let mut batch_index = 0;
    while let Some(batch) = waiting.recv().await {
        let committed = match batch {
            Ok(enqueued) => enqueued.done().await,
            Err(refusal) => Err(refusal),
        };
        let result = match committed {
            Ok(done) => Outcome::Done(v1::IngestRequest::answer(&done)),
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
        let refusal = in_time(after(STREAM_AFTER + second)).await.unwrap_err();
        assert_eq!(begun.elapsed().as_secs(), STREAM_AFTER.as_secs());
        assert_eq!(refusal.code, Code::DeadlineExceeded);
        let message = &refusal.message;
        assert!(message.contains("600 s: open a new stream"), "{message}");
    }
}
