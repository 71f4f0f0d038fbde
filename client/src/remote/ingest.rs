//! Many batches through one stream, sent again where the stream broke.

use std::collections::VecDeque;

use amem_proto::answer::{Refusal, Result};
use amem_proto::v1;
use amem_proto::v1::ingest_stream_response::Result as Outcome;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;

use super::brain::{Brain, identify};
use super::call::refused;
use super::retry::{Attempts, is_passing};
use crate::limits::BATCHES_WAITING_MAX;

/// A batch and its place among all.
type Batch = (usize, v1::IngestRequest);

/// An open stream.
struct Stream {
    to: mpsc::Sender<v1::IngestStreamRequest>,
    answers: Streaming<v1::IngestStreamResponse>,
    /// Sent in this stream and not answered, in order.
    sent: VecDeque<Batch>,
}

impl Brain {
    /// Ingests batches one after the other through a stream, up to eight ahead of their answers. `answered` is told the
    /// place of each batch and what became of it.
    ///
    /// A batch whose outcome is unknown, because the stream broke or the daemon said so, is sent again with the same
    /// request id, and done once; later ones may be done before it. Ends at the first refusal that no further attempt
    /// helps, if it is of the stream; a refused batch ends nothing.
    pub async fn ingest_all(
        &self,
        batches: impl IntoIterator<Item = v1::IngestRequest>,
        mut answered: impl FnMut(usize, Result<v1::IngestResponse>),
    ) -> Result<()> {
        let mut batches = batches.into_iter().enumerate();
        // To be sent before anything new.
        let mut again: VecDeque<Batch> = VecDeque::new();
        let mut attempts = Attempts::new(self.shared.client.retry());
        let mut stream: Option<Stream> = None;
        loop {
            let waiting = stream.as_ref().map_or(0, |stream| stream.sent.len());
            let next = match waiting < BATCHES_WAITING_MAX {
                true => match again.pop_front() {
                    Some(batch) => Some(batch),
                    None => self.take(&mut batches)?,
                },
                false => None,
            };
            let step = match next {
                Some(batch) => self.send(&mut stream, batch).await,
                None if waiting == 0 => return Ok(()),
                None => match &mut stream {
                    Some(stream) => stream.receive().await.map(Some),
                    None => Ok(None),
                },
            };
            let broken = match step {
                Ok(None) => continue,
                Ok(Some((batch, outcome))) => match outcome {
                    Err(refusal) if is_passing(&refusal) => {
                        again.push_back(batch);
                        attempts.wait(refusal).await?;
                        continue;
                    }
                    outcome => {
                        attempts.progress();
                        self.saw_ingested(&outcome);
                        answered(batch.0, outcome);
                        continue;
                    }
                },
                Err((unsent, refusal)) => {
                    if let Some(stream) = stream.take() {
                        for batch in stream.sent.into_iter().rev() {
                            again.push_front(batch);
                        }
                    }
                    again.extend(unsent);
                    refusal
                }
            };
            attempts.wait(broken).await?;
        }
    }

    /// The next batch, named and identified.
    fn take(&self, batches: &mut impl Iterator<Item = Batch>) -> Result<Option<Batch>> {
        let Some((at, mut batch)) = batches.next() else {
            return Ok(None);
        };
        self.name_it(&mut batch.brain)?;
        identify(batch.options.get_or_insert_default());
        Ok(Some((at, batch)))
    }

    fn saw_ingested(&self, outcome: &Result<v1::IngestResponse>) {
        let commit = outcome.as_ref().ok().and_then(|done| done.commit.as_ref());
        self.shared.saw(commit.map(|commit| commit.lsn));
    }

    /// Sends a batch, through a new stream if there is none.
    async fn send(
        &self,
        stream: &mut Option<Stream>,
        batch: Batch,
    ) -> Result<Option<(Batch, Result<v1::IngestResponse>)>, (Option<Batch>, Refusal)> {
        let open = match stream {
            Some(open) => open,
            None => match self.open_stream().await {
                Ok(opened) => stream.insert(opened),
                Err(refusal) => return Err((Some(batch), refusal)),
            },
        };
        let message = v1::IngestStreamRequest {
            batch: Some(batch.1.clone()),
        };
        open.sent.push_back(batch);
        if open.to.send(message).await.is_ok() {
            return Ok(None);
        }
        // The stream has ended; its last answers, and its end, say why.
        open.receive().await.map(Some)
    }

    async fn open_stream(&self) -> Result<Stream> {
        let (to, from) = mpsc::channel(BATCHES_WAITING_MAX);
        let mut memory = self.shared.client.memory();
        let answers = memory.ingest_stream(ReceiverStream::new(from)).await;
        Ok(Stream {
            to,
            answers: answers.map_err(refused)?.into_inner(),
            sent: VecDeque::new(),
        })
    }
}

impl Stream {
    /// The next answer.
    async fn receive(
        &mut self,
    ) -> Result<(Batch, Result<v1::IngestResponse>), (Option<Batch>, Refusal)> {
        let ended = |why: &str| {
            let code = tonic::Code::Unavailable;
            Refusal::new(code, "CONNECTION_LOST", format!("the stream ended: {why}"))
        };
        let answer = match self.answers.message().await {
            Ok(Some(answer)) => answer,
            Ok(None) => return Err((None, ended("not every batch was answered"))),
            Err(status) => return Err((None, refused(status))),
        };
        let Some(batch) = self.sent.pop_front() else {
            return Err((None, ended("an answer is of no batch")));
        };
        match answer.result {
            Some(Outcome::Done(done)) => Ok((batch, Ok(done))),
            Some(Outcome::Failure(failure)) => Ok((batch, Err(failure.into()))),
            None => Err((Some(batch), ended("an answer says nothing"))),
        }
    }
}
