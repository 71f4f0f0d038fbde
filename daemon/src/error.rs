//! What keeps the daemon from running.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::io::Errno;

/// The result of starting or running the daemon.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What keeps the daemon from running.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing says where something is.
    #[error("no {what}: {remedy}")]
    NotSaid {
        /// What is missing.
        what: &'static str,
        /// How to say it.
        remedy: &'static str,
    },
    /// What a file of settings or the command line says means nothing.
    #[error("{origin}: {why}")]
    File {
        /// Where it stands.
        origin: String,
        /// What is wrong.
        why: String,
    },
    /// A setting has a value that does not do.
    #[error("{key} ({origin}): {why}")]
    Setting {
        /// Where it stands.
        origin: String,
        /// Which setting.
        key: &'static str,
        /// What is wrong, and what would be right.
        why: String,
    },
    /// The folder is on a file system that can't keep our promises.
    #[error(
        "{} is on {name}, where locks and syncs can't be relied on: use a folder on a disk of this machine, or set \
         allow_network_folder = true and bear it",
        path.display()
    )]
    Elsewhere {
        /// The folder.
        path: PathBuf,
        /// The file system.
        name: &'static str,
    },
    /// The address can't be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The service manager lets the daemon make no such socket.
    #[error("cannot listen on {address}: this service may not make TCP sockets: {remedy}")]
    Fenced {
        /// The address.
        address: SocketAddr,
        /// What to do.
        remedy: String,
    },
    /// The socket for metrics says nothing of where it listens.
    #[error("the socket for metrics is of no use: {0}")]
    Metrics(#[source] io::Error),
    /// The service manager lent something of no use.
    #[error("the service manager lent {what}: {why}")]
    InheritedSocket {
        /// What it lent.
        what: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The log could not be set up.
    #[error("cannot write a log: {0}")]
    Log(String),
    /// Spans can't be told.
    #[error("spans can't be told to traces.otlp: {0}")]
    Traces(String),
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The folder can't be the one of the brains.
    #[error("{} {why}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why not, and what to do.
        why: &'static str,
    },
    /// A daemon answers on the socket.
    #[error("a daemon is listening on {} already: stop it, or give another --socket", path.display())]
    SocketInUse {
        /// The socket.
        path: PathBuf,
    },
    /// The socket's path does not fit an address.
    #[error(
        "the path of the socket has {len} bytes, at most {max} fit: give a shorter --socket ({})",
        path.display()
    )]
    SocketPath {
        /// The socket.
        path: PathBuf,
        /// Its bytes, those of the name that it has before it is ready included.
        len: usize,
        /// The most.
        max: usize,
    },
    /// The folder could not be taken.
    #[error(transparent)]
    Store(#[from] amem_store::Error),
    /// The operating system gives no threads.
    #[error("cannot start the threads of the daemon: {0}")]
    Threads(#[source] io::Error),
    /// The operating system gives no signals.
    #[error("cannot listen for signals: {0}")]
    Signals(#[source] io::Error),
    /// The descriptions of the services can't be read.
    #[error("the services can't be described: {0}")]
    Reflection(#[source] tonic_reflection::server::Error),
    /// The server ended.
    #[error("serving failed: {0}")]
    Serve(#[from] tonic::transport::Error),
}

impl Error {
    /// True if another daemon has what this one needs.
    pub fn is_in_use(&self) -> bool {
        matches!(
            self,
            Self::SocketInUse { .. } | Self::Store(amem_store::Error::Locked { .. })
        )
    }

    /// An address can't be listened on. `remedy`: what to do where the service manager does not let us.
    pub(crate) fn bound(address: SocketAddr, source: io::Error, remedy: &str) -> Self {
        // What the unit of the service says to sockets that it did not foresee.
        let is_fenced = source.raw_os_error() == Some(Errno::AFNOSUPPORT.raw_os_error());
        match is_fenced {
            true => Self::Fenced {
                address,
                remedy: remedy.to_owned(),
            },
            false => Self::Listen { address, source },
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
