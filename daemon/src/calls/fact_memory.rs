//! Fact memory at the daemon: the brain of a request, what the calls on it share, and a thread that may wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use amem_engine::OpenBrain;
use amem_facts::{EngineBrain, Error, FactState, Facts, RandomIds, SpaceEmbedder};
use amem_format::Micros;
use amem_memory::Error as MemoryError;
use amem_memory::model::FormTable;
use amem_proto::answer::Code;
use amem_store::NewBrain;
use tokio::runtime::Handle;
use uuid::Uuid;

use super::gateway::Gateway;
use crate::auth::{Caller, Role};
use crate::refusal::{Refusal, Result};

/// The brain of requests that name none.
pub(crate) const DEFAULT_BRAIN: &str = "memories";

/// What the calls on each brain share: by name, of one instance.
#[derive(Debug, Default)]
pub(crate) struct FactMemory {
    states: Mutex<HashMap<String, (Uuid, Arc<FactState>)>>,
    forms: Arc<FormTable>,
}

impl FactMemory {
    fn state(&self, brain: &OpenBrain) -> Arc<FactState> {
        let instance = brain.view().instance();
        let mut states = self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, state) = states.entry(brain.name.clone()).or_default();
        if *known != instance {
            (*known, *state) = (instance, Arc::default());
        }
        state.clone()
    }
}

/// The present.
pub(super) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

impl Gateway {
    /// The brain of a request about facts; the default one is made for a caller that may write it.
    pub(super) async fn fact_brain(&self, caller: &Caller, name: &str) -> Result<Arc<OpenBrain>> {
        let name = if name.is_empty() { DEFAULT_BRAIN } else { name };
        let missing = match self.brains.get(caller, name).await {
            Ok(brain) => return Ok(brain),
            Err(refusal) if refusal.reason == "UNKNOWN_BRAIN" && name == DEFAULT_BRAIN => refusal,
            Err(refusal) => return Err(refusal),
        };
        if caller.check(name, Role::Write).is_err() {
            return Err(missing);
        }
        match self.brains.create(name, NewBrain::default()).await {
            Ok(brain) => {
                tracing::info!(brain = name, "created the brain of fact memory");
                Ok(brain)
            }
            // Another caller was first.
            Err(refusal) if refusal.code == Code::AlreadyExists => {
                self.brains.get(caller, name).await
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// Runs work on the memories of a brain, on a thread that may wait.
    pub(super) async fn with_facts<T: Send + 'static>(
        &self,
        caller: &Caller,
        brain: &Arc<OpenBrain>,
        agent: &str,
        work: impl FnOnce(&Facts<'_>) -> amem_facts::Result<T> + Send + 'static,
    ) -> Result<T> {
        let state = self.facts.state(brain);
        let forms = self.facts.forms.clone();
        let opened = EngineBrain::new(brain.clone(), Handle::current(), &caller.principal, agent);
        let embedder = SpaceEmbedder::of(&brain.view());
        let run = move || {
            let facts = Facts {
                brain: &opened,
                state: &state,
                embedder: &embedder,
                ids: &RandomIds,
                model: None,
                forms: &forms,
            };
            Ok(work(&facts)?)
        };
        self.fact_calls.of_process(caller).run(run).await
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Engine(error) => error.into(),
            Error::Memory(error) => error.into(),
        }
    }
}

impl From<MemoryError> for Refusal {
    fn from(error: MemoryError) -> Self {
        let (code, reason) = match &error {
            MemoryError::NoScope
            | MemoryError::BadScope { .. }
            | MemoryError::UnscopedFilter { .. } => (Code::InvalidArgument, "SCOPE"),
            MemoryError::Invalid { .. }
            | MemoryError::NoText { .. }
            | MemoryError::Expired { .. } => (Code::InvalidArgument, "INVALID"),
            MemoryError::TooLarge { .. } => (Code::InvalidArgument, "LIMIT"),
            MemoryError::NotFound { .. } => (Code::NotFound, "UNKNOWN_MEMORY"),
            MemoryError::Deleted { .. } => (Code::NotFound, "DELETED"),
            MemoryError::Changed => (Code::Aborted, "CONDITION"),
            MemoryError::KeyReused { .. } => (Code::AlreadyExists, "REQUEST_REUSED"),
            _ => (Code::Internal, "INTERNAL"),
        };
        Self::new(code, reason, error.to_string())
    }
}
