//! Errors of fact memory.
//!
//! Each variant is something that a caller can react to. `code` is the name that the specification gives it.

use amem_query::time;

use amem_format::types::Micros;

/// The result of an operation of fact memory.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of fact memory. Nothing was stored, unless the variant says otherwise.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The request names no scope.
    #[error("at least one of user_id, agent_id, app_id or run_id must be provided")]
    NoScope,
    /// A field of the scope cannot be one.
    #[error("{field} {why}")]
    BadScope {
        /// The field, such as `user_id`.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// A branch of a filter has no positive equality on a field of the scope.
    #[error(
        "filters: {branch} names no scope: every branch needs user_id, agent_id, app_id or run_id with eq or in \
         (not below NOT, not \"*\")"
    )]
    UnscopedFilter {
        /// The path of the branch.
        branch: String,
    },
    /// Something in the request cannot be read.
    #[error("{field}: {why}")]
    Invalid {
        /// The field of the request.
        field: String,
        /// What is wrong, and what is accepted.
        why: String,
    },
    /// More than a limit allows.
    #[error("{what} is {found}, {limit} is the most")]
    TooLarge {
        /// What is limited, with its unit.
        what: &'static str,
        /// What the request has.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// An add without any text: no message, or images only.
    #[error("messages: there is no text to remember ({skipped} parts were skipped)")]
    NoText {
        /// The parts that are not text.
        skipped: usize,
    },
    /// The request asks that memories expire in the past.
    #[error("expiration_date {} is not after {}", time::display(*.expires), time::display(*.now))]
    Expired {
        /// When they would expire.
        expires: Micros,
        /// The present of the request.
        now: Micros,
    },
    /// There is no such memory in the scope.
    #[error("there is no memory {id}")]
    NotFound {
        /// The id as the request writes it.
        id: String,
    },
    /// The memory was deleted before.
    #[error("memory {id} is deleted")]
    Deleted {
        /// The memory.
        id: String,
    },
    /// The memory or its scope changed during the request: retry.
    #[error("the memories of the scope changed during the request: retry")]
    Changed,
    /// The idempotency key was used for another request.
    #[error("idempotency_key {key:?} was used for another request")]
    KeyReused {
        /// The key.
        key: String,
    },
    /// The store failed; its own words.
    #[error("the store failed: {0}")]
    Store(String),
}

impl Error {
    /// The name of the error for clients.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoScope | Self::BadScope { .. } | Self::UnscopedFilter { .. } => "ScopeError",
            Self::NotFound { .. } | Self::Deleted { .. } => "NotFoundError",
            Self::Store(_) => "VectorStoreError",
            Self::Changed => "ConflictError",
            Self::Invalid { .. }
            | Self::TooLarge { .. }
            | Self::NoText { .. }
            | Self::Expired { .. }
            | Self::KeyReused { .. } => "ValidationError",
        }
    }

    /// A request with a wrong field.
    pub fn invalid(field: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Invalid {
            field: field.into(),
            why: why.into(),
        }
    }

    pub(crate) fn check_limit(what: &'static str, found: usize, limit: usize) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        Err(Self::TooLarge {
            what,
            found: found as u64,
            limit: limit as u64,
        })
    }
}
