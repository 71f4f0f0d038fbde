//! Errors of opening a model: one variant per thing that the caller can do.

use std::io;
use std::path::PathBuf;

/// The result of opening a model.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of opening a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A system call failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed operation: "open", "read" …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file or a part of it is missing.
    #[error("{}: {what} is missing: {remedy}", path.display())]
    Missing {
        /// The file, or the folder.
        path: PathBuf,
        /// What is missing.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file is damaged.
    #[error("{} is damaged: {what}; fetch the model's files again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        what: String,
    },
    /// Two files of the folder contradict each other.
    #[error(
        "{}: {what} is {found}, expected {expected}; the folder's files are of different models: fetch all files of one",
        path.display()
    )]
    Mismatch {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: String,
        /// What the file says.
        found: String,
        /// What another file says.
        expected: String,
    },
    /// The model is valid, and this build cannot run it.
    #[error("{}: {what} is not supported: {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What this build cannot do.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A file or a number in it passes a limit.
    #[error("{}: {what} is {found}, the limit is {most}", path.display())]
    Limit {
        /// The file.
        path: PathBuf,
        /// What is limited.
        what: String,
        /// What was found.
        found: u64,
        /// The limit.
        most: u64,
    },
    /// A setting of the caller's does not fit the model.
    #[error("the setting {name} is {found}: {remedy}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        found: String,
        /// What to do.
        remedy: String,
    },
}
