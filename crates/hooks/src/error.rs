//! Why a hook does nothing.

use std::io;

/// Why a hook does nothing, or not everything.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HookError {
    /// The input is no JSON object.
    #[error("the input of the hook is not a JSON object: {0}")]
    NotJson(String),
    /// The input has no session.
    #[error("the input of the hook names no session: it needs session_id")]
    NoSession,
    /// The event is none of those that have a hook here.
    #[error("{0:?} is no event with a hook of amem")]
    UnknownEvent(String),
    /// An argument is wrong.
    #[error("{field}: {why}")]
    Invalid {
        /// Its name.
        field: &'static str,
        /// What is wrong, and what is right.
        why: String,
    },
    /// Too much of something.
    #[error("{what}: {has}, and {limit} is the most")]
    TooLarge {
        /// What.
        what: &'static str,
        /// How much there is.
        has: usize,
        /// How much there may be.
        limit: usize,
    },
    /// The ledger cannot be read or written.
    #[error("cannot {doing} the ledger of the session: {error}")]
    Ledger {
        /// What was tried.
        doing: &'static str,
        /// What the system says.
        error: io::Error,
    },
    /// Fact memory refuses.
    #[error("{0}")]
    Refused(amem_proto::answer::Refusal),
    /// Fact memory refuses, in words.
    #[error("{0}")]
    Words(String),
}

impl HookError {
    pub(crate) fn check(what: &'static str, has: usize, limit: usize) -> Result<(), Self> {
        match has <= limit {
            true => Ok(()),
            false => Err(Self::TooLarge { what, has, limit }),
        }
    }
}
