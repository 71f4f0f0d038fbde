//! Errors of items.

use amem_engine::Error as EngineError;
use amem_format::Error as FormatError;

/// The result of an operation on the items of a brain.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. Nothing was stored, unless the engine says that the outcome is unknown.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// An argument is wrong.
    #[error("{field}: {why}")]
    Invalid {
        /// What is wrong.
        field: &'static str,
        /// Why, and what to do.
        why: String,
    },
    /// There is too much of something.
    #[error("{what} is {found}, and at most {limit} is allowed")]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How much there is.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// What the reads of a batch find has no room in one answer.
    #[error(
        "what the batch reads has more than {limit} bytes, the limit: nothing was changed; read in smaller batches, or by \
         calls of their own"
    )]
    AnswerTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The request id was used for another change.
    #[error("the request id {id} was used for another change: use a new one")]
    RequestReused {
        /// The id.
        id: String,
    },
    /// The brain failed or refused.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Error {
    pub(crate) fn invalid(field: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Invalid { field, why }
    }

    /// Refuses more than the limit of something.
    pub(crate) fn check(what: &'static str, found: usize, limit: usize) -> Result<()> {
        if found <= limit {
            return Ok(());
        }
        let (found, limit) = (found as u64, limit as u64);
        Err(Self::TooLarge { what, found, limit })
    }
}

impl From<FormatError> for Error {
    fn from(error: FormatError) -> Self {
        Self::Engine(error.into())
    }
}
