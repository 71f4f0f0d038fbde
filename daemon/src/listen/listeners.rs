//! Everything the daemon listens on.

use std::net::SocketAddr;

use tokio::net::TcpListener;

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
    /// Listens where the configuration says.
    pub async fn bind(config: &Config) -> Result<Self> {
        let unix = Socket::bind(&config.socket, config.socket_group)?;
        let tcp = match &config.tcp {
            None => None,
            Some(tcp) => {
                let address = tcp.listen;
                let listener = TcpListener::bind(address).await;
                Some(listener.map_err(|source| Error::Listen { address, source })?)
            }
        };
        Ok(Self { unix, tcp })
    }

    /// The address of TCP, with the port that the system chose if port 0 was asked for.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        self.tcp.as_ref()?.local_addr().ok()
    }
}
