//! Vectors for events that were stored without: the embedder was away, or the brain got another space meanwhile.
//!
//! Promises: what is noted is tried until it has vectors or its text is refused for good, with a pause after a failure;
//! a brain is not closed meanwhile; what was noted before a restart gets them by `ReembedBrain`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use amem_engine::{OpenBrain, PRINCIPAL};
use amem_format::NodeId;
use amem_store::EventEmbedder;
use amem_store::mutation::{Mutation, Request};

use super::gateway::Gateway;
use crate::limits::{LATE_VECTORS_AGAIN_AFTER, LATE_VECTORS_EVERY};
use crate::models::{Reembedder, SharedEmbedder};
use crate::refusal::{Refusal, Result};

/// Events that are embedded at a time.
const PORTION: usize = 64;

/// Embeds what lacks vectors, for as long as it is polled.
pub(crate) async fn run(gateway: Arc<Gateway>) {
    let mut paused: HashMap<String, Instant> = HashMap::new();
    loop {
        tokio::time::sleep(LATE_VECTORS_EVERY).await;
        paused.retain(|_, until| *until > Instant::now());
        for brain in gateway.brains.engine().open_brains() {
            if paused.contains_key(&brain.name) {
                continue;
            }
            let late = brain.take_unembedded();
            // Whose space is no embedder's here, its callers bring vectors.
            let Some(embedder) = gateway.models.embedder_of(&brain.view()) else {
                continue;
            };
            if late.is_empty() {
                continue;
            }
            if let Err(refusal) = embed(&gateway, &brain, embedder, late).await {
                let why = refusal.message.as_str();
                tracing::warn!(brain = brain.name, why, "events wait for their vectors");
                paused.insert(
                    brain.name.clone(),
                    Instant::now() + LATE_VECTORS_AGAIN_AFTER,
                );
            }
        }
    }
}

/// Embeds events, a portion at a time; notes those again that were not reached.
async fn embed(
    gateway: &Gateway,
    brain: &Arc<OpenBrain>,
    embedder: SharedEmbedder,
    mut late: Vec<NodeId>,
) -> Result<()> {
    let embedder = match gateway
        .fact_calls
        .of(PRINCIPAL)
        .run(move || Reembedder::of(embedder).map_err(Refusal::internal))
        .await
    {
        Ok(embedder) => Arc::new(embedder),
        Err(refusal) => {
            brain.note_unembedded(late);
            return Err(refusal);
        }
    };
    while !late.is_empty() {
        let portion: Vec<NodeId> = late.iter().copied().take(PORTION).collect();
        match embed_portion(gateway, brain, &embedder, portion).await {
            Ok(done) => drop(late.drain(..done)),
            Err(refusal) => {
                brain.note_unembedded(late);
                return Err(refusal);
            }
        }
    }
    Ok(())
}

/// Embeds the first events of a portion; returns how many.
async fn embed_portion(
    gateway: &Gateway,
    brain: &Arc<OpenBrain>,
    embedder: &Arc<Reembedder>,
    portion: Vec<NodeId>,
) -> Result<usize> {
    let (embedder, view) = (embedder.clone(), brain.view());
    let space = embedder.space();
    let run = move || {
        let vectors = embedder.embed(&view, &portion).map_err(Refusal::internal)?;
        Ok((portion, vectors))
    };
    let (portion, vectors) = gateway.fact_calls.of(PRINCIPAL).run(run).await?;
    let done = vectors.len();
    for (target, vector) in portion.into_iter().zip(vectors) {
        if vector.is_none() {
            continue;
        }
        let change = Mutation::SetVector {
            target,
            vector,
            space: Some(space),
        };
        brain
            .commit(Request::new(change).by(PRINCIPAL, ""), 0)
            .await?;
    }
    Ok(done)
}
