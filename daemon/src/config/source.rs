//! Where a setting's value comes from, and the value as it stands there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A flag of the command line.
    Flag(&'static str),
    /// An environment variable.
    Variable(&'static str),
    /// A file, and the line in it.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Nobody says anything else.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(out, "{name}"),
            Self::Variable(name) => write!(out, "{name}"),
            Self::File { path, line } => write!(out, "{}:{line}", path.display()),
            Self::Default => write!(out, "default"),
        }
    }
}

/// A value as it stands at its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Raw {
    /// Text: all that flags and variables have.
    Text(OsString),
    /// A number.
    Whole(i64),
    /// Yes or no.
    Switch(bool),
    /// Names with a word each.
    Words(BTreeMap<String, String>),
}
