//! A connection to amemd over its Unix socket.
//!
//! `Client` has one stub for each service; their methods and messages are those of package `amem.v1`, described in
//! the `.proto` files. Cloning a client is cheap, and clones share the connection.
//!
//! Promises: a daemon that is not there is told by its socket, and what to do. Not here: retries. A write that was
//! not answered is retried by its caller, under the same `request_id`.

use std::env;
use std::path::{Path, PathBuf};

pub use amem_proto::{Duration, Timestamp, v1};
pub use tonic::transport::Channel;
pub use tonic::{Code, Response, Status, Streaming};

use tonic::transport::Endpoint;
use v1::admin_service_client::AdminServiceClient;
use v1::brain_service_client::BrainServiceClient;
use v1::memory_service_client::MemoryServiceClient;
use v1::query_service_client::QueryServiceClient;

/// Bytes of an answer that is accepted.
pub const ANSWER_BYTES_MAX: usize = 16 << 20;

/// The daemon can't be reached.
#[derive(Debug, thiserror::Error)]
#[error(
    "no amemd answers on {socket}: {why}; start it with `amemd`, or name the socket of one that runs with --socket"
)]
pub struct Unreachable {
    /// Where it was expected.
    pub socket: PathBuf,
    /// What the system said.
    pub why: String,
}

/// A connection to a daemon.
#[derive(Debug, Clone)]
pub struct Client {
    /// Brains: making, opening, listing them.
    pub brains: BrainServiceClient<Channel>,
    /// Changes to a brain.
    pub memory: MemoryServiceClient<Channel>,
    /// Questions to a brain.
    pub query: QueryServiceClient<Channel>,
    /// The daemon itself.
    pub admin: AdminServiceClient<Channel>,
}

impl Client {
    /// Connects to the daemon that listens on a Unix socket.
    pub async fn connect(socket: impl AsRef<Path>) -> Result<Self, Unreachable> {
        let socket = socket.as_ref();
        let unreachable = |why: &dyn std::error::Error| Unreachable {
            socket: socket.into(),
            why: root(why),
        };
        let channel = Endpoint::from_shared(format!("unix:{}", socket.display()))
            .map_err(|e| unreachable(&e))?
            .connect()
            .await
            .map_err(|e| unreachable(&e))?;
        Ok(Self {
            brains: BrainServiceClient::new(channel.clone()),
            memory: MemoryServiceClient::new(channel.clone())
                .max_decoding_message_size(ANSWER_BYTES_MAX),
            query: QueryServiceClient::new(channel.clone())
                .max_decoding_message_size(ANSWER_BYTES_MAX),
            admin: AdminServiceClient::new(channel),
        })
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

/// Where a user's daemon listens unless told otherwise: `$XDG_RUNTIME_DIR/amemd/amemd.sock`; that of the system
/// service, `/run/amemd/amemd.sock`, where the variable is not set.
pub fn default_socket() -> PathBuf {
    let runtime = env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    PathBuf::from(runtime.unwrap_or_else(|| "/run".into())).join("amemd/amemd.sock")
}
