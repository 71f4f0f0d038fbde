//! Path check: the brain's name must still be that of the open file. After `rm`, `mv` or `cp -f` the store would write
//! to a file without a name.
//!
//! Promises: a missing file is noticed before the next answer, and its content is saved
//! (`missing_file`); a file that takes the name costs the brain nothing and goes to quarantine, even if it comes in the
//! moment in which the brain is removed.

use std::io;

use crate::error::{Error, Result};
use crate::log::recovery;
use crate::log::store::{MissingFile, OpenHandle, Store};
use crate::names::displaced;
use crate::names::folder::{Folder, TMP};

impl Store {
    /// Opens a closed brain again by its open handle, and checks its path (`check_path`).
    pub fn reopen(folder: &Folder, name: &str, handle: &OpenHandle) -> Result<Self> {
        let mut store = recovery::open_file(folder, name, handle.file().clone())?;
        store.check_path()?;
        Ok(store)
    }

    /// Removes the brain's file, durably. Readers that have it mapped keep what they see.
    ///
    /// Another file under the brain's name stays, and what was committed is saved (`Error::Replaced`).
    pub fn remove(mut self) -> Result<()> {
        self.folder.check_lock()?;
        let ours = self.file.id();
        match self.folder.identity(&self.file_name)? {
            Some(id) if id == ours => {}
            Some(_) => return Err(self.lose_name("another file has its name".into())),
            None => return Err(self.lose_name(self.is_gone())),
        }
        self.folder.remove_vector_rows(&self.name)?;
        match displaced::remove_own(&self.folder, &self.name, ours) {
            Ok(true) => {}
            Ok(false) => return Err(self.lose_name("another file took its name".into())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(self.lose_name(self.is_gone()));
            }
            Err(e) => {
                return Err(match self.folder.identity(&self.file_name) {
                    Ok(Some(id)) if id == ours => Error::disk("remove", &self.file_name, e),
                    Ok(Some(_)) => self.lose_name("another file has its name".into()),
                    Ok(None) | Err(_) => Error::OutcomeUnknown {
                        why: format!("removing {}: {e}", self.file_name),
                    },
                });
            }
        }
        let disk = self.folder.disk();
        for folder in ["", TMP] {
            disk.sync_folder(folder)
                .map_err(|e| Error::OutcomeUnknown {
                    why: format!("syncing the folder: {e}"),
                })?;
        }
        Ok(())
    }

    /// Checks that the brain's name is still that of our file. Returns true if another file had taken it.
    ///
    /// That file goes to quarantine, and the brain continues in a new generation under its name. If no file has the
    /// name, what is committed is saved (`Error::Replaced`), and nothing is written any more. What cannot be saved now
    /// (`Error::Unsaved`) stays in the open file, and the next check tries again. Of a file that was overwritten
    /// nothing is saved (`Error::Overwritten`).
    pub fn check_path(&mut self) -> Result<bool> {
        if let Some(MissingFile::Saved(saved)) = &self.missing {
            return Err(self.replaced(saved.clone()));
        }
        self.check_content()?;
        let was_taken = match self.folder.identity(&self.file_name)? {
            Some(id) if id == self.file.id() => false,
            Some(_) => match self.checkpoint() {
                Ok(()) => true,
                // Nothing has changed: the next commit tries again.
                Err(e) if self.poison.is_none() || self.saved().is_some() => return Err(e),
                Err(e) => return Err(self.lose_name(e.to_string())),
            },
            None => return Err(self.lose_name(self.is_gone())),
        };
        self.missing = None;
        Ok(was_taken)
    }

    fn is_gone(&self) -> String {
        format!("no file is named {}", self.file_name)
    }
}
