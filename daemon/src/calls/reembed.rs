//! The call that embeds a brain again, a portion at a time.

use std::sync::Arc;
use std::time::Instant;

use amem_engine::{Error as EngineError, OpenBrain};
use amem_memory::store::BuiltinEmbedder;
use amem_proto::answer::{Code, moment};
use amem_proto::v1;
use amem_store::{Error as StoreError, EventEmbedder, Reembedding};

use super::gateway::{Gateway, Handle};
use crate::auth::Caller;
use crate::limits::REEMBED_CALL;
use crate::models::{Reembedder, SharedEmbedder};
use crate::refusal::{Refusal, Result};

fn away(why: &str) -> Refusal {
    let message = format!(
        "the embedder does not answer ({why}): once it does, the same command goes on where it stopped"
    );
    Refusal::new(Code::Unavailable, "EMBEDDER", message)
}

impl Gateway {
    fn embedder_for(&self, asked: v1::Embedder) -> Result<SharedEmbedder> {
        let model = self.models.embedder();
        match asked {
            v1::Embedder::Builtin => Ok(Arc::new(BuiltinEmbedder)),
            v1::Embedder::Unspecified => Ok(model.unwrap_or(Arc::new(BuiltinEmbedder))),
            v1::Embedder::Model => model.ok_or_else(|| {
                let message = "the daemon has no embedder of a model: name a file of models in `models.file`, with a \
                    table `[embedder]`";
                Refusal::new(Code::FailedPrecondition, "NO_EMBEDDER", message)
            }),
        }
    }
}

impl Handle for v1::ReembedBrainRequest {
    type Response = v1::ReembedBrainResponse;

    async fn handle(
        request: Self::Valid,
        gateway: &Arc<Gateway>,
        caller: &Caller,
    ) -> Result<Self::Response> {
        let asked = v1::Embedder::try_from(request.embedder).map_err(|_| {
            let why = format!(
                "unknown embedder {}: use BUILTIN or MODEL",
                request.embedder
            );
            Refusal::invalid("embedder", why)
        })?;
        let embedder = gateway.embedder_for(asked)?;
        let brain = gateway.brains.get(caller, &request.brain).await?;
        let mut held = brain.hold_reembedding().ok_or_else(|| {
            let message = format!("another call embeds {:?}: wait for it", request.brain);
            Refusal::new(Code::Aborted, "REEMBEDDING", message)
        })?;
        let on = brain.clone();
        let run = move || {
            let embedder = Arc::new(Reembedder::of(embedder).map_err(|why| away(&why))?);
            let made = held.vectors(&on.view(), embedder.clone())?;
            // The view begins after the file is there: an erase that it does not know removes the file.
            let view = on.view();
            if on.is_closed() {
                return Err(Refusal::from(EngineError::Closed {
                    name: on.name.clone(),
                }));
            }
            let began = Instant::now();
            let mut has_more = true;
            while has_more && began.elapsed() < REEMBED_CALL {
                has_more = made.advance(&view)?;
            }
            Ok((embedder, made, has_more, held))
        };
        let (embedder, made, has_more, mut held) =
            gateway.fact_calls.of_process(caller).run(run).await?;
        let generation = match has_more {
            true => None,
            false => {
                let (on, made) = (brain.clone(), made.clone());
                // Nobody else embeds the brain until the generation is in place, also if this caller leaves.
                let done = amem_engine::tasks::spawn_part(async move {
                    let installed = installed(&on, &made).await;
                    if !matches!(installed, Ok(None)) || !made.is_there().unwrap_or(false) {
                        held.end();
                    }
                    installed
                });
                done.await.map_err(|e| Refusal::internal(e.to_string()))??
            }
        };
        let view = brain.view();
        let embedded = match generation.is_some() || made.is_there()? {
            true => made.embedded().min(view.nodes()),
            false => 0,
        };
        Ok(v1::ReembedBrainResponse {
            moment: Some(moment(&view)),
            embedded,
            events: view.nodes(),
            done: generation.is_some(),
            generation: generation.unwrap_or_default(),
            space: embedder.space().to_string(),
            dimension: embedder.dimension(),
        })
    }
}

/// The number of the generation with the vectors; `None` if another generation or an erase came first, so that the
/// caller asks again.
async fn installed(brain: &OpenBrain, made: &Arc<Reembedding>) -> Result<Option<u64>> {
    match brain.reembed(made.clone()).await {
        Ok(generation) => Ok(Some(generation.0)),
        Err(EngineError::Store(error))
            if matches!(
                *error,
                StoreError::VectorsErased | StoreError::Aborted { .. }
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
