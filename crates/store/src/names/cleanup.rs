//! Cleans up files in `.amemd/tmp` that no task owns: leftovers of an earlier run, and files that could not be removed.
//!
//! Promises: unfinished files are removed; a displaced file is checked, and goes to quarantine or back to its name
//! unless it is known to be expendable.

use std::sync::Arc;

use crate::disk::{Disk, FileId};
use crate::error::{Error, Result};
use crate::names::displaced::{SwapName, give_name, name_in_quarantine};
use crate::names::folder::{
    CONFLICTS, Folder, OWN, QuarantineReason, RECOVERED, SUFFIX, TMP, VECTORS, parent_of,
};
use crate::names::ownership::{self, Ownership, is_closed};
use crate::names::quarantine;
use crate::names::temporary::READ_ONLY;

impl Folder {
    /// Locks a folder, makes our own folders in it, and clears what an earlier run left. `holder` describes this daemon
    /// to another one.
    pub fn open(disk: Arc<dyn Disk>, holder: &str) -> Result<Self> {
        let folder = Self::lock(disk, holder)?;
        clear_all(&folder)?;
        Ok(folder)
    }

    /// Clears, durably, files that could not be removed and may have what a brain has. A file that is not ours goes to
    /// quarantine or back to its name.
    pub fn clear_leftovers(&self, brain: &str) -> Result<()> {
        let _alone = self.lock_clearing();
        let leftovers = self.leftovers().clone();
        let of_brain = leftovers.iter().filter(|name| may_be_of(name, brain));
        let (mut cleared, mut failed) = (Vec::new(), None);
        for name in of_brain {
            match clear(self, name) {
                Ok(()) => cleared.push(name),
                Err(why) => failed = failed.or(Some(why)),
            }
        }
        if !cleared.is_empty() {
            // A file has its new name durably before it loses the old one.
            for folder in ["", RECOVERED, CONFLICTS, TMP] {
                self.sync(folder)?;
            }
        }
        for name in cleared {
            self.leftovers().remove(name);
        }
        failed.map_or(Ok(()), Err)
    }
}

/// Cleans up after an earlier run.
fn clear_all(folder: &Folder) -> Result<()> {
    clear_vector_rows(folder)?;
    let names = list(folder)?;
    for name in &names {
        clear(folder, name)?;
    }
    if names.is_empty() {
        return Ok(());
    }
    // One of them may hold what was erased since: an answer may depend on it being gone for good.
    folder.sync(TMP)
}

/// Removes vectors that were made for brains that are gone.
fn clear_vector_rows(folder: &Folder) -> Result<()> {
    let names = folder.disk().list(OWN);
    let names = names.map_err(|e| Error::disk("list", OWN, e))?;
    for brain in names.iter().filter_map(|name| name.strip_suffix(VECTORS)) {
        if folder.identity(&format!("{brain}{SUFFIX}"))?.is_none() {
            folder.remove_vector_rows(brain)?;
        }
    }
    Ok(())
}

/// Clears up what a failed checkpoint of a brain left that is opened again. An earlier checkpoint may still build its
/// file, and removes it itself.
pub(crate) fn clear_old(folder: &Folder, brain: &str) -> Result<()> {
    let mut is_cleared = false;
    let _alone = folder.lock_clearing();
    for name in list(folder)? {
        let Some(swap) = SwapName::parse(&name) else {
            continue;
        };
        if swap.brain != brain || !swap.expects_own() {
            continue;
        }
        let id = folder.identity(&format!("{TMP}/{name}"))?;
        if id.is_some_and(|id| !swap.is_ours(id)) {
            clear(folder, &name)?;
            is_cleared = true;
        }
    }
    if is_cleared {
        folder.sync(TMP)?;
    }
    Ok(())
}

/// True if a file may have what a brain has: it was made for it, or its name does not say for which.
fn may_be_of(name: &str, brain: &str) -> bool {
    match SwapName::parse(name) {
        Some(swap) => swap.brain == brain,
        None => name
            .rsplit_once('-')
            .is_none_or(|(of, _)| of == brain || of == READ_ONLY),
    }
}

/// Clears one file, which may be gone by now.
fn clear(folder: &Folder, name: &str) -> Result<()> {
    let path = format!("{TMP}/{name}");
    match (folder.identity(&path)?, SwapName::parse(name)) {
        (Some(id), Some(swap)) => clear_displaced(folder, &path, id, &swap),
        (Some(_), None) => folder.remove(&path),
        (None, _) => Ok(()),
    }
}

fn clear_displaced(folder: &Folder, path: &str, here: FileId, swap: &SwapName<'_>) -> Result<()> {
    let disk = folder.disk();
    let failed = |e| Error::disk("put into quarantine", path, e);
    let brain_path = format!("{}{SUFFIX}", swap.brain);
    let there = folder.identity(&brain_path)?;
    if there == Some(here) {
        folder.sync("")?;
    }
    if swap.is_ours(here) {
        return folder.remove(path);
    }
    let has_brain = match ownership::ownership(folder, swap.brain) {
        Ok(ownership) => ownership == Ownership::Own,
        Err(Error::Disk { source, .. }) if is_closed(&source) => false,
        Err(e) => return Err(e),
    };
    let displaced = ownership::of_displaced(folder, path, swap.brain)
        .map_err(|e| Error::disk("look at", path, e))?;
    let (was_own, is_expendable) = match &displaced {
        Ownership::Own => (true, true),
        Ownership::Untracked(stamp) => (false, swap.expects(stamp)),
        Ownership::Overwritten(_) | Ownership::Rejected(_) | Ownership::Missing => (false, false),
    };
    if has_brain && is_expendable {
        return folder.remove(path);
    }
    let reason = if was_own {
        QuarantineReason::Recovered
    } else {
        QuarantineReason::Conflict
    };
    // Another name in quarantine was being given when a run ended, or could not be synced and not be taken back: it may
    // vanish whatever later syncs say. So the file gets a new one there. It keeps the brain's name, if it has that:
    // no call checks a name and removes it in one step.
    let found = quarantine::paths_of(folder, reason, here).map_err(failed)?;
    // The brain's new file was taken away, and this is its old one.
    let lost_its_place = was_own && swap.is_exchange;
    if found.is_empty() && there.is_none() && !lost_its_place {
        return give_name(&**disk, path, &brain_path).map_err(failed);
    }
    let to = quarantine::new_path(folder, swap.brain, reason).map_err(failed)?;
    let has_both = name_in_quarantine(&**disk, path, &to).map_err(failed)?;
    folder.note_quarantined(swap.brain, &to, reason);
    for name in &found {
        if folder.identity(name)?.is_some() {
            folder.remove(name)?;
        }
    }
    if !found.is_empty() {
        // Without this sync a removed name could come back, and nothing would find it.
        folder.sync(parent_of(&to))?;
    }
    if has_both {
        folder.remove(path)?;
    }
    Ok(())
}

fn list(folder: &Folder) -> Result<Vec<String>> {
    let names = folder.disk().list(TMP);
    names.map_err(|e| Error::disk("list", TMP, e))
}
