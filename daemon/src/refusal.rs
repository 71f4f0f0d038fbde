//! Refusals of the daemon, and the one table from errors of the engine and the store to codes and reasons.

use std::io::ErrorKind;
use std::ops::Deref;

use amem_engine::Error as Engine;
use amem_format::Error as Core;
use amem_proto::answer::{self, Code};
use amem_proto::v1;
use amem_store::Error as Store;

/// Why a call is refused. Errors of the engine, the store and the format convert to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub answer::Refusal);

/// The result of a call.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Deref for Refusal {
    type Target = answer::Refusal;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Refusal {
    /// A refusal with a reason for machines and a message for people.
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self(answer::Refusal::new(code, reason, message))
    }

    /// Adds a value for machines.
    #[must_use]
    pub fn with(self, name: &str, value: impl std::fmt::Display) -> Self {
        Self(self.0.with(name, value))
    }

    /// An invalid argument.
    pub fn invalid(what: &str, why: impl std::fmt::Display) -> Self {
        Self(answer::Refusal::invalid(what, why))
    }

    /// The brain's writer stopped before it answered.
    pub fn outcome_unknown() -> Self {
        Engine::outcome_unknown().into()
    }

    /// The caller has left.
    pub fn cancelled() -> Self {
        Engine::Cancelled.into()
    }

    /// A defect of the daemon.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, "INTERNAL", message)
    }
}

impl From<answer::Refusal> for Refusal {
    fn from(refusal: answer::Refusal) -> Self {
        Self(refusal)
    }
}

impl From<Core> for Refusal {
    fn from(error: Core) -> Self {
        Self(error.into())
    }
}

impl From<Store> for Refusal {
    fn from(error: Store) -> Self {
        Engine::from(error).into()
    }
}

impl From<Engine> for Refusal {
    fn from(error: Engine) -> Self {
        Self::from(&error)
    }
}

impl From<&Engine> for Refusal {
    fn from(error: &Engine) -> Self {
        let (code, reason) = match error {
            Engine::Format(error) => return Self((&**error).into()),
            Engine::Store(error) => of_store(error),
            Engine::FileTooLarge(_) => (Code::ResourceExhausted, "DISK_FULL"),
            Engine::ListFolder(_) => (Code::Unavailable, "DISK"),
            Engine::NameNotText { .. } => (Code::InvalidArgument, "BRAIN_NAME"),
            Engine::Adopting { .. } => (Code::Unavailable, "ADOPTING"),
            Engine::Closed { .. } | Engine::Reopened { .. } => (Code::Unavailable, "CLOSED"),
            Engine::Closing => (Code::Unavailable, "CLOSING"),
            Engine::ForeignInstance { .. } => (Code::FailedPrecondition, "FOREIGN_INSTANCE"),
            Engine::QueueFull { .. } => (Code::ResourceExhausted, "QUEUE_FULL"),
            Engine::Subscribers { .. } => (Code::ResourceExhausted, "SUBSCRIBERS"),
            Engine::OpenBrains { .. } => (Code::ResourceExhausted, "OPEN_BRAINS"),
            Engine::WriterThread { .. } => (Code::ResourceExhausted, "THREAD"),
            Engine::CheckpointThread(_) => (Code::Unavailable, "THREAD"),
            Engine::ErasePending { .. } => (Code::Unavailable, "ERASE_PENDING"),
            Engine::Readers { .. } => (Code::FailedPrecondition, "READERS"),
            Engine::NotScheduled { .. } => return Self::invalid("kind", error),
            Engine::JobRunning { .. } => (Code::Aborted, "RUNNING"),
            Engine::Damaged { .. } => (Code::DataLoss, "CORRUPT"),
            Engine::Cancelled => (Code::Cancelled, "CANCELLED"),
            _ => (Code::Internal, "INTERNAL"),
        };
        let refusal = Self::new(code, reason, error.to_string());
        match error {
            Engine::Store(error) => match &**error {
                Store::OtherHead { found, .. } => refusal.with("head_id", found),
                _ => refusal,
            },
            _ => refusal,
        }
    }
}

/// The code and the reason of a refusal of the store.
fn of_store(error: &Store) -> (Code, &'static str) {
    match error {
        Store::Disk { source, .. } => match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                (Code::ResourceExhausted, "DISK_FULL")
            }
            _ => (Code::Unavailable, "DISK"),
        },
        Store::Locked { .. } => (Code::FailedPrecondition, "LOCKED"),
        Store::LockLost => (Code::Unavailable, "LOCK_LOST"),
        Store::Clock { .. } => (Code::FailedPrecondition, "CLOCK"),
        Store::RangeEnd { .. } => (Code::FailedPrecondition, "RANGE_END"),
        Store::NoRoom { .. } => (Code::ResourceExhausted, "DISK_FULL"),
        Store::Exists { .. } => (Code::AlreadyExists, "BRAIN_EXISTS"),
        Store::NotFound { .. } => (Code::NotFound, "UNKNOWN_BRAIN"),
        Store::Name { .. } => (Code::InvalidArgument, "BRAIN_NAME"),
        Store::OutcomeUnknown { .. } => (Code::Unavailable, "OUTCOME_UNKNOWN"),
        Store::Poisoned { .. } => (Code::Unavailable, "RECOVERING"),
        Store::Overwritten { .. } => (Code::DataLoss, "OVERWRITTEN"),
        Store::Replaced { .. } => (Code::Unavailable, "REPLACED"),
        Store::Unsaved { .. } => (Code::Unavailable, "UNSAVED"),
        Store::NotQuarantined { .. } => (Code::NotFound, "UNKNOWN_FILE"),
        Store::Untracked { .. } => (Code::Unavailable, "NOT_OURS"),
        Store::Changing { .. } => (Code::Unavailable, "CHANGING"),
        Store::Rejected { .. } => (Code::FailedPrecondition, "NOT_ADOPTED"),
        Store::Damaged { .. } => (Code::DataLoss, "DAMAGED"),
        Store::Aborted { .. } | Store::OtherHead { .. } => (Code::Aborted, "CONDITION"),
        Store::RequestReused { .. } => (Code::AlreadyExists, "REQUEST_REUSED"),
        Store::UnknownSession { .. } => (Code::NotFound, "UNKNOWN_SESSION"),
        Store::SessionClosed { .. } => (Code::FailedPrecondition, "SESSION_CLOSED"),
        Store::Cycle { .. } => (Code::FailedPrecondition, "CYCLE"),
        Store::UnknownEdge { .. } => (Code::NotFound, "UNKNOWN_EDGE"),
        Store::MergeTooLarge { .. } => (Code::FailedPrecondition, "MERGE_TOO_LARGE"),
        Store::Embedder { .. } => (Code::Unavailable, "EMBEDDER"),
        Store::VectorsErased => (Code::Aborted, "VECTORS_ERASED"),
        Store::Erased { .. } => (Code::FailedPrecondition, "ERASED"),
        _ => (Code::Internal, "INTERNAL"),
    }
}

impl From<Refusal> for v1::Failure {
    fn from(refusal: Refusal) -> Self {
        refusal.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_format::NodeId;

    #[test]
    fn an_error_of_the_format_is_the_same_refusal_through_the_store() {
        let error = || Core::UnknownEvent {
            id: NodeId(7),
            count: 3,
        };
        let refusal = Refusal::from(Store::Format(error()));
        assert_eq!(refusal.0, answer::Refusal::from(error()));
        assert_eq!(refusal.code, Code::NotFound);
        assert!(refusal.message.contains("event 7"), "{}", refusal.message);
    }
}
