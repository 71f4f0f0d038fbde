//! Why the daemon cannot start or run.

#![expect(
    missing_docs,
    reason = "the message of each variant says what its fields are"
)]

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::io::Errno;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why the daemon cannot start or run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No setting, environment variable or default gives a path.
    #[error("no {what}: {remedy}")]
    Missing {
        what: &'static str,
        /// How to give it.
        remedy: &'static str,
    },
    /// The configuration file or the command line cannot be read.
    #[error("{origin}: {why}")]
    File {
        /// The file and line, or the flag.
        origin: String,
        why: String,
    },
    /// A setting has an invalid value.
    #[error("{key} ({origin}): {why}")]
    Setting {
        /// The file and line, the flag, or the variable.
        origin: String,
        key: &'static str,
        /// What is wrong, and what is valid.
        why: String,
    },
    /// The folder is on a file system without reliable locks and syncs.
    #[error(
        "{} is on {name}, where locks and syncs are not reliable: use a folder on a local disk, or set \
         allow_network_folder = true and accept the risk",
        path.display()
    )]
    NetworkFolder {
        path: PathBuf,
        /// The file system.
        name: &'static str,
    },
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        address: SocketAddr,
        source: io::Error,
    },
    /// The service manager forbids the daemon such sockets.
    #[error("cannot listen on {address}: this service may not create TCP sockets: {remedy}")]
    AddressForbidden {
        address: SocketAddr,
        /// What to do.
        remedy: String,
    },
    /// The socket for metrics has no address.
    #[error("the socket for metrics cannot be used: {0}")]
    Metrics(#[source] io::Error),
    /// A socket of the service manager cannot be used.
    #[error("the service manager passed {what}: {why}")]
    InheritedSocket {
        what: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The log cannot be installed.
    #[error("cannot install the log: {0}")]
    Log(String),
    /// The exporter of traces cannot start.
    #[error("cannot export spans to traces.otlp: {0}")]
    Traces(String),
    /// The client of webhooks cannot start.
    #[error("cannot send webhooks: {0}")]
    Webhooks(String),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The folder cannot hold brains.
    #[error("{} {why}", path.display())]
    Folder {
        path: PathBuf,
        /// The reason, and what to do.
        why: &'static str,
    },
    /// Another daemon listens on the socket.
    #[error("another daemon listens on {}: stop it, or set another --socket", path.display())]
    SocketInUse { path: PathBuf },
    /// The socket's path is too long for an address.
    #[error(
        "the socket path has {len} bytes, the limit is {max}: set a shorter --socket ({})",
        path.display()
    )]
    SocketPath {
        path: PathBuf,
        /// Bytes of the longest name that the socket has, temporarily or in the end.
        len: usize,
        max: usize,
    },
    /// The store cannot open the folder.
    #[error(transparent)]
    Store(#[from] amem_store::Error),
    /// The operating system gives no threads.
    #[error("cannot start the threads of the daemon: {0}")]
    Threads(#[source] io::Error),
    /// The operating system gives no signals.
    #[error("cannot listen for signals: {0}")]
    Signals(#[source] io::Error),
    /// The descriptors of the services are invalid.
    #[error("cannot describe the services: {0}")]
    Reflection(#[source] tonic_reflection::server::Error),
}

impl Error {
    /// True if another daemon holds the folder or the socket.
    pub fn is_in_use(&self) -> bool {
        matches!(
            self,
            Self::SocketInUse { .. } | Self::Store(amem_store::Error::Locked { .. })
        )
    }

    /// An address that cannot be bound. `remedy`: what to do if the service manager forbids it.
    pub(crate) fn bound(address: SocketAddr, source: io::Error, remedy: &str) -> Self {
        // The unit's RestrictAddressFamilies= makes socket(2) fail with this.
        let is_forbidden = source.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error());
        if is_forbidden {
            let remedy = remedy.to_owned();
            Self::AddressForbidden { address, remedy }
        } else {
            Self::Listen { address, source }
        }
    }

    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_service_manager_forbids_has_its_remedy() {
        let address = SocketAddr::from(([127, 0, 0, 1], 9411));
        for (errno, fenced) in [(Errno::AFNOSUPPORT, true), (Errno::ADDRINUSE, false)] {
            let told = Error::bound(address, errno.into(), "take the fence away").to_string();
            assert!(told.contains("127.0.0.1:9411"), "{told}");
            assert_eq!(told.contains("take the fence away"), fenced, "{told}");
        }
    }
}
