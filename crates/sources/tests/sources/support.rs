//! Files for the tests, and what was read from them.

use std::fs;
use std::path::{Path, PathBuf};

use amem_sources::{
    CollectedItems, ReadCounts, ReadOptions, SkipReason, SourceError, SourceItem, read,
};

/// A folder that goes at the end of the test.
pub(crate) struct Shelf {
    folder: tempfile::TempDir,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Canonical.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn file(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            home: Some(self.path()),
            ..ReadOptions::default()
        }
    }

    pub(crate) fn read(&self, path: impl AsRef<Path>) -> SourceReading {
        self.try_read(path).unwrap()
    }

    pub(crate) fn try_read(&self, path: impl AsRef<Path>) -> Result<SourceReading, SourceError> {
        let mut all = CollectedItems::default();
        let path = self.path().join(path);
        let counts = read(&path, None, &self.options(), &mut all)?;
        Ok(SourceReading { all, counts })
    }
}

pub(crate) struct SourceReading {
    pub(crate) all: CollectedItems,
    pub(crate) counts: ReadCounts,
}

impl SourceReading {
    pub(crate) fn items(&self) -> &[SourceItem] {
        &self.all.items
    }

    pub(crate) fn texts(&self) -> Vec<&str> {
        self.all
            .items
            .iter()
            .map(|item| item.text.as_str())
            .collect()
    }

    /// Role and text of each item.
    pub(crate) fn turns(&self) -> Vec<(&str, &str)> {
        self.all
            .items
            .iter()
            .map(|item| {
                (
                    item.role.as_ref().map_or("", |role| role.name()),
                    item.text.as_str(),
                )
            })
            .collect()
    }

    pub(crate) fn item(&self, text: &str) -> &SourceItem {
        let found = self
            .all
            .items
            .iter()
            .find(|item| item.text.starts_with(text));
        found.unwrap_or_else(|| panic!("{text:?} is not among {:?}", self.texts()))
    }

    /// Lines of entries skipped for a reason.
    pub(crate) fn lines(&self, reason: SkipReason) -> Vec<u64> {
        let of = self
            .all
            .skipped
            .iter()
            .filter(|entry| entry.reason == reason);
        of.map(|entry| entry.place.line).collect()
    }

    /// Skipped entries that may be wrong.
    pub(crate) fn faults(&self) -> Vec<String> {
        let faults = self
            .all
            .skipped
            .iter()
            .filter(|entry| entry.reason.is_fault());
        faults
            .map(|entry| format!("{}: {}", entry.place, entry.detail))
            .collect()
    }

    /// Relations of an item, as name and target.
    pub(crate) fn relations(&self, text: &str) -> Vec<(String, String)> {
        let item = self.item(text);
        let shown = |id: &amem_sources::SourceId| id.to_string();
        item.relations
            .iter()
            .map(|r| (r.name.clone(), shown(&r.to)))
            .collect()
    }
}

/// Lines of JSON.
pub(crate) fn lines(values: &[serde_json::Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}
