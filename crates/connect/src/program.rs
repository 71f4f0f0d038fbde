//! The program that clients run, and how they find it.

use std::path::{Path, PathBuf};

use crate::entry::PROGRAM;

/// Where amemctl is.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    is_on_path: bool,
}

impl Program {
    /// `path` is absolute. `is_on_path` says that a shell finds this file by its name.
    pub fn new(path: impl Into<PathBuf>, is_on_path: bool) -> Self {
        Self {
            path: path.into(),
            is_on_path,
        }
    }

    /// As a client runs it: by its name where the client has the PATH of a shell, else by its path. Files of a project
    /// are shared with others, whose paths differ.
    pub(crate) fn command(&self, has_path: bool, is_shared: bool) -> String {
        let is_named = self.path.file_name().is_some_and(|name| name == PROGRAM);
        if is_shared || (has_path && self.is_on_path && is_named) {
            PROGRAM.to_owned()
        } else {
            self.path.to_string_lossy().into_owned()
        }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A word for a POSIX shell.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._+-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
