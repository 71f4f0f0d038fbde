//! MemoryService: every call is one request to a brain's writer.

use std::sync::Arc;
use std::time::Duration;

use amem_format::summary::{SUMMARY_BYTES, summary};
use amem_format::{Lsn, NodeId, SessionId};
use amem_proto::v1;
use amem_proto::v1::memory_service_server::MemoryService;
use amem_store::Mutation;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};
use uuid::Uuid;

use super::merge::{Looked, refuse_kept};
use super::{Service, ingest_stream, parts, subscribe};
use crate::access::Caller;
use crate::calls::{Asks, Says, commit};
use crate::holders::Holder;
use crate::limits::{READERS_WAIT, READERS_WAIT_MAX};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};
use crate::replaced::Released;
use crate::writer::Written;

impl Service {
    /// Has the mutation executed that a message asks for.
    async fn write<M: Asks>(&self, request: Request<M>) -> Result<Done> {
        let (caller, message) = parts(request)?;
        self.write_as(&caller, message).await
    }

    async fn write_as<M: Asks>(&self, caller: &Caller, message: M) -> Result<Done> {
        let bytes = message.encoded_len();
        let (name, mut request) = message.into_request(&caller.principal)?;
        let brain = self.0.brains.get(caller, &name).await?;
        if let Mutation::Compress { session, text, .. } = &mut request.mutation
            && text.trim().is_empty()
        {
            *text = self.summary(caller, &brain, *session).await?;
            // The session may go on: a retry says the same, and has another summary.
            request.said = Some(format!("a summary of session {session}"));
        }
        let erased = match &request.mutation {
            Mutation::Erase(ids) => Some((ids.clone(), brain.view())),
            _ => None,
        };
        let Some((ids, view)) = erased else {
            let written = brain.write(request, bytes).await?;
            return Ok(Done { brain, written });
        };
        let refuse = |looked| refuse_kept(&self.0, caller, &brain, view.clone(), &ids, looked);
        let looked = refuse(Looked::new()).await?;
        let id = request.request_id;
        let written = brain.write(request, bytes).await?;
        if let (Some(id), true) = (id, written.answer.replayed) {
            check_erased(&brain, &ids, id, written.answer.lsn)?;
        }
        // A copy may have taken the brain's name since, and have what was erased.
        drop(refuse(looked).await?);
        Ok(Done { brain, written })
    }

    /// Erases, and waits for those who have the content elsewhere than in the brain's file.
    async fn erase_whole(&self, request: Request<v1::EraseRequest>) -> Result<v1::EraseResponse> {
        let (caller, message) = parts(request)?;
        let (name, within) = (message.brain.clone(), message.said()?);
        let done = self.write_as(&caller, message).await?;
        // Who sends the old file elsewhere ends at its next part.
        drop(done.brain.sending.write().await);
        let generation = done.written.generation;
        let instance = done.brain.view().instance();
        let replaced = self.0.brains.replaced();
        let released = replaced.released(instance, generation, within).await;
        let mut response = v1::EraseResponse {
            commit: done.commit(),
            episode_ids: done.written.answer.related.iter().map(|id| id.0).collect(),
            generation: generation.0,
            ..v1::EraseResponse::default()
        };
        match released {
            Released::At(at) => response.readers_gone = Some(at.into()),
            Released::HeldBy(holders) => {
                response.holders = holders.into_iter().map(holder).collect();
                let processes: Vec<_> = response.holders.iter().map(|h| h.process_id).collect();
                tracing::warn!(
                    brain = name,
                    ?processes,
                    "readers still have a file open with what was erased"
                );
            }
            Released::Unknown(why) => response.readers_unknown = why,
        }
        Ok(response)
    }
}

impl Says for &v1::EraseRequest {
    type What = Duration;

    /// How long readers of earlier files are waited for.
    fn said(self) -> Result<Duration> {
        let Some(asked) = self.reader_wait else {
            return Ok(READERS_WAIT);
        };
        let within = Duration::try_from(asked);
        let within = within.map_err(|e| Refusal::invalid("reader_wait", e.to_string()))?;
        if within > READERS_WAIT_MAX {
            let why = format!(
                "{within:?} is more than {READERS_WAIT_MAX:?}, the most there is: ask again afterwards"
            );
            return Err(Refusal::invalid("reader_wait", why));
        }
        Ok(within)
    }
}

fn holder(holder: Holder) -> v1::FileHolder {
    v1::FileHolder {
        process_id: holder.process,
        program: holder.program,
    }
}

impl Service {
    /// What a session comes to, in sentences of its own.
    async fn summary(
        &self,
        caller: &Caller,
        brain: &OpenBrain,
        session: SessionId,
    ) -> Result<String> {
        let view = brain.view();
        let made = self
            .0
            .scans
            .of(&caller.principal)
            .run(move || Ok(summary(&view, session, SUMMARY_BYTES)?));
        made.await?.ok_or_else(|| {
            let why = format!(
                "session {session} has no sentence that a summary could be made of: give a text"
            );
            Refusal::invalid("text", why)
        })
    }
}

/// An executed request.
struct Done {
    brain: Arc<OpenBrain>,
    written: Written,
}

impl Done {
    fn commit(&self) -> Option<v1::Commit> {
        Some(commit(self.brain.view().instance(), &self.written.answer))
    }

    /// The first event that was made.
    fn event_id(&self) -> u64 {
        self.written.answer.ids.first().map_or(0, |id| id.0)
    }
}

/// What an executed batch is answered.
pub(super) fn ingested(brain: &OpenBrain, written: &Written) -> v1::IngestResponse {
    v1::IngestResponse {
        commit: Some(commit(brain.view().instance(), &written.answer)),
        event_ids: written.answer.ids.iter().map(|id| id.0).collect(),
        edges: written.answer.edges,
    }
}

/// A request from before an erase is known by its id alone: an erase under the id of another one would be told that
/// it is done.
fn check_erased(brain: &OpenBrain, ids: &[NodeId], id: Uuid, lsn: Lsn) -> Result<()> {
    let view = brain.view();
    for event in ids {
        if !view.node(*event)?.is_erased() {
            return Err(amem_store::Error::RequestReused { id, lsn }.into());
        }
    }
    Ok(())
}

/// Calls that are answered by a commit and little else.
macro_rules! calls {
    ($($call:ident($request:ident) -> $response:ident { $($field:ident: $value:expr),* $(,)? } from $done:ident;)*) => {
        #[tonic::async_trait]
        impl MemoryService for Service {
            type IngestStreamStream = ReceiverStream<Result<v1::IngestStreamResponse, Status>>;

            async fn ingest_stream(
                &self,
                request: Request<Streaming<v1::IngestStreamRequest>>,
            ) -> Result<Response<Self::IngestStreamStream>, Status> {
                let (caller, batches) = parts(request)?;
                let answers = ingest_stream::ingest(self.0.clone(), caller, batches)?;
                Ok(Response::new(answers))
            }

            type SubscribeStream = ReceiverStream<Result<v1::SubscribeResponse, Status>>;

            async fn subscribe(
                &self,
                request: Request<v1::SubscribeRequest>,
            ) -> Result<Response<Self::SubscribeStream>, Status> {
                let (caller, request) = parts(request)?;
                Ok(Response::new(subscribe::follow(&self.0, &caller, request).await?))
            }

            async fn erase(
                &self,
                request: Request<v1::EraseRequest>,
            ) -> Result<Response<v1::EraseResponse>, Status> {
                Ok(Response::new(self.erase_whole(request).await?))
            }

            $(async fn $call(
                &self,
                request: Request<v1::$request>,
            ) -> Result<Response<v1::$response>, Status> {
                let $done = self.write(request).await?;
                Ok(Response::new(v1::$response {
                    commit: $done.commit(),
                    $($field: $value,)*
                }))
            })*
        }
    };
}

calls! {
    ingest(IngestRequest) -> IngestResponse {
        event_ids: done.written.answer.ids.iter().map(|id| id.0).collect(),
        edges: done.written.answer.edges,
    } from done;
    correct(CorrectRequest) -> CorrectResponse {
        event_id: done.event_id(),
        target_id: done.written.answer.target.unwrap_or_default().0,
    } from done;
    link(LinkRequest) -> LinkResponse {} from done;
    unlink(UnlinkRequest) -> UnlinkResponse {} from done;
    touch(TouchRequest) -> TouchResponse {} from done;
    pin(PinRequest) -> PinResponse {} from done;
    unpin(UnpinRequest) -> UnpinResponse {} from done;
    forget(ForgetRequest) -> ForgetResponse {} from done;
    restore(RestoreRequest) -> RestoreResponse {} from done;
    compress_session(CompressSessionRequest) -> CompressSessionResponse {
        event_id: done.event_id(),
        edges: done.written.answer.edges,
    } from done;
    set_vector(SetVectorRequest) -> SetVectorResponse {} from done;
    set_attributes(SetAttributesRequest) -> SetAttributesResponse {} from done;
    decay(DecayRequest) -> DecayResponse {} from done;
    open_session(OpenSessionRequest) -> OpenSessionResponse {
        session_id: done.written.answer.session.unwrap_or_default().0,
    } from done;
    close_session(CloseSessionRequest) -> CloseSessionResponse {} from done;
    set_settings(SetSettingsRequest) -> SetSettingsResponse {} from done;
}
