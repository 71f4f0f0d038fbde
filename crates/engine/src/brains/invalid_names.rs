//! Entries of the folder with the suffix of brains that cannot be brains: folders, and files whose names are not UTF-8.
//!
//! Promises: each is listed as a rejected file as long as it is there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use amem_locks::LockResultExt;
use amem_store::folder::SUFFIX;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::tasks::blocking;

/// Entries with invalid names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InvalidNames {
    /// Folders, by what would be the brain's name.
    folders: Vec<String>,
    /// Names that are not UTF-8, as they can be shown.
    unreadable: BTreeSet<String>,
}

impl InvalidNames {
    fn of(folder: &Path) -> io::Result<Self> {
        let mut invalid = Self::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let file = entry.file_name();
            let name = file.as_bytes().strip_suffix(SUFFIX.as_bytes());
            // Hidden files are ignored.
            let Some(name) = name.filter(|name| !name.is_empty() && name[0] != b'.') else {
                continue;
            };
            match std::str::from_utf8(name) {
                Err(_) => {
                    invalid.unreadable.insert(name.escape_ascii().to_string());
                }
                Ok(name) if entry.file_type()?.is_dir() => invalid.folders.push(name.to_owned()),
                Ok(_) => {}
            }
        }
        Ok(invalid)
    }
}

impl Engine {
    /// Lists names that are not text as problems; returns the other rejected names, and those of folders: they may be
    /// gone, or new.
    pub(super) async fn check_invalid_names(&self) -> Result<Vec<String>> {
        let path = self.0.path.clone();
        let found = blocking(move || InvalidNames::of(&path)).await?;
        let found = found.map_err(|why| Error::ListFolder(Arc::new(why)))?;
        for name in &found.unreadable {
            let file = format!("{name}{SUFFIX}");
            self.reject(name, &Error::NameNotText { file });
        }
        let before = {
            let known = self.0.unreadable_names.lock();
            let mut known = known.unpoisoned();
            std::mem::replace(&mut *known, found.unreadable.clone())
        };
        for gone in before.difference(&found.unreadable) {
            self.problems().remove(gone);
        }
        let mut names = self.problems().rejected();
        names.retain(|name| !found.unreadable.contains(name));
        names.extend(found.folders);
        Ok(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn folders_and_names_that_are_no_text_are_found_where_brains_would_stand() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            &b"good.amem"[..],
            b"caf\xe9.amem",
            b"caf\xe9.txt",
            b".\xe9.amem",
        ] {
            fs::write(folder.path().join(OsStr::from_bytes(name)), "").unwrap();
        }
        for name in ["dir.amem", "dir", ".hidden.amem"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let expected = InvalidNames {
            folders: vec!["dir".to_owned()],
            unreadable: BTreeSet::from(["caf\\xe9".to_owned()]),
        };
        assert_eq!(InvalidNames::of(folder.path()).unwrap(), expected);
        InvalidNames::of(&folder.path().join("nowhere")).unwrap_err();
    }
}
