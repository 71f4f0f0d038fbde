//! Connection errors.

/// A connection that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No daemon answers.
    #[error(
        "cannot reach a daemon on {to}: {source}; start amemd, or give the address it listens on"
    )]
    Unreachable {
        /// The socket's path, or the address.
        to: String,
        /// The reason.
        source: tonic::transport::Error,
    },
    /// An argument is invalid.
    #[error("{what}: {why}")]
    Invalid {
        /// The argument.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl ConnectError {
    pub(super) fn invalid(what: &'static str, why: impl ToString) -> Self {
        Self::Invalid {
            what,
            why: why.to_string(),
        }
    }

    pub(super) fn unreachable(to: impl ToString, source: tonic::transport::Error) -> Self {
        Self::Unreachable {
            to: to.to_string(),
            source,
        }
    }
}
