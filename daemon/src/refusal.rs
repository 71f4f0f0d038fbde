//! Errors as gRPC says them: one table from what went wrong to a code and a reason.
//!
//! A status carries `google.rpc.ErrorInfo` with domain `amem.v1` and the reason, for machines.

use std::collections::HashMap;
use std::io::ErrorKind;

use amem_core::Error as Core;
use amem_store::Error as Store;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The domain of our reasons.
pub const DOMAIN: &str = "amem.v1";

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What the caller may do about it.
    pub code: Code,
    /// What it is, for machines.
    pub reason: &'static str,
    /// What it is, and what would be right.
    pub message: String,
}

/// The result of a call.
pub type Result<T, E = Refusal> = std::result::Result<T, E>;

impl Refusal {
    /// A refusal.
    pub fn new(code: Code, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
        }
    }

    /// An argument that makes no sense.
    pub fn invalid(what: &str, why: impl std::fmt::Display) -> Self {
        Self::new(Code::InvalidArgument, "INVALID", format!("{what}: {why}"))
    }

    /// The brain's writer stopped before it answered.
    pub fn outcome_unknown() -> Self {
        Store::OutcomeUnknown {
            why: "the brain's writer stopped".into(),
        }
        .into()
    }

    /// A defect of the daemon.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Code::Internal, "INTERNAL", message)
    }
}

impl From<Core> for Refusal {
    fn from(error: Core) -> Self {
        let (code, reason) = match &error {
            Core::Io { .. } => (Code::Unavailable, "IO"),
            Core::Magic { .. } => (Code::FailedPrecondition, "NOT_A_BRAIN"),
            Core::Version { .. } => (Code::FailedPrecondition, "VERSION"),
            Core::Spec1 => (Code::FailedPrecondition, "SPEC1"),
            Core::Neither { .. } => (Code::FailedPrecondition, "NOT_A_BRAIN"),
            Core::Foreign => (Code::FailedPrecondition, "FOREIGN"),
            Core::Truncated { .. } => (Code::DataLoss, "TRUNCATED"),
            Core::Corrupt { .. } => (Code::DataLoss, "CORRUPT"),
            Core::Limit { .. } => (Code::InvalidArgument, "LIMIT"),
            Core::UnknownEvent { .. } => (Code::NotFound, "UNKNOWN_EVENT"),
            Core::Forgotten { .. } => (Code::FailedPrecondition, "FORGOTTEN"),
            Core::Dimension { .. } => (Code::InvalidArgument, "DIMENSION"),
            Core::Space { .. } => (Code::InvalidArgument, "SPACE"),
            Core::ForeignInstance { .. } => (Code::FailedPrecondition, "FOREIGN_INSTANCE"),
            Core::UnknownLsn { .. } => (Code::OutOfRange, "UNKNOWN_LSN"),
            Core::CommitsGone { .. } => (Code::OutOfRange, "COMMITS_GONE"),
            Core::MustDrop { .. } => (Code::Unavailable, "MUST_DROP"),
            Core::Invalid { .. } => (Code::InvalidArgument, "INVALID"),
            _ => (Code::Internal, "INTERNAL"),
        };
        Self::new(code, reason, error.to_string())
    }
}

impl From<Store> for Refusal {
    fn from(error: Store) -> Self {
        let (code, reason) = match error {
            Store::Core(error) => return error.into(),
            Store::Disk { ref source, .. } => match source.kind() {
                ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                    (Code::ResourceExhausted, "DISK_FULL")
                }
                _ => (Code::Unavailable, "DISK"),
            },
            Store::Locked { .. } => (Code::FailedPrecondition, "LOCKED"),
            Store::Exists { .. } => (Code::AlreadyExists, "BRAIN_EXISTS"),
            Store::NotFound { .. } => (Code::NotFound, "UNKNOWN_BRAIN"),
            Store::Name { .. } => (Code::InvalidArgument, "BRAIN_NAME"),
            Store::OutcomeUnknown { .. } => (Code::Unavailable, "OUTCOME_UNKNOWN"),
            Store::Poisoned { .. } => (Code::Unavailable, "RECOVERING"),
            Store::Replaced { .. } => (Code::Unavailable, "REPLACED"),
            Store::Damaged { .. } => (Code::DataLoss, "DAMAGED"),
            Store::Aborted { .. } => (Code::Aborted, "CONDITION"),
            Store::RequestExpired { .. } => (Code::FailedPrecondition, "REQUEST_EXPIRED"),
            Store::RequestReused { .. } => (Code::AlreadyExists, "REQUEST_REUSED"),
            Store::UnknownSession { .. } => (Code::NotFound, "UNKNOWN_SESSION"),
            Store::SessionClosed { .. } => (Code::FailedPrecondition, "SESSION_CLOSED"),
            Store::Cycle { .. } => (Code::FailedPrecondition, "CYCLE"),
            Store::UnknownEdge { .. } => (Code::NotFound, "UNKNOWN_EDGE"),
            Store::Erased { .. } => (Code::FailedPrecondition, "ERASED"),
            _ => (Code::Internal, "INTERNAL"),
        };
        Self::new(code, reason, error.to_string())
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let details = ErrorDetails::with_error_info(refusal.reason, DOMAIN, HashMap::new());
        Status::with_error_details(refusal.code, refusal.message, details)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_core::NodeId;

    #[test]
    fn a_status_carries_code_message_and_reason() {
        let error = Core::UnknownEvent {
            id: NodeId(7),
            count: 3,
        };
        let status = Status::from(Refusal::from(Store::Core(error)));
        assert_eq!(status.code(), Code::NotFound);
        assert!(status.message().contains("event 7"), "{status}");
        let info = status.get_details_error_info();
        let info = info.map(|info| (info.reason, info.domain));
        assert_eq!(info, Some(("UNKNOWN_EVENT".into(), DOMAIN.into())));
    }
}
