//! New files of ours before they have a brain's name, and what comes out when one takes the name of another file.
//!
//! Promises: a file of somebody's that comes out is never lost, whatever crashes or fails: in `.amemd/tmp` it stands
//! under a name that says what it is, and what is left there is cleared up by looking at each. What was never ours is
//! given back, or kept aside, unless a brain was made of it and nobody wrote to it since. Not here: whose name is
//! taken, and when (`checkpoint`, `adoption`, `place`).

use std::io;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{Disk, File, FileId, Stamp};
use crate::error::{Error, Result};
use crate::names::adoption::{self, Standing};
use crate::names::folder::{Folder, SUFFIX, TMP, file_name};
use crate::names::quarantine::{self, Reason};

/// What the name of a file ends with that is exchanged with another: `BRAIN-OURS-THEIRS.swap`, with hashes in
/// hexadecimal of which file ours is, and of the stamp of what is expected to come out; 0 for the brain's own file.
const SWAP: &str = ".swap";
/// The same of what came out where names can't be exchanged.
const OUT: &str = ".out";
/// What stands for the brain in the name of a file that is only read.
pub(crate) const TO_BE_READ: &str = "to-be-read";

/// A new file, which is removed unless it gets a name.
#[derive(Debug)]
pub(crate) struct Unnamed {
    folder: Folder,
    brain: String,
    file: Arc<dyn File>,
    path: String,
    named: bool,
}

/// What had the name that a file of ours has taken.
#[derive(Debug)]
pub(crate) struct Out {
    folder: Folder,
    brain: String,
    ours: FileId,
    /// Where it stands; nowhere if it could not be given another name.
    path: Option<String>,
    exchanged: bool,
}

impl Unnamed {
    /// A new file for a brain. `expected`: the file that is to come out, if that is not the brain's own.
    pub(crate) fn create(folder: &Folder, brain: &str, expected: Option<&Stamp>) -> Result<Self> {
        let (disk, path) = (folder.disk(), folder.tmp_name(brain));
        let file = disk
            .create(&path)
            .map_err(|e| Error::disk("create", &path, e))?;
        let mut new = Self {
            folder: folder.clone(),
            brain: brain.to_owned(),
            path,
            named: false,
            file,
        };
        let (ours, theirs) = (mark(new.file.id()), expected.map_or(0, mark_of));
        let swap = format!("{TMP}/{brain}-{ours:016x}-{theirs:016x}{SWAP}");
        disk.publish(&new.path, &swap)
            .map_err(|e| Error::disk("rename", &new.path, e))?;
        new.path = swap;
        Ok(new)
    }

    pub(crate) fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Its name for now, relative to the folder.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Gives it a name that no file has.
    pub(crate) fn publish(mut self, name: &str) -> io::Result<()> {
        let published = self.folder.disk().publish(&self.path, name);
        self.named = published.is_ok();
        published
    }

    /// Gives it the brain's name, which another file has, in one step. `own`: the brain's own file.
    ///
    /// Where the file system can't exchange names, the other file gets a second name before: one that takes the brain's
    /// name between the two steps, microseconds apart, is overwritten.
    pub(crate) fn take_name(mut self, own: Option<FileId>) -> io::Result<Out> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        let (path, exchanged) = match disk.exchange(&self.path, &to) {
            Ok(()) => (Some(self.path.clone()), true),
            Err(e) if e.kind() == io::ErrorKind::Unsupported => (self.replace(&to, own)?, false),
            Err(e) => return Err(e),
        };
        self.named = true;
        Ok(Out {
            folder: self.folder.clone(),
            brain: self.brain.clone(),
            ours: self.file.id(),
            path,
            exchanged,
        })
    }

    fn replace(&self, to: &str, own: Option<FileId>) -> io::Result<Option<String>> {
        let disk = self.folder.disk();
        let out = format!("{}{OUT}", self.path.trim_end_matches(SWAP));
        match disk.link(to, &out) {
            Ok(()) => {
                let is_own = own.is_some_and(|own| disk.identity(&out).is_ok_and(|id| id == own));
                let replaced = if is_own {
                    disk.replace(&self.path, to)
                } else {
                    // Somebody's file must not lose its name to a power cut before it has another for good.
                    disk.sync_folder(TMP)
                        .and_then(|()| disk.replace(&self.path, to))
                };
                // What failed may have happened nonetheless: then this is the only name that the other file has.
                let has_both = || Ok::<_, io::Error>(disk.identity(to)? == disk.identity(&out)?);
                if replaced.is_err() && has_both().unwrap_or(false) {
                    // A file with two names would not be adopted.
                    drop(disk.remove(&out));
                }
                replaced.map(|()| Some(out))
            }
            Err(e) if is_refused(&e) => {
                if own.is_some_and(|own| disk.identity(to).is_ok_and(|id| id == own)) {
                    return disk.replace(&self.path, to).map(|()| None);
                }
                // No file has the name for a moment, which is better than that somebody's is lost.
                disk.publish(to, &out)?;
                if let Err(e) = disk.publish(&self.path, to) {
                    disk.publish(&out, to)?;
                    return Err(e);
                }
                Ok(Some(out))
            }
            Err(e) => Err(e),
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        // After an exchange that failed and happened nonetheless, what stands there is not ours.
        if !self.named {
            self.folder.discard(&self.path, self.file.id());
        }
    }
}

impl Out {
    /// Which file it is; none if it stands nowhere any more.
    pub(crate) fn id(&self) -> io::Result<Option<FileId>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        match self.folder.disk().identity(path) {
            Ok(id) => Ok(Some(id)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Takes it away.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let path = self.path.as_deref();
        path.map_or(Ok(()), |path| self.folder.disk().remove(path))
    }

    /// Leaves it where it stands, to be looked at again.
    pub(crate) fn leave(&self) {
        if let Some(path) = &self.path {
            self.folder.leave(path);
        }
    }

    /// Keeps it, durably: it is somebody's. Says where, relative to the folder.
    pub(crate) fn keep(&self) -> io::Result<Option<String>> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        let kept = quarantine::name(&self.folder, &self.brain, Reason::Conflict)?;
        keep_at(&self.folder, &self.brain, path, &kept)?;
        Ok(Some(kept))
    }

    /// Gives it the name back that was taken away; if another file has it by now, it is kept.
    fn give_back(&self) -> io::Result<()> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        let path = self.path.as_deref();
        path.map_or(Ok(()), |path| match give_name(&**disk, path, &to) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => self.keep().map(drop),
            done => done,
        })
    }

    /// Gives it its name back; ours is gone. A third file that has taken the name meanwhile is kept.
    pub(crate) fn undo(&self) -> io::Result<()> {
        self.undo_now().inspect_err(|_| self.leave())
    }

    fn undo_now(&self) -> io::Result<()> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        let Some(path) = &self.path else {
            return Err(io::Error::other("the file that had the name is gone"));
        };
        if self.exchanged {
            disk.exchange(path, &to)?;
            return match self.id()? {
                Some(id) if id != self.ours => self.keep().map(drop),
                _ => self.remove(),
            };
        }
        if disk.identity(&to).is_ok_and(|id| id != self.ours) {
            let kept = quarantine::name(&self.folder, &self.brain, Reason::Conflict)?;
            keep_at(&self.folder, &self.brain, &to, &kept)?;
        }
        disk.replace(path, &to)
    }
}

/// Takes a brain's file away, not yet durably. False if what had its name is another file by now: that gets it back, or
/// is left to be looked at again. After an error the file has its name as before, if that can be.
///
/// Nobody can look at a name and take it away in one step, so whatever has it is moved to where nobody else does
/// anything, and looked at there.
pub(crate) fn take_away(folder: &Folder, brain: &str, ours: FileId) -> io::Result<bool> {
    let path = format!("{TMP}/{brain}-{:016x}-{:016x}{OUT}", mark(ours), 0);
    let out = Out {
        folder: folder.clone(),
        brain: brain.to_owned(),
        ours,
        path: Some(path.clone()),
        exchanged: false,
    };
    let moved = folder.disk().replace(&format!("{brain}{SUFFIX}"), &path);
    let taken = match moved.and_then(|()| out.id()) {
        Ok(Some(id)) if id == ours => out.remove().map(|()| true),
        Ok(_) => Ok(false),
        Err(e) => Err(e),
    };
    // What failed may have happened nonetheless.
    if !matches!(taken, Ok(true)) && out.give_back().is_err() {
        out.leave();
    }
    taken
}

/// Clears up what an earlier run left in `.amemd/tmp`: what is unfinished goes, what came out of an exchange is looked
/// at, and kept if it may be somebody's.
pub(crate) fn clear(folder: &Folder) -> Result<()> {
    let left = list(folder)?;
    for name in &left {
        clear_one(folder, name)?;
    }
    if left.is_empty() {
        return Ok(());
    }
    // One of them may hold what was erased since: an answer may hang on it being gone for good.
    sync(folder, TMP)
}

/// The same of one file. It may be gone: somebody else cleared it.
pub(crate) fn clear_one(folder: &Folder, name: &str) -> Result<()> {
    let path = format!("{TMP}/{name}");
    match (identity(folder, &path)?, Swapped::of(name)) {
        (Some(here), Some(swapped)) => swapped.clear(folder, &path, here),
        (Some(_), None) => remove(folder, &path),
        (None, _) => Ok(()),
    }
}

/// The same of what a failed checkpoint of a brain left, that is opened again. A checkpoint of before may still build
/// its file, and take it away.
pub(crate) fn clear_old(folder: &Folder, brain: &str) -> Result<()> {
    let mut found = false;
    let _alone = folder.clear_alone();
    for name in list(folder)? {
        let Some(swapped) = Swapped::of(&name) else {
            continue;
        };
        let path = format!("{TMP}/{name}");
        if swapped.brain == brain && swapped.theirs == 0 && swapped.is_old(folder, &path)? {
            clear_one(folder, &name)?;
            found = true;
        }
    }
    match found {
        true => sync(folder, TMP),
        false => Ok(()),
    }
}

/// True if a file may have what a brain has: it was made for it, or nothing says for which.
pub(crate) fn may_be_of(name: &str, brain: &str) -> bool {
    match Swapped::of(name) {
        Some(swapped) => swapped.brain == brain,
        None => name
            .rsplit_once('-')
            .is_none_or(|(of, _)| of == brain || of == TO_BE_READ),
    }
}

/// What the name of a file says that was to be exchanged.
struct Swapped<'n> {
    brain: &'n str,
    ours: u64,
    theirs: u64,
}

impl<'n> Swapped<'n> {
    fn of(name: &'n str) -> Option<Self> {
        let name = name.strip_suffix(SWAP).or(name.strip_suffix(OUT))?;
        let (rest, theirs) = name.rsplit_once('-')?;
        let (brain, ours) = rest.rsplit_once('-')?;
        file_name(brain).ok()?;
        let hash = |digits: &str| {
            let whole = digits.len() == 16;
            whole.then(|| u64::from_str_radix(digits, 16).ok())?
        };
        Some(Self {
            brain,
            ours: hash(ours)?,
            theirs: hash(theirs)?,
        })
    }

    /// True if it came out of an exchange, and is not the new file, unfinished.
    fn is_old(&self, folder: &Folder, path: &str) -> Result<bool> {
        Ok(identity(folder, path)?.is_some_and(|id| mark(id) != self.ours))
    }

    fn clear(&self, folder: &Folder, path: &str, here: FileId) -> Result<()> {
        let disk = folder.disk();
        let failed = |e| Error::disk("keep", path, e);
        let named = format!("{}{SUFFIX}", self.brain);
        let there = identity(folder, &named)?;
        if there == Some(here) {
            sync(folder, "")?;
        }
        if mark(here) == self.ours {
            return remove(folder, path);
        }
        let is_there = match adoption::standing(folder, self.brain) {
            Ok(standing) => standing == Standing::Ours,
            Err(Error::NotFound { .. } | Error::NotAdopted { .. }) => false,
            Err(Error::Disk { source, .. }) if is_shut(&source) => false,
            Err(e) => return Err(e),
        };
        let (was_ours, stamp) = match adoption::look(folder, path, self.brain) {
            Ok((was_ours, stamp)) => (was_ours, Some(stamp)),
            Err(e) if is_shut(&e) => (false, None),
            Err(e) => return Err(Error::disk("look at", path, e)),
        };
        let reason = match was_ours {
            true => Reason::Recovered,
            false => Reason::Conflict,
        };
        if is_there && (was_ours || stamp.is_some_and(|s| mark_of(&s) == self.theirs)) {
            return remove(folder, path);
        }
        // Another name that is found was being given when a run ended, or could not be synced and not be taken back: it
        // may vanish whatever later syncs say. So it gets a new one among those that are kept, and has the brain's
        // still, if that was it, as nobody can take that away unseen.
        let found = quarantine::names_of(folder, reason, here).map_err(failed)?;
        // Somebody took the brain's new file away, and this is its old one.
        let lost_its_place = was_ours && path.ends_with(SWAP);
        if found.is_empty() && there.is_none() && !lost_its_place {
            return give_name(&**disk, path, &named).map_err(failed);
        }
        let to = quarantine::name(folder, self.brain, reason).map_err(failed)?;
        let has_both = name_kept(&**disk, path, &to).map_err(failed)?;
        folder.note_kept(self.brain, &to, reason);
        for name in &found {
            if identity(folder, name)?.is_some() {
                remove(folder, name)?;
            }
        }
        if !found.is_empty() {
            // Nothing here would tell of the one that comes back.
            sync(folder, folder_of(&to))?;
        }
        match has_both {
            true => remove(folder, path),
            false => Ok(()),
        }
    }
}

/// Keeps a file that had a brain's name as a conflict, durably, and at no moment under no name.
fn keep_at(folder: &Folder, brain: &str, from: &str, to: &str) -> io::Result<()> {
    let has_both = name_kept(&**folder.disk(), from, to)?;
    folder.note_kept(brain, to, Reason::Conflict);
    match has_both {
        true => folder.disk().remove(from),
        false => Ok(()),
    }
}

/// Gives a file a name among those that are kept, durably; false if it has that alone. A name whose sync failed may
/// vanish whatever later syncs say: it is taken back, as nobody else does anything there, and the next try makes
/// another.
fn name_kept(disk: &dyn Disk, from: &str, to: &str) -> io::Result<bool> {
    let has_both = name_as_well(disk, from, to)?;
    let synced = disk.sync_folder(folder_of(to)).inspect_err(|_| {
        // What can't be taken back either is found there the next time, if it has its old name as well.
        drop(match has_both {
            true => disk.remove(to),
            false => disk
                .publish(to, from)
                .and_then(|()| disk.sync_folder(folder_of(from))),
        });
    });
    synced.map(|()| has_both)
}

/// Gives a file a brain's name that no file has, durably, and at no moment none. It is not taken back whatever fails:
/// others put files there.
fn give_name(disk: &dyn Disk, from: &str, to: &str) -> io::Result<()> {
    let has_both = name_as_well(disk, from, to)?;
    disk.sync_folder("")?;
    match has_both {
        true => disk.remove(from),
        false => Ok(()),
    }
}

/// Gives a file another name. False if it has that alone, as it can't have two.
fn name_as_well(disk: &dyn Disk, from: &str, to: &str) -> io::Result<bool> {
    match disk.link(from, to) {
        Ok(()) => Ok(true),
        // A file system without second names, or a kernel that allows none of others' files.
        Err(e) if is_refused(&e) => disk.publish(from, to).map(|()| false),
        Err(e) => Err(e),
    }
}

/// The folder that a path is in.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// True of what is no file that we may read, which is somebody's: a link, or another user's.
fn is_shut(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::InvalidInput | io::ErrorKind::PermissionDenied
    )
}

/// True if a file can't have a second name.
fn is_refused(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
    )
}

/// Tells files apart, in a name.
fn mark(id: FileId) -> u64 {
    let mut bytes = id.inode.to_le_bytes().to_vec();
    bytes.extend_from_slice(&id.born.to_le_bytes());
    xxh3_64(&bytes)
}

/// Tells states of files apart, in a name.
fn mark_of(stamp: &Stamp) -> u64 {
    let mut bytes = mark(stamp.id).to_le_bytes().to_vec();
    bytes.extend_from_slice(&stamp.bytes.to_le_bytes());
    bytes.extend_from_slice(&stamp.modified.to_le_bytes());
    // 0 stands for a brain's own file.
    xxh3_64(&bytes).max(1)
}

fn list(folder: &Folder) -> Result<Vec<String>> {
    let names = folder.disk().list(TMP);
    names.map_err(|e| Error::disk("list", TMP, e))
}

/// Which file has a name; none if none has.
fn identity(folder: &Folder, path: &str) -> Result<Option<FileId>> {
    match folder.disk().identity(path) {
        Ok(id) => Ok(Some(id)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(Error::disk("look at", path, e)),
    }
}

fn remove(folder: &Folder, path: &str) -> Result<()> {
    let done = folder.disk().remove(path);
    done.map_err(|e| Error::disk("remove", path, e))
}

fn sync(folder: &Folder, place: &str) -> Result<()> {
    let done = folder.disk().sync_folder(place);
    done.map_err(|e| Error::disk("sync", place, e))
}
