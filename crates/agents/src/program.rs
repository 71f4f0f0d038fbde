//! The program that clients run, and how they find it.

use std::path::{Path, PathBuf};

/// The file name of the program.
pub(crate) const PROGRAM: &str = "amemctl";

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

/// A bare name or an absolute path of amemctl.
pub(crate) fn is_program(text: &str) -> bool {
    let is_path = text == PROGRAM || text.starts_with('/');
    is_path
        && Path::new(text)
            .file_name()
            .is_some_and(|name| name == PROGRAM)
}

/// What follows `amemctl hook` in a command as the table of hooks makes it, for any program.
pub(crate) fn hook_arguments(command: &str) -> Option<&str> {
    let rest = command.strip_prefix("command -v ")?;
    let (program, rest) = rest.split_once(" >/dev/null 2>&1 && ")?;
    let rest = rest.strip_prefix(program)?.strip_prefix(" hook ")?;
    let is_ours = is_program(
        &program
            .replace("'\\''", "\u{0}")
            .replace('\'', "")
            .replace('\u{0}', "'"),
    );
    rest.strip_suffix(" || true").filter(|_| is_ours)
}
