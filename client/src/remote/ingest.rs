//! Many batches through one stream, sent again after the stream breaks.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use amem_proto::answer::{Code, Refusal, Result};
use amem_proto::limits::ANSWER_BYTES_MAX;
use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::brain::Brain;
use super::call::{identify, refused};
use super::retry::{Attempts, is_passing};
use crate::limits::BATCHES_WAITING_MAX;

struct PendingBatch {
    /// Its index among all batches.
    at: usize,
    message: v1::IngestStreamRequest,
    /// It may have been executed.
    is_sent: bool,
    /// When it first failed.
    failed: Option<Instant>,
}

impl PendingBatch {
    fn request_id(&self) -> &str {
        let options = self.message.batch.as_ref().and_then(|b| b.options.as_ref());
        options.map_or("", |options| &options.request_id)
    }

    /// The outcome if the ingest ends before its answer.
    fn unanswered(&self, end: &Refusal) -> Refusal {
        let refusal = if self.is_sent {
            Refusal::new(
                Code::Unavailable,
                "OUTCOME_UNKNOWN",
                format!("the outcome of the batch is unknown: {end}"),
            )
        } else {
            end.clone()
        };
        refusal.with("request_id", self.request_id())
    }
}

struct OpenStream {
    to: mpsc::Sender<v1::IngestStreamRequest>,
    answers: Streaming<v1::IngestStreamResponse>,
    /// Sent and not answered, in order.
    sent: VecDeque<PendingBatch>,
}

struct StreamedIngest<'b, T> {
    brain: &'b Brain,
    /// Called once for each batch.
    answered: T,
    /// To be sent again, before new batches.
    again: VecDeque<PendingBatch>,
    stream: Option<OpenStream>,
    attempts: Attempts,
    /// The pause to take once outstanding answers are here.
    pause: Option<Duration>,
}

impl Brain {
    /// Ingests batches in order through a stream, up to eight ahead of their answers. `answered` is called with the
    /// index of each batch and its outcome, before this returns; a refusal has the batch's "request_id" in its
    /// metadata.
    ///
    /// A batch whose outcome is unknown, because the stream broke or the daemon said so, is sent again with the same
    /// request id and made once; later batches may be made before it. A refused batch ends nothing; a temporary refusal
    /// is retried first. Returns the first refusal of the stream that retries cannot help; batches sent and not
    /// answered get OUTCOME_UNKNOWN.
    pub async fn ingest_all(
        &self,
        batches: impl IntoIterator<Item = v1::IngestRequest>,
        answered: impl FnMut(usize, Result<v1::IngestResponse>),
    ) -> Result<()> {
        let mut ingest = StreamedIngest {
            brain: self,
            answered,
            again: VecDeque::new(),
            stream: None,
            attempts: Attempts::new(self.shared.client.retry()),
            pause: None,
        };
        let ended = ingest.run(&mut batches.into_iter().enumerate()).await;
        if let Err(end) = &ended {
            ingest.tell_unanswered(end);
        }
        ended
    }
}

impl<T: FnMut(usize, Result<v1::IngestResponse>)> StreamedIngest<'_, T> {
    async fn run(
        &mut self,
        batches: &mut impl Iterator<Item = (usize, v1::IngestRequest)>,
    ) -> Result<()> {
        loop {
            let waiting = self.stream.as_ref().map_or(0, |stream| stream.sent.len());
            if self.pause.is_none()
                && waiting < BATCHES_WAITING_MAX
                && let Some(batch) = self.next(batches)
            {
                if let Err(refusal) = self.send(batch).await {
                    self.broken(refusal)?;
                }
                continue;
            }
            match &mut self.stream {
                Some(stream) if waiting > 0 => match stream.receive().await {
                    Ok((batch, outcome)) => self.answer(batch, outcome),
                    Err(refusal) => self.broken(refusal)?,
                },
                _ => match self.pause.take() {
                    Some(pause) => tokio::time::sleep(pause).await,
                    None => return Ok(()),
                },
            }
        }
    }

    /// The next batch to send; invalid ones are refused and skipped.
    fn next(
        &mut self,
        batches: &mut impl Iterator<Item = (usize, v1::IngestRequest)>,
    ) -> Option<PendingBatch> {
        if let Some(batch) = self.again.pop_front() {
            return Some(batch);
        }
        for (at, mut request) in batches {
            identify(request.options.get_or_insert_default());
            let named = self.brain.name_it(&mut request.brain);
            let batch = PendingBatch {
                at,
                message: v1::IngestStreamRequest {
                    batch: Some(request),
                },
                is_sent: false,
                failed: None,
            };
            match named.and_then(|()| check_size(&batch.message)) {
                Ok(()) => return Some(batch),
                Err(refusal) => self.tell(&batch, Err(refusal)),
            }
        }
        None
    }

    fn tell(&mut self, batch: &PendingBatch, outcome: Result<v1::IngestResponse>) {
        let outcome = outcome.map_err(|refusal| refusal.with("request_id", batch.request_id()));
        if let Ok(done) = &outcome {
            self.brain.shared.seen().saw_commit(done.commit.as_ref());
        }
        (self.answered)(batch.at, outcome);
    }

    fn answer(&mut self, mut batch: PendingBatch, outcome: Result<v1::IngestResponse>) {
        let Err(refusal) = &outcome else {
            self.attempts.progress();
            return self.tell(&batch, outcome);
        };
        let failed = *batch.failed.get_or_insert_with(Instant::now);
        let until = self.brain.shared.client.retry().until;
        if is_passing(refusal) && failed.elapsed() < until {
            // Batches refused together share one pause.
            if self.pause.is_none() {
                self.pause = self.attempts.pause(refusal);
            }
            if self.pause.is_some() {
                return self.again.push_back(batch);
            }
        }
        // Retrying has taken too long, or does not help.
        if !is_passing(refusal) {
            self.attempts.progress();
        }
        self.tell(&batch, outcome);
    }

    /// Keeps what was not answered, to be sent again.
    fn broken(&mut self, refusal: Refusal) -> Result<()> {
        if let Some(stream) = self.stream.take() {
            for mut batch in stream.sent.into_iter().rev() {
                batch.failed.get_or_insert_with(Instant::now);
                self.again.push_front(batch);
            }
        }
        match self.attempts.pause(&refusal) {
            Some(pause) => {
                self.pause = Some(pause);
                Ok(())
            }
            None => Err(refusal),
        }
    }

    fn tell_unanswered(&mut self, end: &Refusal) {
        let mut left: Vec<PendingBatch> = self.again.drain(..).collect();
        left.sort_by_key(|batch| batch.at);
        for batch in left {
            let refusal = batch.unanswered(end);
            self.tell(&batch, Err(refusal));
        }
    }

    /// Opens a stream if needed.
    async fn send(&mut self, mut batch: PendingBatch) -> Result<()> {
        if self.stream.is_none() {
            match self.open_stream().await {
                Ok(opened) => self.stream = Some(opened),
                Err(refusal) => {
                    self.again.push_front(batch);
                    return Err(refusal);
                }
            }
        }
        let Some(open) = &mut self.stream else {
            return Ok(());
        };
        let message = batch.message.clone();
        batch.is_sent = true;
        open.sent.push_back(batch);
        if open.to.send(message).await.is_ok() {
            return Ok(());
        }
        // The stream has ended; its last answers say why.
        let (batch, outcome) = open.receive().await?;
        self.answer(batch, outcome);
        Ok(())
    }

    async fn open_stream(&self) -> Result<OpenStream> {
        let (to, from) = mpsc::channel(BATCHES_WAITING_MAX);
        let mut memory = self.brain.shared.client.memory();
        let answers = memory.ingest_stream(ReceiverStream::new(from)).await;
        Ok(OpenStream {
            to,
            answers: answers.map_err(refused)?.into_inner(),
            sent: VecDeque::new(),
        })
    }
}

impl OpenStream {
    async fn receive(&mut self) -> Result<(PendingBatch, Result<v1::IngestResponse>)> {
        let ended = |why: &str| {
            let message = format!("the stream ended: {why}");
            Refusal::new(Code::Unavailable, "CONNECTION_LOST", message)
        };
        let answer = match self.answers.message().await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err(ended("some batches were not answered")),
            Err(status) => return Err(refused(status)),
        };
        let Some(outcome) = answer.result else {
            return Err(ended("an answer is empty"));
        };
        let batch = self.sent.pop_front();
        let batch = batch.ok_or_else(|| ended("an answer belongs to no batch"))?;
        match outcome {
            Outcome::Done(done) => Ok((batch, Ok(done))),
            Outcome::Failure(failure) => Ok((batch, Err(failure.into()))),
        }
    }
}

/// Refuses a batch over the daemon's limit, which would end the stream for all.
fn check_size(message: &v1::IngestStreamRequest) -> Result<()> {
    let bytes = message.encoded_len();
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("the batch has {bytes} bytes, more than the limit of {ANSWER_BYTES_MAX}: split it");
    let code = Code::ResourceExhausted;
    Err(Refusal::new(code, "MESSAGE_SIZE", message))
}
