//! The connection to amemd, for commands that are plain code: each call waits for its answer.
//!
//! Not here: the calls themselves (`amem_client::remote`), how an error becomes an exit code.

use std::path::Path;

use amem_client::remote::v1::admin_service_client::AdminServiceClient;
use amem_client::remote::v1::brain_service_client::BrainServiceClient;
use amem_client::remote::v1::memory_service_client::MemoryServiceClient;
use amem_client::remote::v1::query_service_client::QueryServiceClient;
use amem_client::remote::{Channel, Client, Code, Response, Status, Streaming, Unreachable, v1};
use tokio::runtime::{Builder, Runtime};

/// A call to the daemon that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RemoteError {
    /// Nobody answers.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
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
            Self::Unreachable(_) => Code::Unavailable,
            Self::Refused(status) => status.code(),
            Self::Failure(failure) => Code::from_i32(failure.code),
            Self::Runtime(_) => Code::Internal,
        }
    }
}

fn said(status: &Status) -> String {
    if status.message().is_empty() {
        return format!("amemd answered {:?}", status.code());
    }
    status.message().into()
}

/// A connection that is used from plain code.
pub(crate) struct Remote {
    client: Client,
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
        let client = runtime.block_on(Client::connect(socket))?;
        Ok(Self { client, runtime })
    }

    /// Brains: making, opening, listing them.
    pub(crate) fn brains(&self) -> BrainServiceClient<Channel> {
        self.client.brains.clone()
    }

    /// Changes to a brain.
    pub(crate) fn memory(&self) -> MemoryServiceClient<Channel> {
        self.client.memory.clone()
    }

    /// Questions to a brain.
    pub(crate) fn query(&self) -> QueryServiceClient<Channel> {
        self.client.query.clone()
    }

    /// The daemon itself.
    pub(crate) fn admin(&self) -> AdminServiceClient<Channel> {
        self.client.admin.clone()
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
    pub(crate) fn next<T>(
        &self,
        stream: &mut Streaming<T>,
    ) -> Result<Option<T>, RemoteError> {
        let next = self.runtime.block_on(stream.message());
        Ok(next.map_err(Box::new)?)
    }
}
