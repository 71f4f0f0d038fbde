//! The connection to amemd, for commands that are plain code: each call waits for its answer.
//!
//! Not here: the calls themselves (`amem_client`).

use std::path::Path;
use std::time::Duration;

use amem_client::{Client, ConnectError, Refusal, Tls};
use tokio::runtime::{Builder, Runtime};
use tonic::{Code, Response, Status, Streaming};

use crate::exit::Exit;
use crate::failure::Failure;

/// A call to the daemon that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// Nobody answers.
    #[error("no amemd answers on {to}: {why}")]
    Unreachable {
        /// Where it was expected: a socket's path, or an address.
        to: String,
        /// What the system says.
        why: String,
    },
    /// The daemon said no.
    #[error(transparent)]
    Refused(Box<Refusal>),
    /// This process got no thread for the connection.
    #[error("cannot start the connection: {0}")]
    Runtime(std::io::Error),
    /// What was given for the connection can't be used.
    #[error("{0}")]
    Invalid(String),
}

impl RemoteError {
    /// What kind of refusal it is.
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => Code::Unavailable,
            Self::Refused(refusal) => refusal.code,
            Self::Runtime(_) => Code::Internal,
            Self::Invalid(_) => Code::InvalidArgument,
        }
    }
}

impl From<Refusal> for RemoteError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<Status> for RemoteError {
    fn from(status: Status) -> Self {
        let mut refusal = Refusal::from(status);
        if refusal.message.is_empty() {
            refusal.message = format!("amemd answered {:?}", refusal.code);
        }
        refusal.into()
    }
}

impl From<RemoteError> for Failure {
    fn from(error: RemoteError) -> Self {
        let message = error.to_string();
        match error {
            RemoteError::Unreachable { to, why } => {
                let is_path = to.contains('/');
                let remedy = match (is_path, why.contains("ermission denied")) {
                    (true, true) => {
                        "ask as the user who runs amemd, or of the group that it lets in"
                    }
                    (true, false) => {
                        "start it with `amemd`, or give the socket of one that runs with --socket"
                    }
                    (false, _) => "see that amemd runs there, with tcp.listen in its settings",
                };
                Self::new(Exit::Unavailable, "no_daemon", message, remedy)
            }
            RemoteError::Refused(refusal) => (*refusal).into(),
            RemoteError::Runtime(_) => {
                Self::new(Exit::Io, "io", message, "see what the system says of it")
            }
            RemoteError::Invalid(_) => {
                Self::argument(message, "`amemctl --help` tells what is right")
            }
        }
    }
}

/// The innermost cause: "transport error" alone helps nobody.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Turns what a connection says of itself into ours.
fn unconnected(to: &str, error: ConnectError) -> RemoteError {
    match error {
        ConnectError::Unreachable { .. } => RemoteError::Unreachable {
            to: to.to_owned(),
            why: root(&error),
        },
        other => RemoteError::Invalid(other.to_string()),
    }
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
        let to = socket.display().to_string();
        Self::over(&to, Client::connect_unix(socket))
    }

    /// Connects to the daemon on an address.
    pub(crate) fn connect_tcp(
        address: &str,
        token: Option<&str>,
        tls: Option<Tls>,
    ) -> Result<Self, RemoteError> {
        Self::over(address, Client::connect_tcp(address, token, tls))
    }

    fn over(
        to: &str,
        connecting: impl Future<Output = Result<Client, ConnectError>>,
    ) -> Result<Self, RemoteError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(RemoteError::Runtime)?;
        let client = runtime
            .block_on(connecting)
            .map_err(|error| unconnected(to, error))?;
        Ok(Self { client, runtime })
    }

    /// Waits for what may be refused.
    pub(crate) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, RemoteError> {
        Ok(self.runtime.block_on(answer)?)
    }

    /// Waits for an answer, and takes it out of its envelope.
    pub(crate) fn call<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RemoteError> {
        let answer = self.runtime.block_on(answer)?;
        Ok(answer.into_inner())
    }

    /// Waits for an answer as `call` does; meanwhile, `look` is called every so often.
    pub(crate) fn watched<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
        every: Duration,
        mut look: impl FnMut(),
    ) -> Result<T, RemoteError> {
        let answer = self.runtime.block_on(async {
            let mut answer = std::pin::pin!(answer);
            loop {
                match tokio::time::timeout(every, &mut answer).await {
                    Ok(answer) => return answer,
                    Err(_) => look(),
                }
            }
        });
        Ok(answer?.into_inner())
    }

    /// Waits for the next message of a stream; none at its end.
    pub(crate) fn next<T>(&self, stream: &mut Streaming<T>) -> Result<Option<T>, RemoteError> {
        let next = self.runtime.block_on(stream.message());
        Ok(next?)
    }
}

/// All rows of a list that comes in pages; `page` gets the token of a page, and returns its rows and the next token.
pub(crate) fn all_pages<T>(
    mut page: impl FnMut(String) -> Result<(Vec<T>, String), RemoteError>,
) -> Result<Vec<T>, RemoteError> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let (rows, next) = page(token)?;
        all.extend(rows);
        if next.is_empty() {
            return Ok(all);
        }
        token = next;
    }
}
