//! A received file in the place of the brain whose name it takes.
//!
//! Promises: the file is verified before anything else happens; what had the name is in quarantine, durably, before the
//! new brain has it, and from the first moment to the last a file has the name (where a file can have two names); after
//! an error the name is as it was.
//! Not here: closing the brain before (`amem_engine`).

use std::io;

use crate::disk::FileId;
use crate::error::{Error, Result};
use crate::names::displaced::{give_name, name_in_quarantine};
use crate::names::folder::{Folder, QuarantineReason, SUFFIX, parent_of, quarantine_name};
use crate::names::incoming::{ImportReport, IncomingFile};
use crate::names::ownership::{Ownership, ownership};
use crate::names::quarantine;
use crate::names::untracked::UntrackedFile;

/// What had the brain's name, and is in quarantine.
struct KeptFile {
    folder: Folder,
    brain: String,
    id: FileId,
    /// Its path there, relative to the folder.
    path: String,
    reason: QuarantineReason,
    /// It has the brain's name as well.
    has_both: bool,
}

impl KeptFile {
    /// Gives what has the name a second one in quarantine; none if no file has it. A file that can have one name only
    /// loses the brain's.
    fn of(folder: &Folder, brain: &str) -> Result<Option<Self>> {
        let from = format!("{brain}{SUFFIX}");
        let Some(id) = folder.identity(&from)? else {
            return Ok(None);
        };
        let (reason, is_readable) = match ownership(folder, brain)? {
            Ownership::Own => (QuarantineReason::Recovered, true),
            Ownership::Untracked(_) | Ownership::Overwritten(_) => {
                (QuarantineReason::Conflict, true)
            }
            // A link, or another user's file, of which nothing is known but its name.
            Ownership::Rejected(_) | Ownership::Missing => (QuarantineReason::Conflict, false),
        };
        let failed = |e| Error::disk("put into quarantine", &from, e);
        let (disk, path) = (folder.disk(), quarantine::new_path(folder, brain, reason));
        let path = path.map_err(failed)?;
        let has_both = if is_readable {
            name_in_quarantine(&**disk, &from, &path).map_err(failed)?
        } else {
            disk.publish(&from, &path).map_err(failed)?;
            disk.sync_folder(parent_of(&path)).map_err(failed)?;
            false
        };
        Ok(Some(Self {
            folder: folder.clone(),
            brain: brain.to_owned(),
            id,
            path,
            reason,
            has_both,
        }))
    }

    /// Takes it out of quarantine again: the brain's name stays its, or becomes it.
    fn undo(&self) -> io::Result<()> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        if !self.has_both {
            return give_name(&**disk, &self.path, &to);
        }
        if disk.identity(&to).is_ok_and(|id| id == self.id) {
            disk.remove(&self.path)?;
            disk.sync_folder(parent_of(&self.path))?;
        }
        Ok(())
    }
}

impl IncomingFile {
    /// Begins to receive a file of `bytes` that takes the place of what has a brain's name, if anything has it.
    pub fn begin_in_place(folder: &Folder, name: &str, bytes: u64) -> Result<Self> {
        crate::names::folder::file_name(name)?;
        Self::replacing(folder, name, bytes, None)
    }

    /// Makes the brain in the place of what has its name. Returns the name of the quarantined file that has what stood
    /// there; none if nothing did. No store of this process may have the brain open.
    pub fn finish_in_place(mut self, embed: bool) -> Result<(ImportReport, Option<String>)> {
        self.verify()?;
        let (folder, name) = (self.folder().clone(), self.name().to_owned());
        folder.check_lock()?;
        let Some(kept) = KeptFile::of(&folder, &name)? else {
            return Ok((self.finish(embed)?, None));
        };
        let done = self.take_place(&kept, embed);
        let imported = match done {
            Ok(imported) => imported,
            Err(e) => {
                // What was quarantined is listed there in any case.
                return match kept.undo() {
                    Ok(()) => Err(e),
                    Err(undo) => {
                        folder.note_quarantined(&name, &kept.path, kept.reason);
                        Err(Error::disk("give its name back to", &kept.path, undo))
                    }
                };
            }
        };
        folder.note_quarantined(&name, &kept.path, kept.reason);
        Ok((imported, Some(quarantine_name(&kept.path).to_owned())))
    }

    fn take_place(&mut self, kept: &KeptFile, embed: bool) -> Result<ImportReport> {
        if kept.has_both {
            let displaced = UntrackedFile::open_named_twice(&kept.folder, &kept.brain)?;
            self.displace(displaced);
        }
        let imported = self.finish_now(embed)?;
        if let Some(original) = self.take_original() {
            // It has another name. If this one stays, the next start finds it.
            drop(original.remove_name());
        }
        // Vectors of another space were made for the brain that was there.
        kept.folder.remove_vector_rows(&kept.brain)?;
        Ok(imported)
    }
}
