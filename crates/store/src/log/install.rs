//! A finished checkpoint takes the brain's name, and the store continues there.

use std::io;

use amem_format::brain::Brain;
use amem_format::journal::live;

use crate::error::{Error, Result};
use crate::log::checkpoint::Checkpoint;
use crate::log::store::Store;
use crate::names::folder::TMP;
use crate::names::temporary::TemporaryFile;

/// A replaced generation: its mapping, descriptor and delta. Dropping them takes milliseconds for every hundred
/// megabytes: do it where no commit waits.
#[derive(Debug)]
pub struct RetiredGeneration {
    _store: Store,
    _checkpoint: Checkpoint,
}

impl Store {
    /// Makes a new generation, start to end, while nothing else is committed.
    pub fn checkpoint(&mut self) -> Result<()> {
        self.clear_for_erase()?;
        let mut checkpoint = Checkpoint::begin(self)?;
        checkpoint.build()?;
        self.install(checkpoint).map(drop)
    }

    /// Carries the last frames, gives the new file the brain's name and continues there. Returns the old generation.
    pub fn install(&mut self, mut checkpoint: Checkpoint) -> Result<RetiredGeneration> {
        if let Some(error) = self.overwritten() {
            return Err(error);
        }
        if let Some(why) = &self.poison {
            return Err(Error::Poisoned { why: why.clone() });
        }
        self.folder.check_lock()?;
        self.check_content()?;
        if !checkpoint.is_next_of(self) {
            let generation = |brain: &Brain| brain.base().identity().generation.0.to_string();
            return Err(Error::Aborted {
                what: "the generation",
                expected: generation(checkpoint.view.brain()),
                found: generation(&self.brain),
            });
        }
        self.clear_for_erase()?;
        if checkpoint.next.is_none() {
            checkpoint.carry(&self.brain.clone())?;
        }
        let until = self.brain.delta().log.published();
        checkpoint.carry_until(&self.brain.clone(), until, true)?;
        checkpoint.make_space(0)?;
        checkpoint.replay()?;
        let (Some((brain, position)), Some(new)) =
            (checkpoint.next.clone(), checkpoint.built.take())
        else {
            return Err(Error::invalid("checkpoint", "it has not been built"));
        };
        let file = new.file().clone();
        let mut next = Self::new(
            self.folder.clone(),
            self.name.clone(),
            self.file_name.clone(),
            file.clone(),
            brain,
            position,
            checkpoint.space_end,
        );
        // The file gets its name after all of it is synced, so readers always find it owned and complete.
        next.protect_at_least()?;
        let failed = |action: &'static str| {
            let path = new.path().to_owned();
            move |e| Error::disk(action, path, e)
        };
        next.take_ownership().map_err(failed("own"))?;
        file.sync().map_err(failed("sync"))?;
        let is_reembedded = checkpoint.reembedding().is_some();
        match self.switch(new, next) {
            Ok(old) => {
                if is_reembedded {
                    // The generation is in place, whatever becomes of the file.
                    drop(self.folder.remove_vector_rows(&self.name));
                }
                Ok(RetiredGeneration {
                    _store: old,
                    _checkpoint: checkpoint,
                })
            }
            Err(why) => {
                let gone = self.folder.disk().identity(&self.file_name);
                if gone.is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
                    return Err(self.lose_name(why));
                }
                self.poison(why.clone());
                Err(Error::Poisoned { why })
            }
        }
    }

    /// The new file takes the brain's name; returns the store of the old one. An error poisons: which file has the name
    /// is unknown then. (If none has, `install` saves the brain first.)
    fn switch(&mut self, new: TemporaryFile, next: Self) -> Result<Self, String> {
        let disk = self.folder.disk().clone();
        let generation = next.brain.base().identity().generation.0;
        self.store_hint(live::SUPERSEDED_BY, generation)
            .map_err(|e| format!("telling readers: {e}"))?;
        let displaced = new
            .take_name(Some(self.file.id()))
            .map_err(|e| format!("exchanging files: {e}"))?;
        let found = displaced
            .id()
            .map_err(|e| format!("looking at the old file: {e}"))?;
        let is_own = found.map(|id| id == self.file.id());
        if is_own == Some(false) {
            // Another file had taken our name in the last moment.
            displaced.quarantine().map_err(|e| {
                format!("putting the file that had taken the name into quarantine: {e}")
            })?;
        }
        disk.sync_folder("")
            .map_err(|e| format!("syncing the folder: {e}"))?;
        let erased = self.erase_pending();
        if is_own == Some(true) {
            displaced
                .remove()
                .map_err(|e| format!("removing the old file: {e}"))?;
        }
        // Not even an unfinished file of an earlier checkpoint may come back with erased content.
        disk.sync_folder(TMP)
            .map_err(|e| format!("syncing {TMP}: {e}"))?;
        if erased {
            self.tell_readers_to_drop()?;
        }
        Ok(std::mem::replace(self, next))
    }
}
