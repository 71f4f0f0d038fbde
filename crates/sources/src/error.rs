//! Why a source cannot be read at all. A bad entry is no error: it is skipped, with its place and reason.

use std::io;
use std::path::PathBuf;

use crate::kind::SourceKind;

/// Why nothing, or nothing more, was read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The path, or a file below it, cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The ZIP is damaged, or larger than it may be.
    #[error("{}: {why}", path.display())]
    BadZip {
        /// The ZIP.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The database cannot be read.
    #[error("{}: {why}", path.display())]
    BadDatabase {
        /// The database.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Nothing in the path is of a known kind.
    #[error("{} is nothing that can be imported: it looks like {looks_like}", path.display())]
    UnknownKind {
        /// The file or folder.
        path: PathBuf,
        /// What it looks like.
        looks_like: String,
    },
    /// The path has something, but not of the kind that the caller named.
    #[error("{} has nothing of kind {wanted}: it looks like {looks_like}", path.display())]
    OtherKind {
        /// The file or folder.
        path: PathBuf,
        /// The kind that the caller named.
        wanted: SourceKind,
        /// What it looks like.
        looks_like: String,
    },
    /// The folder or ZIP has more files than are read.
    #[error("{} has more than {max} files", path.display())]
    TooManyFiles {
        /// The folder or ZIP.
        path: PathBuf,
        /// [`crate::limits::FILES_MAX`].
        max: usize,
    },
    /// The sink ended the reading.
    #[error("stopped by the caller")]
    Stopped,
}

impl SourceError {
    pub(crate) fn io(path: impl Into<PathBuf>, error: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            error,
        }
    }
}
