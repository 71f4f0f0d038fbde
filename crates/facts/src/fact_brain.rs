//! The brain beneath: views to read, one kind of commit to write.

use std::sync::Arc;

use amem_engine::{OpenBrain, Result};
use amem_format::Lsn;
use amem_format::view::View;
use amem_store::mutation::{Answer, Mutation, NewEvent, Request};
use tokio::runtime::Handle;
use uuid::Uuid;

/// A brain that memories are kept in. Calls may wait: they are made on a thread that may.
pub trait FactBrain: Send + Sync {
    /// A view of every commit that was answered.
    fn view(&self) -> View;

    /// Commits a change, whole or not at all; returns once it is durable and every later view has it.
    fn commit(&self, mutation: Mutation) -> Result<Answer>;

    /// The same, refused as `Aborted` if anything but touches was committed after a commit.
    fn commit_after(&self, mutation: Mutation, lsn: Lsn) -> Result<Answer>;
}

/// A brain of the engine, on behalf of a caller.
#[derive(Debug, Clone)]
pub struct EngineBrain {
    brain: Arc<OpenBrain>,
    handle: Handle,
    principal: String,
    agent: String,
    /// The space of the vectors that are made for it.
    space: Uuid,
}

impl EngineBrain {
    /// `handle` is the runtime that the brain's writer runs on; `principal` and `agent` are recorded as authors;
    /// `space` is that of the vectors that are made for it, which it may have left when they are committed.
    pub fn new(
        brain: Arc<OpenBrain>,
        handle: Handle,
        (principal, agent): (&str, &str),
        space: Uuid,
    ) -> Self {
        Self {
            brain,
            handle,
            principal: principal.to_owned(),
            agent: agent.to_owned(),
            space,
        }
    }
}

impl FactBrain for EngineBrain {
    fn view(&self) -> View {
        self.brain.view()
    }

    fn commit(&self, mutation: Mutation) -> Result<Answer> {
        self.request(mutation, None)
    }

    fn commit_after(&self, mutation: Mutation, lsn: Lsn) -> Result<Answer> {
        self.request(mutation, Some(lsn))
    }
}

impl EngineBrain {
    fn request(&self, mut mutation: Mutation, expected_lsn: Option<Lsn>) -> Result<Answer> {
        let bytes = match &mut mutation {
            Mutation::Ingest(ingest) => {
                for event in ingest.events.iter_mut().filter(|event| event.is_derived) {
                    event.space = Some(self.space);
                }
                ingest.events.iter().map(event_bytes).sum()
            }
            _ => EVENT_BYTES,
        };
        let request = Request {
            expected_lsn,
            ..Request::new(mutation).by(&self.principal, &self.agent)
        };
        let written = self.handle.block_on(self.brain.commit(request, bytes))?;
        Ok(written.answer)
    }
}

/// About the bytes of the attributes and the head of an event.
const EVENT_BYTES: usize = 512;

fn event_bytes(event: &NewEvent) -> usize {
    let vector = event.vector.as_ref().map_or(0, |vector| 4 * vector.len());
    event.text.len() + vector + EVENT_BYTES
}
