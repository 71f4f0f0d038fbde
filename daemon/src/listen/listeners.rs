//! Everything the daemon listens on.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use super::lent::Lent;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::socket::Socket;

/// Everything the daemon listens on.
#[derive(Debug)]
pub struct Listeners {
    /// The Unix socket.
    pub unix: Socket,
    /// TCP, if it is on.
    pub tcp: Option<TcpListener>,
}

impl Listeners {
    /// Listens where the configuration says, by the sockets that are lent, if any are.
    pub async fn bind(config: &Config, lent: Lent) -> Result<Self> {
        let unix = match lent.unix {
            Some((listener, path)) => Socket::lent(listener, &path)?,
            None => Socket::bind(&config.socket, config.socket_group)?,
        };
        let tcp = match (&config.tcp, lent.tcp) {
            (None, None) => None,
            (Some(tcp), None) => Some(bind_tcp(tcp.listen).await?),
            (configured, Some(listener)) => Some(take_tcp(
                listener,
                configured.as_ref().map(|tcp| tcp.listen),
            )?),
        };
        Ok(Self { unix, tcp })
    }

    /// The address of TCP, with the port that the system chose if port 0 was asked for.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

async fn bind_tcp(address: SocketAddr) -> Result<TcpListener> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| {
        let remedy = format!(
            "have the service manager make it (ListenStream={address} in a drop-in of amemd.socket), or allow them \
             (RestrictAddressFamilies=, PrivateNetwork=)"
        );
        Error::bound(address, source, &remedy)
    })
}

/// Takes a socket of TCP that is lent. Whether an address is safe was judged by the configuration: no other will do.
fn take_tcp(
    listener: std::net::TcpListener,
    configured: Option<SocketAddr>,
) -> Result<TcpListener> {
    let unusable = |e: std::io::Error| Error::Lent {
        what: "a TCP socket".into(),
        why: e.to_string(),
    };
    let address = listener.local_addr().map_err(unusable)?;
    if configured != Some(address) {
        let said = match configured {
            None => "TCP is off".to_owned(),
            Some(other) => format!("tcp.listen is {other}"),
        };
        return Err(Error::Lent {
            what: format!("TCP on {address}"),
            why: format!("{said}: set tcp.listen = \"{address}\", or take its ListenStream= away"),
        });
    }
    listener.set_nonblocking(true).map_err(unusable)?;
    TcpListener::from_std(listener).map_err(unusable)
}
