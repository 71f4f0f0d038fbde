//! What keeps the daemon from running.

use std::io;
use std::path::PathBuf;

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
    /// The operating system gives no signals.
    #[error("cannot listen for signals: {0}")]
    Signals(#[source] io::Error),
    /// The server ended.
    #[error("serving failed: {0}")]
    Serve(#[from] tonic::transport::Error),
}

impl Error {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}
