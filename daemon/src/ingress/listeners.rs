//! The sockets that the daemon listens on.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::config::{Config, HttpAddress};
use crate::error::{Error, Result};
use crate::os::{InheritedSockets, Socket};

/// The sockets that the daemon listens on.
#[derive(Debug)]
pub struct Listeners {
    /// The Unix socket.
    pub unix: Socket,
    /// TCP for gRPC, if it is on.
    pub tcp: Option<TcpListener>,
    /// TCP for metrics by HTTP, if they are on.
    pub metrics: Option<TcpListener>,
    /// HTTP, if it is on.
    pub http: CallListeners,
}

/// The sockets of one protocol.
#[derive(Debug, Default)]
pub struct CallListeners {
    pub(crate) unix: Option<Socket>,
    pub(crate) tcp: Option<TcpListener>,
}

impl CallListeners {
    /// The bound address, as the log shows it; `None` if there is no socket.
    pub(crate) fn address(&self) -> Option<String> {
        let unix = || {
            self.unix
                .as_ref()
                .map(|unix| unix.path().display().to_string())
        };
        let tcp = self.tcp.as_ref().and_then(|tcp| tcp.local_addr().ok());
        tcp.map(|address| address.to_string()).or_else(unix)
    }
}

impl Listeners {
    /// Takes the inherited sockets, and binds those that the configuration names beside them.
    pub async fn bind(config: &Config, inherited: InheritedSockets) -> Result<Self> {
        let unix = match inherited.unix {
            Some((listener, path)) => Socket::inherited(listener, &path)?,
            None => Socket::bind(&config.socket, config.socket_group)?,
        };
        let tcp = config.tcp.as_ref().and_then(|tcp| tcp.listen);
        let http = CallListeners {
            unix: match &config.http {
                Some(HttpAddress::Unix(path)) => Some(Socket::bind(path, config.socket_group)?),
                _ => None,
            },
            tcp: {
                let address = config.http.as_ref().and_then(HttpAddress::tcp);
                HTTP.bind(address, inherited.http).await?
            },
        };
        Ok(Self {
            unix,
            tcp: TCP.bind(tcp, inherited.tcp).await?,
            metrics: METRICS.bind(config.metrics, inherited.metrics).await?,
            http,
        })
    }

    /// The bound address of TCP: its port is never 0.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

/// The purpose of a TCP socket, for messages.
struct Purpose {
    what: &'static str,
    /// The message if no address is set.
    off: &'static str,
    /// The setting with its address.
    key: &'static str,
    /// Where to declare the socket if only the service manager may bind it.
    declared: &'static str,
}

const TCP: Purpose = Purpose {
    what: "TCP",
    off: "TCP is off",
    key: "tcp.listen",
    declared: "in a drop-in of amemd.socket",
};

const HTTP: Purpose = Purpose {
    what: "HTTP",
    off: "HTTP by TCP is off",
    key: "http.listen",
    declared: "and FileDescriptorName=http in a socket unit",
};

const METRICS: Purpose = Purpose {
    what: "metrics",
    off: "metrics are off",
    key: "metrics.listen",
    declared: "and FileDescriptorName=metrics in amemd-metrics.socket",
};

impl Purpose {
    /// The inherited socket, else one bound to the configured address, else none.
    async fn bind(
        &self,
        configured: Option<SocketAddr>,
        inherited: Option<std::net::TcpListener>,
    ) -> Result<Option<TcpListener>> {
        Ok(match (configured, inherited) {
            (None, None) => None,
            (Some(address), None) => Some(self.make(address).await?),
            (configured, Some(listener)) => Some(self.take(listener, configured)?),
        })
    }

    async fn make(&self, address: SocketAddr) -> Result<TcpListener> {
        let bound = TcpListener::bind(address).await;
        bound.map_err(|source| {
            let remedy = format!(
                "let the service manager create it (ListenStream={address} {}), or allow TCP sockets \
                 (RestrictAddressFamilies=, PrivateNetwork=)",
                self.declared
            );
            Error::bound(address, source, &remedy)
        })
    }

    /// Takes an inherited socket. Its address must be the configured one: only that was checked for safety.
    fn take(
        &self,
        listener: std::net::TcpListener,
        configured: Option<SocketAddr>,
    ) -> Result<TcpListener> {
        let Self { what, key, .. } = self;
        let unusable = |e: std::io::Error| Error::InheritedSocket {
            what: format!("a socket for {what}"),
            why: e.to_string(),
        };
        let address = listener.local_addr().map_err(unusable)?;
        if configured != Some(address) {
            let said = match configured {
                None => self.off.to_owned(),
                Some(other) => format!("{key} is {other}"),
            };
            return Err(Error::InheritedSocket {
                what: format!("{what} on {address}"),
                why: format!("{said}: set {key} = \"{address}\", or remove its ListenStream="),
            });
        }
        listener.set_nonblocking(true).map_err(unusable)?;
        TcpListener::from_std(listener).map_err(unusable)
    }
}
