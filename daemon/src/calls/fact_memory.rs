//! Fact memory at the daemon: what the calls on each brain share, and the refusals of fact memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use amem_engine::OpenBrain;
use amem_facts::{Error, FactState};
use amem_format::Micros;
use amem_locks::LockResultExt;
use amem_memory::Error as MemoryError;
use amem_memory::model::FormTable;
use amem_proto::answer::Code;
use uuid::Uuid;

use crate::refusal::Refusal;

/// The brain of requests that name none.
pub(crate) const DEFAULT_BRAIN: &str = "memories";

/// The brain that a request means.
pub(super) fn brain_name(asked: &str) -> &str {
    if asked.is_empty() {
        DEFAULT_BRAIN
    } else {
        asked
    }
}

/// What the calls on each brain share: by name, of one instance.
#[derive(Debug, Default)]
pub(crate) struct FactMemory {
    states: Mutex<HashMap<String, (Uuid, Arc<FactState>)>>,
    pub(super) forms: Arc<FormTable>,
}

impl FactMemory {
    pub(super) fn state(&self, brain: &OpenBrain) -> Arc<FactState> {
        let instance = brain.view().instance();
        let mut states = self.states.lock().unpoisoned();
        let (known, state) = states.entry(brain.name.clone()).or_default();
        if *known != instance {
            (*known, *state) = (instance, Arc::default());
        }
        state.clone()
    }
}

/// The present.
pub(crate) fn now() -> Micros {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let micros = since.map_or(0, |since| since.as_micros());
    Micros(i64::try_from(micros).unwrap_or(i64::MAX))
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
