//! The record of what connect inserted: places and a hash, no text.
//!
//! With it, a file that nobody changed since gets back its bytes, also where layout alone does not tell what was there
//! before (`{}`, an empty file, or none).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::error::SettingsError;
use crate::splice::{Spans, without};

const VERSION: u32 = 1;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    version: u32,
    /// Folders that were created, and go when they are empty.
    #[serde(default)]
    pub(crate) folders: Vec<PathBuf>,
    files: BTreeMap<String, Insertion>,
}

/// What was inserted into one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Insertion {
    /// XXH3 of the file after it.
    hash: String,
    spans: Spans,
    /// Whether there was no file before.
    pub(crate) created: bool,
}

impl Insertion {
    pub(crate) fn new(text: &str, spans: &Spans, created: bool) -> Self {
        Self {
            hash: hash(text),
            spans: spans.clone(),
            created,
        }
    }

    /// The text before the insertion, if `text` is what it made.
    pub(crate) fn undo(&self, text: &str) -> Option<String> {
        let is_same = self.hash == hash(text);
        is_same.then(|| without(text, &self.spans)).flatten()
    }
}

fn hash(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

impl Record {
    pub(crate) fn parse(path: &Path, text: Option<&str>) -> Result<Self, SettingsError> {
        let damaged = |why: String| SettingsError::Record {
            path: path.to_owned(),
            why,
        };
        let Some(text) = text else {
            return Ok(Self {
                version: VERSION,
                ..Self::default()
            });
        };
        let record: Self = serde_json::from_str(text).map_err(|e| {
            // The parser's message may repeat what the file says.
            damaged(format!("line {}, column {}", e.line(), e.column()))
        })?;
        if record.version != VERSION {
            return Err(damaged(format!("version {} is not known", record.version)));
        }
        Ok(record)
    }

    pub(crate) fn text(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Remembers folders that were created; forgets those that are gone.
    pub(crate) fn add_folders(&mut self, created: &[PathBuf]) {
        self.folders.retain(|folder| folder.is_dir());
        self.folders.extend_from_slice(created);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn get(&self, path: &Path) -> Option<&Insertion> {
        self.files.get(&*path.to_string_lossy())
    }

    pub(crate) fn set(&mut self, path: &Path, insertion: Option<Insertion>) {
        let key = path.to_string_lossy().into_owned();
        match insertion {
            Some(insertion) => self.files.insert(key, insertion),
            None => self.files.remove(&key),
        };
    }
}
