//! Why a project cannot be named.

use std::path::PathBuf;

use crate::files::FileFault;

/// Bytes of the id of a project.
pub const PROJECT_BYTES_MAX: usize = 200;

/// Why a project cannot be named. No message has content of a file.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// A file that is not read: a link, a pipe, another user's.
    #[error(transparent)]
    File(#[from] FileFault),
    /// `.amem.toml`, or the list of allowed projects, says something else than it may.
    #[error("cannot read {path}: {why}", path = path.display())]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        why: String,
    },
    /// The name of a project is empty, too long, or has control characters.
    #[error(
        "the project name {name:?} cannot be used: give 1 to {PROJECT_BYTES_MAX} bytes without control characters"
    )]
    Name {
        /// The name, shortened.
        name: String,
    },
}

/// Refuses what cannot be the name of a project.
pub(crate) fn check_name(name: &str) -> Result<(), ProjectError> {
    let is_name =
        !name.is_empty() && name.len() <= PROJECT_BYTES_MAX && !name.chars().any(char::is_control);
    match is_name {
        true => Ok(()),
        false => Err(ProjectError::Name {
            name: name.chars().take(64).collect(),
        }),
    }
}

/// Parses TOML of a file; the error names the line and shows nothing of it.
pub(crate) fn table(path: &std::path::Path, text: &str) -> Result<toml::Table, ProjectError> {
    text.parse().map_err(|e: toml::de::Error| {
        let before = e.span().and_then(|span| text.get(..span.start));
        let line = 1 + before.unwrap_or_default().matches('\n').count();
        ProjectError::Settings {
            path: path.to_owned(),
            why: format!("line {line} is not TOML"),
        }
    })
}
