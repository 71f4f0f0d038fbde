//! What can go wrong: each error names the file, and the position where there is one.

use std::io;
use std::path::PathBuf;

use amem_host::files::FileFault;

/// Bytes of a settings file; a larger one is refused.
pub const FILE_BYTES_MAX: u64 = 32 << 20;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// The home folder does not exist.
    #[error("the home folder {} does not exist", .path.display())]
    MissingHome {
        /// The folder.
        path: PathBuf,
    },
    /// `home` or a variable that moves a client's folder is not an absolute path.
    #[error("{name} is {}, which is not an absolute path", .path.display())]
    RelativeFolder {
        /// The variable, or "the home folder".
        name: &'static str,
        /// Its value.
        path: PathBuf,
    },
    /// The file is no JSON with comments, or no TOML.
    #[error("{}:{line}:{column}: {why}", .path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// What the parser says.
        why: String,
    },
    /// A value in which an entry belongs has another type.
    #[error("{}:{line}:{column}: {key} should be {expected}", .path.display())]
    Unexpected {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The key, or "the file".
        key: String,
        /// What belongs there, with an article.
        expected: &'static str,
    },
    /// The name of the entry is taken by another program.
    #[error("{}:{line}:{column}: {key} runs another program", .path.display())]
    NameTaken {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
        /// The key.
        key: String,
    },
    /// The file is no regular one, another user's, larger than `FILE_BYTES_MAX`, or not UTF-8.
    #[error(transparent)]
    File(FileFault),
    /// A file that connect writes whole exists and has another content.
    #[error("{} exists and is not from amemctl", .path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// Another program wrote the file at the same time.
    #[error("{} was changed by another program at the same time; nothing was written", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The record of what connect added cannot be read.
    #[error("{} is damaged: {why}", .path.display())]
    Record {
        /// The record.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl SettingsError {
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

impl From<FileFault> for SettingsError {
    fn from(fault: FileFault) -> Self {
        match fault {
            FileFault::Io { what, path, source } => Self::io(what, path, source),
            fault => Self::File(fault),
        }
    }
}
