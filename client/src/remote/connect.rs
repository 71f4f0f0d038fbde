//! Making a connection: over the Unix socket, over TCP, over TLS.

use std::io;
use std::path::{Path, PathBuf};

use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::{Channel, Endpoint, Uri};

use super::tls::{Connector, Tls};
use crate::limits::{CONNECT_AFTER, KEEPALIVE_EVERY};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// Nobody answers.
    #[error("cannot reach a daemon on {to}: {source}; start amemd, or say where it listens")]
    Unreachable {
        /// The socket's path, or the address.
        to: String,
        /// Why not.
        source: tonic::transport::Error,
    },
    /// What was given can't be used.
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

    fn unreachable(to: impl ToString, source: tonic::transport::Error) -> Self {
        Self::Unreachable {
            to: to.to_string(),
            source,
        }
    }
}

fn kept(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(CONNECT_AFTER)
        .http2_keep_alive_interval(KEEPALIVE_EVERY)
}

/// To the daemon that listens on a Unix socket.
pub(super) async fn unix(path: &Path) -> Result<Channel, ConnectError> {
    // The name only fills the requests' authority; the connector knows where to go.
    let endpoint = kept(Endpoint::from_static("http://localhost"));
    let to = PathBuf::from(path);
    let connector = tower::service_fn(move |_: Uri| {
        let to = to.clone();
        async move { UnixStream::connect(to).await.map(TokioIo::new) }
    });
    let connected = endpoint.connect_with_connector(connector).await;
    connected.map_err(|source| ConnectError::unreachable(path.display(), source))
}

/// To the daemon that listens on an address such as `127.0.0.1:7420` or `memory.example:7420`.
pub(super) async fn tcp(address: &str, tls: Option<Tls>) -> Result<Channel, ConnectError> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|e| ConnectError::invalid("address", format!("{address:?}: {e}")))?;
    let endpoint = kept(endpoint);
    let to = address.to_owned();
    let connected = match tls {
        None => {
            let connector = tower::service_fn(move |_: Uri| {
                let to = to.clone();
                async move { stream(&to).await.map(TokioIo::new) }
            });
            endpoint.connect_with_connector(connector).await
        }
        Some(tls) => {
            let tls = Connector::new(tls, address)?;
            let connector = tower::service_fn(move |_: Uri| {
                let (to, tls) = (to.clone(), tls.clone());
                async move { tls.connect(stream(&to).await?).await.map(TokioIo::new) }
            });
            endpoint.connect_with_connector(connector).await
        }
    };
    connected.map_err(|source| ConnectError::unreachable(address, source))
}

async fn stream(to: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
