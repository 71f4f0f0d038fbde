//! Why a project cannot be named.

use std::path::PathBuf;

/// Bytes of the id of a project.
pub const PROJECT_BYTES_MAX: usize = 200;

/// Why a project cannot be named.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// `.amem.toml` cannot be read.
    #[error("cannot read {path}: {why}", path = path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The name of a project is empty, too long, or has control characters.
    #[error(
        "{name:?} is no name of a project: 1 to {PROJECT_BYTES_MAX} bytes without control characters are"
    )]
    Name {
        /// The name, shortened.
        name: String,
    },
}
