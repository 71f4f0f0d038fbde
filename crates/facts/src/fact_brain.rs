//! The brain beneath: views to read, one kind of commit to write.

use std::sync::Arc;

use amem_engine::{OpenBrain, Result};
use amem_format::view::View;
use amem_store::mutation::{Answer, Ingest, Mutation, Request};
use tokio::runtime::Handle;

/// A brain that memories are kept in. Calls may wait: they are made on a thread that may.
pub trait FactBrain: Send + Sync {
    /// A view of every commit that was answered.
    fn view(&self) -> View;

    /// Commits events, with what they replace and hide; returns once that is durable and every later view has it.
    fn commit(&self, ingest: Ingest) -> Result<Answer>;
}

/// A brain of the engine, on behalf of a caller.
#[derive(Debug, Clone)]
pub struct EngineBrain {
    brain: Arc<OpenBrain>,
    handle: Handle,
    principal: String,
    agent: String,
}

impl EngineBrain {
    /// `handle` is the runtime that the brain's writer runs on; `principal` and `agent` are recorded as authors.
    pub fn new(brain: Arc<OpenBrain>, handle: Handle, principal: &str, agent: &str) -> Self {
        Self {
            brain,
            handle,
            principal: principal.to_owned(),
            agent: agent.to_owned(),
        }
    }
}

impl FactBrain for EngineBrain {
    fn view(&self) -> View {
        self.brain.view()
    }

    fn commit(&self, ingest: Ingest) -> Result<Answer> {
        let bytes = ingest.events.iter().map(|event| {
            let vector = event.vector.as_ref().map_or(0, |vector| 4 * vector.len());
            // Attributes are about as long as a short text.
            event.text.len() + vector + 512
        });
        let bytes = bytes.sum();
        let request = Request::new(Mutation::Ingest(ingest)).by(&self.principal, &self.agent);
        let written = self.handle.block_on(self.brain.commit(request, bytes))?;
        Ok(written.answer)
    }
}
