//! Changes: a request becomes a command for the brain's writer, and the commit its answer.

use std::sync::Arc;

use amem_format::{NodeId, SessionId};
use amem_proto::answer::{Code, timestamp};
use amem_proto::v1;
use amem_query::summary::{has_uncovered, summarised};
use amem_store::Mutation;
use amem_store::mutation::{Answer, Request};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::command::IntoCommand;
use super::gateway::Gateway;
use crate::auth::Caller;
use crate::refusal::{Refusal, Result};
use amem_engine::CommitAnswer;
use amem_engine::OpenBrain;

/// A change that can be executed and answered.
pub(crate) trait Write: IntoCommand {
    /// The answer to an executed change.
    fn answer(done: &CommittedChange) -> Self::Answer;

    /// Executes the change, and answers once it is durable.
    fn write(
        self,
        gateway: &Gateway,
        caller: &Caller,
    ) -> impl Future<Output = Result<Self::Answer>> + Send {
        async move {
            let command = PendingChange::prepare(gateway, caller, self).await?;
            Ok(Self::answer(&command.execute().await?))
        }
    }
}

impl Gateway {
    /// Executes a change, and answers once it is durable.
    pub(crate) async fn write_as<W: Write>(&self, caller: &Caller, change: W) -> Result<W::Answer> {
        change.write(self, caller).await
    }
}

/// A checked change on its way to the writer of its brain.
pub(super) struct PendingChange {
    pub(super) brain: Arc<OpenBrain>,
    pub(super) request: Request,
    /// Size of the message, for the queue of the writer.
    bytes: usize,
}

impl PendingChange {
    /// Checks a change and opens its brain.
    pub(super) async fn prepare<C: IntoCommand>(
        gateway: &Gateway,
        caller: &Caller,
        change: C,
    ) -> Result<Self> {
        let bytes = change.encoded_len();
        let (name, request) = change.into_command(&caller.principal)?;
        let brain = gateway.brains.get(caller, &name).await?;
        let request = gateway.with_vectors(caller, &brain, request).await?;
        Ok(Self {
            brain,
            request,
            bytes,
        })
    }

    /// Waits until the change is durable; QUEUE_FULL if the queue of the writer is full.
    pub(super) async fn execute(self) -> Result<CommittedChange> {
        let written = self.brain.commit(self.request, self.bytes).await?;
        Ok(CommittedChange {
            brain: self.brain,
            written,
        })
    }

    /// Enqueues the change as soon as the queue has room.
    pub(super) async fn enqueue(self) -> Result<EnqueuedChange> {
        let answered = self
            .brain
            .commit_when_free(self.request, self.bytes)
            .await?;
        Ok(EnqueuedChange {
            brain: self.brain,
            answered,
        })
    }
}

/// A change in the queue of the writer.
pub(super) struct EnqueuedChange {
    brain: Arc<OpenBrain>,
    answered: oneshot::Receiver<amem_engine::Result<CommitAnswer>>,
}

impl EnqueuedChange {
    /// Waits until it is durable.
    pub(super) async fn done(self) -> Result<CommittedChange> {
        let written = self
            .answered
            .await
            .unwrap_or_else(|_| Err(amem_engine::Error::outcome_unknown()))?;
        Ok(CommittedChange {
            brain: self.brain,
            written,
        })
    }
}

/// An executed change.
pub(crate) struct CommittedChange {
    pub(super) brain: Arc<OpenBrain>,
    pub(super) written: CommitAnswer,
}

impl CommittedChange {
    pub(super) fn commit(&self) -> Option<v1::Commit> {
        Some(commit(self.brain.view().instance(), &self.written.answer))
    }

    /// The first new event.
    pub(super) fn event_id(&self) -> u64 {
        self.written.answer.ids.first().map_or(0, |id| id.0)
    }
}

/// The commit that an answer names.
pub(super) fn commit(instance: Uuid, answer: &Answer) -> v1::Commit {
    v1::Commit {
        instance: instance.to_string(),
        lsn: answer.lsn.0,
        time: Some(timestamp(answer.time)),
        replayed: answer.replayed,
    }
}

impl Write for v1::CompressSessionRequest {
    fn answer(done: &CommittedChange) -> v1::CompressSessionResponse {
        v1::CompressSessionResponse {
            commit: done.commit(),
            event_id: done.event_id(),
            edges: done.written.answer.edges,
        }
    }

    /// Without a text, the daemon summarises the session.
    async fn write(self, gateway: &Gateway, caller: &Caller) -> Result<Self::Answer> {
        let mut command = PendingChange::prepare(gateway, caller, self).await?;
        let Mutation::Compress { session, text, .. } = &mut command.request.mutation else {
            return Ok(Self::answer(&command.execute().await?));
        };
        if !text.trim().is_empty() {
            return Ok(Self::answer(&command.execute().await?));
        }
        let session = *session;
        // The session may grow before a retry, which then has another summary: this identifies the request.
        command.request.said = Some(format!("a summary of session {session}"));
        let made = summarise(gateway, caller, &command.brain, session).await?;
        let nothing = match made {
            Ok((summary, of)) => {
                *text = summary;
                command.request.unless_erased = of;
                None
            }
            // The writer refuses a blank summary, unless the request is a retry of one that left nothing to summarise.
            Err(nothing) => Some(nothing),
        };
        match (command.execute().await, nothing) {
            (Ok(done), _) => Ok(Self::answer(&done)),
            (Err(refusal), Some(nothing)) if refusal.code == Code::InvalidArgument => Err(nothing),
            (Err(refusal), _) => Err(refusal),
        }
    }
}

/// The summary of a session and the events that it was made of, or why it has none.
async fn summarise(
    gateway: &Gateway,
    caller: &Caller,
    brain: &OpenBrain,
    session: SessionId,
) -> Result<Result<(String, Vec<NodeId>)>> {
    let view = brain.view();
    let episodes = gateway.episodes.clone();
    // A model may be asked, so that the thread may wait.
    let calls = gateway.fact_calls.of_process(caller);
    let made = calls.run(move || {
        let made = episodes.summary(&view, session)?;
        let of = summarised(&view, session)?;
        Ok((made.map(|text| (text, of)), has_uncovered(&view, session)?))
    });
    Ok(match made.await? {
        (Some(made), _) => Ok(made),
        (None, true) => {
            let why = format!("session {session} has no sentence for a summary: set the text");
            Err(Refusal::invalid("text", why))
        }
        (None, false) => {
            let why = format!("session {session} has no event that is not compressed or forgotten");
            Err(Refusal::invalid("session", why))
        }
    })
}
