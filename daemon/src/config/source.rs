//! The source of a setting's value, and the value as the source gives it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingSource {
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
    /// No layer has a value.
    Default,
}

impl fmt::Display for SettingSource {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(name) => write!(out, "{name}"),
            Self::Variable(name) => write!(out, "{name}"),
            Self::File { path, line } => write!(out, "{}:{line}", path.display()),
            Self::Default => write!(out, "default"),
        }
    }
}

/// A setting and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub key: &'static str,
    /// Its value, if there is any.
    pub value: Option<String>,
    /// Where the value comes from.
    pub source: SettingSource,
    /// True if a reload applies it.
    pub live: bool,
}

/// A value as its source gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RawValue {
    /// Text: the only kind in flags and variables.
    Text(OsString),
    /// An integer.
    Integer(i64),
    /// A boolean.
    Boolean(bool),
    /// A table of texts.
    Table(BTreeMap<String, String>),
}
