//! A missing file: a brain's file lost its name to `rm`, `mv` or another file. The store saves what is committed from
//! the open handle into quarantine, and retries until that is done.

use crate::error::{Error, Result, SavedFile};
use crate::log::checkpoint::Checkpoint;
use crate::log::store::{MissingFile, Store};
use crate::names::folder::{QuarantineReason, RECOVERED};
use crate::names::quarantine;

impl Store {
    /// The file in quarantine that has the brain's content, if its file lost its name.
    pub fn saved(&self) -> Option<&SavedFile> {
        match &self.missing {
            Some(MissingFile::Saved(saved)) => Some(saved),
            _ => None,
        }
    }

    /// Why the brain's content is only in its open file, if its file lost its name.
    pub fn unsaved(&self) -> Option<&str> {
        match &self.missing {
            Some(MissingFile::Unsaved(why)) => Some(why),
            _ => None,
        }
    }

    /// Saves what is committed into quarantine and closes the brain, so that another file can take its place
    /// (`quarantine::take`).
    pub fn retire(self) -> Result<SavedFile> {
        self.check_content()?;
        let saved = self.save()?;
        self.folder.remove_vector_rows(&self.name)?;
        self.close()?;
        Ok(saved)
    }

    /// Saves what is committed, as the brain's file lost its name; returns the answer to callers. Nothing is written
    /// once it is saved: a file that has the name from then on is another's.
    pub(crate) fn lose_name(&mut self, why: String) -> Error {
        match self.save() {
            Ok(saved) => {
                self.poison = Some(why);
                self.missing = Some(MissingFile::Saved(saved.clone()));
                self.replaced(saved)
            }
            Err(e) => {
                let error = Error::Unsaved {
                    name: self.file_name.clone(),
                    why: e.to_string(),
                };
                self.missing = Some(MissingFile::Unsaved(error.to_string()));
                error
            }
        }
    }

    pub(crate) fn replaced(&self, saved: SavedFile) -> Error {
        let name = self.file_name.clone();
        Error::Replaced { name, saved }
    }

    fn save(&self) -> Result<SavedFile> {
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        let disk = self.folder.disk();
        let name = quarantine::new_path(&self.folder, &self.name, QuarantineReason::Recovered)
            .map_err(|e| Error::disk("look at", RECOVERED, e))?;
        checkpoint.publish(&name)?;
        if let Err(e) = disk.sync_folder(RECOVERED) {
            // A name whose sync failed may vanish whatever later syncs say: the next try makes another file.
            drop(disk.remove(&name));
            return Err(Error::disk("sync", RECOVERED, e));
        }
        self.folder
            .note_quarantined(&self.name, &name, QuarantineReason::Recovered);
        Ok(SavedFile(name))
    }
}
