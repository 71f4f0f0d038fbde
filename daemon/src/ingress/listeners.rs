//! Everything the daemon listens on.

use std::net::SocketAddr;

use tokio::net::TcpListener;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::os::{Lent, Socket};

/// Everything the daemon listens on.
#[derive(Debug)]
pub struct Listeners {
    /// The Unix socket.
    pub unix: Socket,
    /// TCP, if it is on.
    pub tcp: Option<TcpListener>,
    /// Metrics by HTTP, if they are on.
    pub metrics: Option<TcpListener>,
}

impl Listeners {
    /// Listens where the configuration says, by the sockets that are lent, if any are.
    pub async fn bind(config: &Config, lent: Lent) -> Result<Self> {
        let unix = match lent.unix {
            Some((listener, path)) => Socket::lent(listener, &path)?,
            None => Socket::bind(&config.socket, config.socket_group)?,
        };
        let tcp = config.tcp.as_ref().map(|tcp| tcp.listen);
        Ok(Self {
            unix,
            tcp: TCP.bind(tcp, lent.tcp).await?,
            metrics: METRICS.bind(config.metrics, lent.metrics).await?,
        })
    }

    /// The address of TCP, with the port that the system chose if port 0 was asked for.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}

/// What a socket of TCP is for.
struct Use {
    /// In a message.
    what: &'static str,
    /// If no address is set.
    off: &'static str,
    /// The setting that names its address.
    key: &'static str,
    /// How the service manager makes it where the daemon may not.
    made: &'static str,
}

const TCP: Use = Use {
    what: "TCP",
    off: "TCP is off",
    key: "tcp.listen",
    made: "in a drop-in of amemd.socket",
};

const METRICS: Use = Use {
    what: "metrics",
    off: "metrics are off",
    key: "metrics.listen",
    made: "and FileDescriptorName=metrics in amemd-metrics.socket",
};

impl Use {
    /// The socket that is lent, else one of our own where the configuration says; none if it says nothing.
    async fn bind(
        &self,
        configured: Option<SocketAddr>,
        lent: Option<std::net::TcpListener>,
    ) -> Result<Option<TcpListener>> {
        Ok(match (configured, lent) {
            (None, None) => None,
            (Some(address), None) => Some(self.make(address).await?),
            (configured, Some(listener)) => Some(self.take(listener, configured)?),
        })
    }

    async fn make(&self, address: SocketAddr) -> Result<TcpListener> {
        let bound = TcpListener::bind(address).await;
        bound.map_err(|source| {
            let remedy = format!(
                "have the service manager make it (ListenStream={address} {}), or allow them \
                 (RestrictAddressFamilies=, PrivateNetwork=)",
                self.made
            );
            Error::bound(address, source, &remedy)
        })
    }

    /// Takes a socket that is lent. Whether an address is safe was judged by the configuration: no other will do.
    fn take(
        &self,
        listener: std::net::TcpListener,
        configured: Option<SocketAddr>,
    ) -> Result<TcpListener> {
        let Self { what, key, .. } = self;
        let unusable = |e: std::io::Error| Error::Lent {
            what: format!("a socket for {what}"),
            why: e.to_string(),
        };
        let address = listener.local_addr().map_err(unusable)?;
        if configured != Some(address) {
            let said = match configured {
                None => self.off.to_owned(),
                Some(other) => format!("{key} is {other}"),
            };
            return Err(Error::Lent {
                what: format!("{what} on {address}"),
                why: format!("{said}: set {key} = \"{address}\", or take its ListenStream= away"),
            });
        }
        listener.set_nonblocking(true).map_err(unusable)?;
        TcpListener::from_std(listener).map_err(unusable)
    }
}
