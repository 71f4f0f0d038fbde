//! What stands in the folder under names of brains and can be none: folders, and files whose names are not text.
//!
//! Promises: each is told as a file that was rejected, for as long as it is there.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::PoisonError;

use amem_store::folder::SUFFIX;
use tonic::Code;

use super::{Brains, blocking};
use crate::refusal::{Refusal, Result};

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Odd {
    /// Folders, by what would be the brain's name.
    folders: Vec<String>,
    /// Names that are not UTF-8, as they can be shown.
    unreadable: BTreeSet<String>,
}

impl Odd {
    fn of(folder: &Path) -> io::Result<Self> {
        let mut odd = Self::default();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let file = entry.file_name();
            let name = file.as_bytes().strip_suffix(SUFFIX.as_bytes());
            // Hidden ones are nobody's.
            let Some(name) = name.filter(|name| !name.is_empty() && name[0] != b'.') else {
                continue;
            };
            match std::str::from_utf8(name) {
                Err(_) => {
                    odd.unreadable.insert(name.escape_ascii().to_string());
                }
                Ok(name) if entry.file_type()?.is_dir() => odd.folders.push(name.to_owned()),
                Ok(_) => {}
            }
        }
        Ok(odd)
    }
}

impl Brains {
    /// Tells of names that are not text, and returns the others that are told as rejected, and those of folders: they
    /// may be gone, or told for the first time.
    pub(crate) async fn odd(&self) -> Result<Vec<String>> {
        let path = self.0.path.clone();
        let found = blocking(move || Odd::of(&path)).await?;
        let found = found.map_err(|why| {
            let message = format!("the folder can't be listed: {why}");
            Refusal::new(Code::Unavailable, "DISK", message)
        })?;
        for name in &found.unreadable {
            let message = format!(
                "its name is not UTF-8 ({name}{SUFFIX}): use letters, digits, '-', '_' and '.'"
            );
            let refusal = Refusal::new(Code::InvalidArgument, "BRAIN_NAME", message);
            self.refuse(name, refusal);
        }
        let before = {
            let known = self.0.unreadable.lock();
            let mut known = known.unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *known, found.unreadable.clone())
        };
        for gone in before.difference(&found.unreadable) {
            self.problem_list().remove(gone);
        }
        let mut told = self.problem_list().rejected();
        told.retain(|name| !found.unreadable.contains(name));
        told.extend(found.folders);
        Ok(told)
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
        let expected = Odd {
            folders: vec!["dir".to_owned()],
            unreadable: BTreeSet::from(["caf\\xe9".to_owned()]),
        };
        assert_eq!(Odd::of(folder.path()).unwrap(), expected);
        Odd::of(&folder.path().join("nowhere")).unwrap_err();
    }
}
