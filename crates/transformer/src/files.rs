//! The folder of a model, read within bounds.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

/// The folder of a model.
#[derive(Debug)]
pub(crate) struct ModelFolder(PathBuf);

impl ModelFolder {
    /// A folder that exists.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let folder = Self(path.to_owned());
        match path.metadata() {
            Ok(found) if found.is_dir() => Ok(folder),
            Ok(_) => Err(folder.failed("open", "", io::ErrorKind::NotADirectory.into())),
            Err(source) => Err(folder.failed("open", "", source)),
        }
    }

    /// The path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        match name {
            "" => self.0.clone(),
            name => self.0.join(name),
        }
    }

    fn failed(&self, action: &'static str, name: &str, source: io::Error) -> Error {
        Error::Io {
            action,
            path: self.path(name),
            source,
        }
    }

    /// A regular file and its length; `None` if there is none of the name.
    pub(crate) fn file(&self, name: &str, bytes_max: u64) -> Result<Option<(File, u64)>> {
        let path = self.path(name);
        let found = match path.metadata() {
            Ok(found) => found,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(self.failed("open", name, source)),
        };
        // A pipe would block, and a device has no end.
        if !found.is_file() {
            let source = io::Error::other("it is not a regular file");
            return Err(self.failed("open", name, source));
        }
        let file = File::open(&path).map_err(|source| self.failed("open", name, source))?;
        let bytes = file.metadata().map_or(found.len(), |found| found.len());
        if bytes > bytes_max {
            return Err(Error::Limit {
                path,
                what: "the file's length in bytes".into(),
                found: bytes,
                most: bytes_max,
            });
        }
        Ok(Some((file, bytes)))
    }

    /// A text file; `None` if there is none.
    pub(crate) fn text(&self, name: &str, bytes_max: u64) -> Result<Option<String>> {
        let Some((file, _)) = self.file(name, bytes_max)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(bytes_max)
            .read_to_end(&mut bytes)
            .map_err(|source| self.failed("read", name, source))?;
        match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                Err(self.damaged(name, format!("byte {at} is no UTF-8")))
            }
        }
    }

    /// A JSON file; `None` if there is none.
    pub(crate) fn json<T: DeserializeOwned>(
        &self,
        name: &str,
        bytes_max: u64,
    ) -> Result<Option<T>> {
        let Some(text) = self.text(name, bytes_max)? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(value) => Ok(Some(value)),
            Err(e) => Err(self.damaged(name, e.to_string())),
        }
    }

    pub(crate) fn damaged(&self, name: &str, what: impl Into<String>) -> Error {
        Error::Damaged {
            path: self.path(name),
            what: what.into(),
        }
    }

    pub(crate) fn missing(&self, name: &str, what: &str, remedy: &'static str) -> Error {
        Error::Missing {
            path: self.path(name),
            what: what.into(),
            remedy,
        }
    }

    pub(crate) fn unsupported(
        &self,
        name: &str,
        what: impl Into<String>,
        remedy: &'static str,
    ) -> Error {
        Error::Unsupported {
            path: self.path(name),
            what: what.into(),
            remedy,
        }
    }
}
