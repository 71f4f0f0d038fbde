//! The connection to amemd, for commands that are plain code: each call waits for its answer.
//!
//! Not here: the calls themselves (`amem_client`).

use std::env;
use std::path::{Path, PathBuf};

use amem_client::{Client, v1};
use tokio::runtime::{Builder, Runtime};
use tonic::{Code, Response, Status, Streaming};

use crate::exit::Exit;
use crate::failure::Failure;

/// Where a user's daemon listens unless told otherwise; that of the system's, where nothing says whose runtime
/// folder is meant.
pub(crate) fn default_socket() -> PathBuf {
    let runtime = env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    PathBuf::from(runtime.unwrap_or_else(|| "/run".into())).join("amemd/amemd.sock")
}

/// A call to the daemon that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// Nobody answers.
    #[error(
        "no amemd answers on {}: {why}",
        socket.display()
    )]
    Unreachable {
        /// Where it was expected.
        socket: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The daemon said no.
    #[error("{}", said(.0))]
    Refused(#[from] Box<Status>),
    /// A stream was refused in the middle.
    #[error("{}", .0.message)]
    Failure(v1::Failure),
    /// This process got no thread for the connection.
    #[error("cannot start the connection: {0}")]
    Runtime(std::io::Error),
}

impl RemoteError {
    /// What kind of refusal it is.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => Code::Unavailable,
            Self::Refused(status) => status.code(),
            Self::Failure(failure) => Code::from_i32(failure.code),
            Self::Runtime(_) => Code::Internal,
        }
    }
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        let message = error.to_string();
        let told = |exit, code, remedy| Self::new(exit, code, message.clone(), remedy);
        if matches!(error, RemoteError::Unreachable { .. }) {
            let remedy = "start it with `amemd`, or give the socket of one that runs with --socket";
            return told(Exit::Unavailable, "no_daemon", remedy);
        }
        match error.code() {
            Code::NotFound => told(Exit::NotFound, "not_found", "check the name"),
            Code::AlreadyExists => told(Exit::Refused, "already_exists", "take another name or id"),
            Code::InvalidArgument | Code::OutOfRange => {
                told(Exit::Refused, "invalid", "give what the message asks for")
            }
            Code::FailedPrecondition | Code::Aborted => told(
                Exit::Refused,
                "refused",
                "look at the brain again, then decide",
            ),
            Code::ResourceExhausted => told(
                Exit::Refused,
                "exhausted",
                "make room, or send less, and try again",
            ),
            Code::PermissionDenied | Code::Unauthenticated => told(
                Exit::Refused,
                "permission_denied",
                "ask as the user who runs amemd",
            ),
            Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded => {
                told(Exit::Unavailable, "unavailable", "try again in a moment")
            }
            Code::DataLoss => told(
                Exit::Damaged,
                "damaged",
                "`amemctl verify FILE` tells the extent, `amemctl repair FILE NEW` saves what is whole",
            ),
            _ => told(Exit::Io, "daemon", "see what amemd logged"),
        }
    }
}

fn said(status: &Status) -> String {
    if status.message().is_empty() {
        return format!("amemd answered {:?}", status.code());
    }
    status.message().into()
}

/// The innermost cause: "transport error" alone helps nobody.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// A connection that is used from plain code.
pub(crate) struct Remote {
    /// The daemon's services.
    pub(crate) client: Client,
    runtime: Runtime,
}

impl Remote {
    /// Connects to the daemon on a socket.
    pub(crate) fn connect(socket: &Path) -> Result<Self, RemoteError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(RemoteError::Runtime)?;
        let client = runtime
            .block_on(Client::connect_unix(socket))
            .map_err(|error| RemoteError::Unreachable {
                socket: socket.into(),
                why: root(&error),
            })?;
        Ok(Self { client, runtime })
    }

    /// Waits for an answer, and takes it out of its envelope.
    pub(crate) fn call<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RemoteError> {
        let answer = self.runtime.block_on(answer).map_err(Box::new)?;
        Ok(answer.into_inner())
    }

    /// Waits for the next message of a stream; none at its end.
    pub(crate) fn next<T>(&self, stream: &mut Streaming<T>) -> Result<Option<T>, RemoteError> {
        let next = self.runtime.block_on(stream.message());
        Ok(next.map_err(Box::new)?)
    }
}
