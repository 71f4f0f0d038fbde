//! Serves a client on stdin and stdout until it closes them, or a signal comes.

use amem_mcp::rmcp::ErrorData;
use amem_mcp::rmcp::service::ServerInitializeError;
use amem_mcp::{CompatSet, MemoryServer};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use super::project_source::ProjectSource;

/// Why the server ended early.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServeError {
    #[error("cannot start the server: {0}")]
    Runtime(std::io::Error),
    #[error("the client's first message is no request of MCP: {0}")]
    Opening(String),
}

/// Serves until EOF, SIGINT or SIGTERM. Requests that were read are answered before it ends at EOF.
pub(crate) fn serve(source: ProjectSource, compat: Vec<CompatSet>) -> Result<(), ServeError> {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Runtime)?;
    let done = runtime.block_on(run(source, compat));
    // A read of stdin, or a daemon that is starting, is not waited for.
    runtime.shutdown_background();
    done
}

async fn run(source: ProjectSource, compat: Vec<CompatSet>) -> Result<(), ServeError> {
    let mut interrupt = signal(SignalKind::interrupt()).map_err(ServeError::Runtime)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(ServeError::Runtime)?;
    source.warm_up();
    let server = MemoryServer::new(source, compat, env!("CARGO_PKG_VERSION"));
    let serving = async {
        match server.serve_stdio().await {
            Ok(()) => Ok(()),
            Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
                Ok(())
            }
            Err(ServerInitializeError::InitializeFailed(ErrorData { message, .. })) => {
                Err(ServeError::Opening(message.into_owned()))
            }
            Err(error) => Err(ServeError::Opening(
                error.to_string().chars().take(300).collect(),
            )),
        }
    };
    tokio::select! {
        done = serving => done,
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
    }
}
