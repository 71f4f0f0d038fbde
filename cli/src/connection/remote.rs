//! A blocking connection to amemd: each call waits for its answer.

use std::future::poll_fn;
use std::io::{IsTerminal, stderr};
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use amem_client::{Client, ConnectError, Refusal, Tls};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::{Code, Response, Status, Streaming};

use crate::connection::silence::{self, SILENCE_MAX, aloud};
use crate::exit::Exit;
use crate::failure::Failure;

/// What a command says that waits for an answer.
const WAITING: &str = "amemd has not answered yet; waiting (Ctrl-C ends the wait; a change that was sent may still be \
                       made)";

#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    #[error("no amemd answers on {to}: {why}")]
    Unreachable {
        /// A socket's path, or an address.
        to: String,
        why: String,
    },
    #[error(transparent)]
    Refused(Box<Refusal>),
    #[error("cannot start the connection: {0}")]
    Runtime(std::io::Error),
    #[error("{0}")]
    Invalid(String),
}

impl RemoteError {
    pub(crate) fn code(&self) -> Code {
        match self {
            Self::Unreachable { .. } => Code::Unavailable,
            Self::Refused(refusal) => refusal.code.into(),
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
        // What is behind the address does not speak gRPC. A connection that breaks is not that: an amemd that ends
        // during a call breaks it, too, and may have made the change.
        let why = root(&status);
        let is_foreign = ["grpc-status header missing", "frame with invalid size"]
            .iter()
            .any(|known| why.contains(known));
        if is_foreign {
            return Self::Unreachable {
                to: "the address".into(),
                why: format!("what listens there does not answer as amemd ({why})"),
            };
        }
        // It was made here, for a connection that broke; one of the daemon has no source.
        let is_lost = std::error::Error::source(&status).is_some();
        let mut refusal = match is_lost {
            true => Refusal::new(
                Code::Unavailable.into(),
                "CONNECTION_LOST",
                format!("the connection to the daemon was lost: {why}"),
            ),
            false => Refusal::from(status),
        };
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
                        "run this as the user who runs amemd, or as a member of the group that it admits"
                    }
                    (true, false) => {
                        "start it with `amemd`, or name the socket of a running one with --socket"
                    }
                    (false, _) if why.contains("certificate") => {
                        "`openssl x509 -in certificate.pem -noout -text` shows one; deploy/README.md has a recipe"
                    }
                    (false, _) if why.contains("as amemd") => {
                        "if amemd listens there with TLS, give its authority with --tls-ca; if it does not, omit the TLS flags"
                    }
                    (false, _) => "check that amemd runs there, with tcp.listen in its settings",
                };
                Self::new(Exit::Unavailable, "no_daemon", message, remedy)
            }
            RemoteError::Refused(refusal) => (*refusal).into(),
            RemoteError::Runtime(_) => Self::new(
                Exit::Io,
                "io",
                message,
                "correct the cause that the system reports",
            ),
            RemoteError::Invalid(_) => Self::argument(message, "see `amemctl --help`"),
        }
    }
}

/// The innermost cause: "transport error" alone says nothing.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

fn unconnected(to: &str, error: ConnectError) -> RemoteError {
    match error {
        ConnectError::Unreachable { .. } => RemoteError::Unreachable {
            to: to.to_owned(),
            why: root(&error),
        },
        other => RemoteError::Invalid(other.to_string()),
    }
}

/// Work that is polled, without its type.
type PollWork<'w> = &'w mut dyn FnMut(&mut Context<'_>) -> Poll<()>;

/// How a command waits.
#[derive(Debug, Clone, Copy)]
enum Patience {
    /// With a word on stderr after a while.
    Aloud,
    Silent,
    /// At most so long.
    Within(Duration),
}

pub(crate) struct Remote {
    pub(crate) client: Client,
    runtime: Runtime,
}

impl Remote {
    pub(crate) fn connect(socket: &Path) -> Result<Self, RemoteError> {
        let to = socket.display().to_string();
        Self::over(&to, Client::connect_unix(socket))
    }

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
            .block_on(aloud(
                &format!("{to} does not answer yet; waiting"),
                connecting,
            ))
            .map_err(|error| unconnected(to, error))?;
        Ok(Self { client, runtime })
    }

    /// Waits for work of any type. tokio sees one type of all: it would compile what waits for each.
    fn block_on<T>(&self, work: impl Future<Output = T>, patience: Patience) -> Option<T> {
        let mut work = pin!(work);
        let mut done = None;
        let mut poll =
            |cx: &mut Context<'_>| work.as_mut().poll(cx).map(|answer| done = Some(answer));
        self.drive(&mut poll, patience);
        done
    }

    fn drive(&self, poll: PollWork<'_>, patience: Patience) {
        self.runtime.block_on(async {
            let work = poll_fn(poll);
            match patience {
                Patience::Aloud => aloud(WAITING, work).await,
                Patience::Silent => work.await,
                // The caller sees that there is no answer.
                Patience::Within(time) => drop(timeout(time, work).await),
            }
        });
    }

    /// The answer of a call of which one is waited for until it is there.
    fn answer<T>(
        &self,
        answer: impl Future<Output = T>,
        patience: Patience,
    ) -> Result<T, RemoteError> {
        self.block_on(answer, patience).ok_or_else(|| {
            RemoteError::Runtime(std::io::Error::other("the wait for amemd ended early"))
        })
    }

    pub(crate) fn wait<T>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, RemoteError> {
        Ok(self.answer(answer, Patience::Aloud)??)
    }

    /// Begins a call, so that other work is done while it runs; [`Self::finish`] waits for it.
    pub(crate) fn start<T: Send + 'static>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>> + Send + 'static,
    ) -> JoinHandle<Result<T, Refusal>> {
        self.runtime.spawn(answer)
    }

    pub(crate) fn finish<T>(&self, call: JoinHandle<Result<T, Refusal>>) -> Result<T, RemoteError> {
        match self.answer(call, Patience::Aloud)? {
            Ok(answer) => Ok(answer?),
            Err(error) => Err(RemoteError::Runtime(std::io::Error::other(error))),
        }
    }

    /// As `wait`, for what comes only when a client writes.
    pub(crate) fn wait_silently<T>(
        &self,
        answer: impl Future<Output = Result<T, Refusal>>,
    ) -> Result<T, RemoteError> {
        Ok(self.answer(answer, Patience::Silent)??)
    }

    pub(crate) fn call<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RemoteError> {
        Ok(self.answer(answer, Patience::Aloud)??.into_inner())
    }

    /// The same without words on stderr while it waits.
    pub(crate) fn call_quietly<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Result<T, RemoteError> {
        Ok(self.answer(answer, Patience::Silent)??.into_inner())
    }

    /// `None` if the call fails or takes longer.
    pub(crate) fn call_within<T>(
        &self,
        time: Duration,
        answer: impl Future<Output = Result<Response<T>, Status>>,
    ) -> Option<T> {
        let answer = self.block_on(answer, Patience::Within(time));
        Some(answer?.ok()?.into_inner())
    }

    /// Calls `look` every so often while it waits.
    pub(crate) fn watched<T>(
        &self,
        answer: impl Future<Output = Result<Response<T>, Status>>,
        every: Duration,
        mut look: impl FnMut(),
    ) -> Result<T, RemoteError> {
        let mut answer = pin!(answer);
        let since = Instant::now();
        loop {
            if let Some(answer) = self.block_on(answer.as_mut(), Patience::Within(every)) {
                return Ok(answer?.into_inner());
            }
            look();
            // On a terminal `look` shows the progress.
            if since.elapsed() > SILENCE_MAX && !stderr().is_terminal() {
                silence::say(WAITING);
            }
        }
    }

    /// `None` at the end of the stream.
    pub(crate) fn next<T>(&self, stream: &mut Streaming<T>) -> Result<Option<T>, RemoteError> {
        Ok(self.answer(stream.message(), Patience::Aloud)??)
    }
}

/// Collects the rows of a paged list; `page` takes a page token, and returns rows and the next token.
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

/// The last answer of a paged list, with the rows of all; `list` borrows the rows and the token of the next page.
pub(crate) fn whole_list<M, T>(
    mut page: impl FnMut(String) -> Result<M, RemoteError>,
    list: fn(&mut M) -> (&mut Vec<T>, &mut String),
) -> Result<M, RemoteError> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let mut answer = page(token)?;
        let (rows, next) = list(&mut answer);
        all.append(rows);
        token = std::mem::take(next);
        if token.is_empty() {
            rows.append(&mut all);
            return Ok(answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_a_list_are_one_answer() {
        let pages = |token: String| {
            let at = token.parse().unwrap_or(0_u32);
            let next = if at < 2 {
                (at + 1).to_string()
            } else {
                String::new()
            };
            Ok((vec![at, at + 10], next))
        };
        let whole = whole_list(pages, |(rows, token)| (rows, token)).unwrap();
        assert_eq!(whole, (vec![0, 10, 1, 11, 2, 12], String::new()));
    }

    #[test]
    fn a_connection_that_breaks_is_a_refusal_and_no_gateway() {
        // amemd may have made the change: its request id must be told.
        for words in ["transport error", "h2 protocol error: http2 error"] {
            let error = RemoteError::from(Status::unknown(words));
            assert!(matches!(error, RemoteError::Refused(_)), "{error}");
        }
        let foreign = "grpc-status header missing, mapped from HTTP status code 404";
        let error = RemoteError::from(Status::unimplemented(foreign));
        assert!(matches!(error, RemoteError::Unreachable { .. }), "{error}");
    }
}
