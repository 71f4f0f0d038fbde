//! Connects over the Unix socket, TCP or TLS.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, UnixStream};
use tonic::transport::{Channel, Endpoint, Uri};

use super::connect_error::ConnectError;
use super::tls::{Tls, TlsConnection};
use crate::limits::{CONNECT_AFTER, KEEPALIVE_EVERY};

fn kept(endpoint: Endpoint) -> Endpoint {
    endpoint
        .connect_timeout(CONNECT_AFTER)
        .http2_keep_alive_interval(KEEPALIVE_EVERY)
}

pub(super) async fn unix(path: &Path) -> Result<Channel, ConnectError> {
    // Only fills the authority of requests; the connector knows the path.
    let endpoint = kept(Endpoint::from_static("http://localhost"));
    let to = PathBuf::from(path);
    let connector = tower::service_fn(move |_: Uri| {
        let to = to.clone();
        async move { UnixStream::connect(to).await.map(TokioIo::new) }
    });
    let connected = endpoint.connect_with_connector(connector).await;
    connected.map_err(|source| ConnectError::unreachable(path.display(), source))
}

/// An address such as `127.0.0.1:7420` or `memory.example:7420`. With `secret`, plaintext goes only to this machine.
pub(super) async fn tcp(
    address: &str,
    tls: Option<Tls>,
    secret: bool,
) -> Result<Channel, ConnectError> {
    let endpoint = Endpoint::from_shared(format!("http://{address}"))
        .map_err(|e| ConnectError::invalid("address", format!("{address:?}: {e}")))?;
    let endpoint = kept(endpoint);
    let to = address.to_owned();
    let connected = match tls {
        None => {
            let connector = tower::service_fn(move |_: Uri| {
                let to = to.clone();
                async move {
                    let stream = stream(&to).await?;
                    // Checked for each connection: the address of a name may change.
                    if secret && !is_here(stream.peer_addr()?.ip()) {
                        return Err(io::Error::other(PlaintextToken));
                    }
                    Ok(TokioIo::new(stream))
                }
            });
            endpoint.connect_with_connector(connector).await
        }
        Some(tls) => {
            let tls = TlsConnection::new(tls, address)?;
            let connector = tower::service_fn(move |_: Uri| {
                let (to, tls) = (to.clone(), tls.clone());
                async move { tls.connect(stream(&to).await?).await.map(TokioIo::new) }
            });
            endpoint.connect_with_connector(connector).await
        }
    };
    connected.map_err(|source| {
        if is_plaintext_token(&source) {
            ConnectError::invalid("address", format!("{address:?}: {PlaintextToken}"))
        } else {
            ConnectError::unreachable(address, source)
        }
    })
}

/// A token would be sent in plaintext.
#[derive(Debug, thiserror::Error)]
#[error(
    "it is another machine, and without TLS the token could be read on the way: give the daemon's authority \
     (amemctl: --tls-ca), or go through a tunnel to this machine"
)]
struct PlaintextToken;

fn is_plaintext_token(error: &(dyn std::error::Error + 'static)) -> bool {
    let of_io = |error: &io::Error| {
        error
            .get_ref()
            .is_some_and(|inner| inner.is::<PlaintextToken>())
    };
    let mut source = Some(error);
    while let Some(error) = source {
        if error.is::<PlaintextToken>() || error.downcast_ref().is_some_and(of_io) {
            return true;
        }
        source = error.source();
    }
    false
}

/// Whether the address is on this machine.
fn is_here(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

async fn stream(to: &str) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(to).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::UdpSocket;
    use tokio::io::AsyncReadExt;
    use tokio::net::TcpListener;

    #[test]
    fn only_addresses_of_the_loopback_are_here() {
        for (address, here) in [
            ("127.0.0.1", true),
            ("127.8.9.1", true),
            ("::1", true),
            ("::ffff:127.0.0.1", true),
            ("0.0.0.0", false),
            ("10.0.0.1", false),
            ("::ffff:10.0.0.1", false),
            ("2001:db8::1", false),
        ] {
            assert_eq!(is_here(address.parse().unwrap()), here, "{address}");
        }
    }

    /// An address that this machine has in a network; none if it is in none.
    fn address() -> Option<IpAddr> {
        let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
        // Nothing is sent by that: the system only looks up the way.
        socket.connect("192.0.2.1:9").ok()?;
        let address = socket.local_addr().ok()?.ip();
        (!address.is_loopback()).then_some(address)
    }

    #[tokio::test]
    async fn a_secret_goes_to_another_machine_by_tls_or_not_at_all() {
        let Some(address) = address() else {
            // What a test prints in the usual way is not shown if it passes.
            let mut told = std::io::stderr().lock();
            drop(writeln!(told, "SKIPPED: this machine is in no network"));
            return;
        };
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let to = listener.local_addr().unwrap().to_string();
        let heard = tokio::spawn(async move {
            let mut all = Vec::new();
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut bytes = [0; 24];
                let read = stream.read(&mut bytes).await.unwrap();
                all.push(bytes[..read].to_vec());
            }
            all
        });
        let error = tcp(&to, None, true).await.unwrap_err();
        assert!(matches!(
            error,
            ConnectError::Invalid {
                what: "address",
                ..
            }
        ));
        assert!(error.to_string().contains("--tls-ca"), "{error}");
        // What is no secret goes there.
        drop(tcp(&to, None, false).await);
        let heard = heard.await.unwrap();
        assert_eq!(heard[0], b"");
        assert!(heard[1].starts_with(b"PRI * HTTP/2.0"));
    }
}
