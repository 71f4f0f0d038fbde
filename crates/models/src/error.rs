//! What is wrong with settings. Failures of calls are `ModelFailure` of the port.

use std::io;

/// A model that cannot be set up. No variant holds a key.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting has a value that cannot be used.
    #[error("model setting {name}: {why}")]
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// What is wrong with it, without its value if that may be a secret.
        why: String,
    },
    /// Settings that are no TOML, or have an unknown field. The text itself is not repeated: it may hold a key.
    #[error("model settings, line {line}: {why}")]
    Document {
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        why: String,
    },
    /// The file of the models cannot be read.
    #[error("cannot read the models in {path}: {why}")]
    File {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
    /// A sentence-transformer cannot be opened.
    #[error("the embedder in {folder}: {why}")]
    Folder {
        /// Its folder.
        folder: String,
        /// Why.
        why: String,
    },
    /// TLS cannot be set up.
    #[error("TLS for models: {0}")]
    Tls(String),
    /// No thread or event loop for calls.
    #[error("no runtime for models: {0}")]
    Runtime(#[from] io::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn setting(name: &'static str, why: impl Into<String>) -> Self {
        let why = why.into();
        Self::Setting { name, why }
    }
}
