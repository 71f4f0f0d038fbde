//! Many batches through one stream, sent again where the stream broke.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use amem_proto::answer::{Refusal, Result};
use amem_proto::limits::ANSWER_BYTES_MAX;
use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use prost::Message;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};

use super::brain::Brain;
use super::call::{identify, refused};
use super::retry::{Attempts, is_passing};
use crate::limits::BATCHES_WAITING_MAX;

/// A batch that was taken.
struct PendingBatch {
    /// Its place among all.
    at: usize,
    message: v1::IngestStreamRequest,
    /// It may have been executed.
    is_sent: bool,
    /// When it failed first.
    failed: Option<Instant>,
}

impl PendingBatch {
    fn request_id(&self) -> &str {
        let options = self.message.batch.as_ref().and_then(|b| b.options.as_ref());
        options.map_or("", |options| &options.request_id)
    }

    /// What is told of it when the whole ends before it was answered.
    fn unanswered(&self, end: &Refusal) -> Refusal {
        let refusal = match self.is_sent {
            true => Refusal::new(
                Code::Unavailable,
                "OUTCOME_UNKNOWN",
                format!("whether the batch was ingested is not known: {end}"),
            ),
            false => end.clone(),
        };
        refusal.with("request_id", self.request_id())
    }
}

/// An open stream.
struct OpenStream {
    to: mpsc::Sender<v1::IngestStreamRequest>,
    answers: Streaming<v1::IngestStreamResponse>,
    /// Sent in this stream and not answered, in order.
    sent: VecDeque<PendingBatch>,
}

/// An ingest under way.
struct StreamedIngest<'b, T> {
    brain: &'b Brain,
    /// Told of each batch that was taken, once.
    answered: T,
    /// To be sent before anything new.
    again: VecDeque<PendingBatch>,
    stream: Option<OpenStream>,
    attempts: Attempts,
    /// How long nothing is sent, once the answers to what was sent are here.
    pause: Option<Duration>,
}

impl Brain {
    /// Ingests batches one after the other through a stream, up to eight ahead of their answers. `answered` is told the
    /// place of each batch that was taken and what became of it, before this returns; a refusal has the batch's
    /// "request_id" in its metadata.
    ///
    /// A batch whose outcome is unknown, because the stream broke or the daemon said so, is sent again with the same
    /// request id, and done once; later ones may be done before it. A refused batch ends nothing, nor does one that is
    /// refused for the moment until it is told so. Ends at the first refusal of the stream that no further attempt
    /// helps; of batches that were sent and not answered, OUTCOME_UNKNOWN is told then.
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

    /// The next batch to be sent. One that can't be is refused, and the one behind it is next.
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

    /// Tells what became of a batch.
    fn tell(&mut self, batch: &PendingBatch, outcome: Result<v1::IngestResponse>) {
        let outcome = outcome.map_err(|refusal| refusal.with("request_id", batch.request_id()));
        if let Ok(done) = &outcome {
            self.brain.shared.seen().saw_commit(done.commit.as_ref());
        }
        (self.answered)(batch.at, outcome);
    }

    /// An answer came.
    fn answer(&mut self, mut batch: PendingBatch, outcome: Result<v1::IngestResponse>) {
        let Err(refusal) = &outcome else {
            self.attempts.progress();
            return self.tell(&batch, outcome);
        };
        let failed = *batch.failed.get_or_insert_with(Instant::now);
        let until = self.brain.shared.client.retry().until;
        if is_passing(refusal) && failed.elapsed() < until {
            // Those that are refused together wait together: one attempt, one pause.
            if self.pause.is_none() {
                self.pause = self.attempts.pause(refusal);
            }
            if self.pause.is_some() {
                return self.again.push_back(batch);
            }
        }
        // It had its time, or no time helps; the others have theirs.
        if !is_passing(refusal) {
            self.attempts.progress();
        }
        self.tell(&batch, outcome);
    }

    /// The stream is no more: what was not answered is to be sent again.
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

    /// Sends a batch, through a new stream if there is none.
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
        // The stream has ended; its last answers, and its end, say why.
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
    /// The next answer.
    async fn receive(&mut self) -> Result<(PendingBatch, Result<v1::IngestResponse>)> {
        let ended = |why: &str| {
            let message = format!("the stream ended: {why}");
            Refusal::new(Code::Unavailable, "CONNECTION_LOST", message)
        };
        let answer = match self.answers.message().await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err(ended("not every batch was answered")),
            Err(status) => return Err(refused(status)),
        };
        let Some(outcome) = answer.result else {
            return Err(ended("an answer says nothing"));
        };
        let batch = self.sent.pop_front();
        let batch = batch.ok_or_else(|| ended("an answer is of no batch"))?;
        match outcome {
            Outcome::Done(done) => Ok((batch, Ok(done))),
            Outcome::Failure(failure) => Ok((batch, Err(failure.into()))),
        }
    }
}

/// Refuses a batch that the daemon would not take in: it would end the stream for all.
fn check_size(message: &v1::IngestStreamRequest) -> Result<()> {
    let bytes = message.encoded_len();
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(());
    }
    let message = format!(
        "the batch has {bytes} bytes, more than the limit of {ANSWER_BYTES_MAX}: make several of it"
    );
    let code = Code::ResourceExhausted;
    Err(Refusal::new(code, "MESSAGE_SIZE", message))
}
