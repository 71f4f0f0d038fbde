//! Displaced files: files that had the brain's name before a file of the store took it.
//!
//! Promises: a displaced file that is not ours is never lost, whatever crashes or fails. In `.amemd/tmp` it has a name
//! that says what it is; from there it gets its name back, goes to quarantine, or is removed if a brain was made
//! of it and it was not written to since.
//! Not here: which file takes whose name, and when (`temporary`, `log::path_check`).

use std::io;

use xxhash_rust::xxh3::xxh3_64;

use crate::disk::{Disk, FileId, Stamp};
use crate::names::folder::{Folder, QuarantineReason, SUFFIX, TMP, file_name, parent_of};
use crate::names::quarantine;

/// Ends the name of a file that exchanges names with another: `BRAIN-OURS-THEIRS.swap`, with hashes in hexadecimal of
/// which file ours is, and of the stamp of the file that will come out; 0 for the brain's own file.
const SWAP: &str = ".swap";
/// Ends the same name of a file that came out where names cannot be exchanged.
const OUT: &str = ".out";

/// A file that had the name before a file of the store took it.
#[derive(Debug)]
pub(crate) struct DisplacedFile {
    pub(crate) folder: Folder,
    pub(crate) brain: String,
    /// The file that took the name.
    pub(crate) ours: FileId,
    /// Where the displaced file stands.
    pub(crate) path: String,
    /// It came out of an exchange; else it was given a second name.
    pub(crate) is_exchanged: bool,
}

impl DisplacedFile {
    /// Which file it is; none if it is gone.
    pub(crate) fn id(&self) -> io::Result<Option<FileId>> {
        match self.folder.disk().identity(&self.path) {
            Ok(id) => Ok(Some(id)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        self.folder.disk().remove(&self.path)
    }

    /// Leaves it where it stands, for `Folder::clear_leftovers`.
    pub(crate) fn leave(&self) {
        self.folder.leave(&self.path);
    }

    /// Puts it into quarantine, durably. Returns its new path, relative to the folder.
    pub(crate) fn quarantine(&self) -> io::Result<String> {
        let to = quarantine::new_path(&self.folder, &self.brain, QuarantineReason::Conflict)?;
        quarantine_at(&self.folder, &self.brain, &self.path, &to)?;
        Ok(to)
    }

    /// Gives it back the name that was taken away; if another file has that by now, it goes to quarantine.
    fn give_back(&self) -> io::Result<()> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        match give_name(&**disk, &self.path, &to) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => self.quarantine().map(drop),
            done => done,
        }
    }

    /// Gives it its name back; ours is gone. A third file that has taken the name meanwhile goes to quarantine.
    pub(crate) fn undo(&self) -> io::Result<()> {
        self.try_undo().inspect_err(|_| self.leave())
    }

    fn try_undo(&self) -> io::Result<()> {
        let (disk, to) = (self.folder.disk(), format!("{}{SUFFIX}", self.brain));
        if self.is_exchanged {
            disk.exchange(&self.path, &to)?;
            return match self.id()? {
                Some(id) if id != self.ours => self.quarantine().map(drop),
                _ => self.remove(),
            };
        }
        if disk.identity(&to).is_ok_and(|id| id != self.ours) {
            let third =
                quarantine::new_path(&self.folder, &self.brain, QuarantineReason::Conflict)?;
            quarantine_at(&self.folder, &self.brain, &to, &third)?;
        }
        disk.replace(&self.path, &to)
    }
}

/// Removes a brain's file, not yet durably. False if another file has its name by now: that gets the name back, or is
/// left. After an error the file has its name as before, if that is possible.
///
/// No call both checks a name and removes it, so the file is first moved to where only the store acts, and checked
/// there.
pub(crate) fn remove_own(folder: &Folder, brain: &str, ours: FileId) -> io::Result<bool> {
    let displaced = DisplacedFile {
        folder: folder.clone(),
        brain: brain.to_owned(),
        ours,
        path: out_path(brain, ours),
        is_exchanged: false,
    };
    let moved = folder
        .disk()
        .replace(&format!("{brain}{SUFFIX}"), &displaced.path);
    let removed = match moved.and_then(|()| displaced.id()) {
        Ok(Some(id)) if id == ours => displaced.remove().map(|()| true),
        Ok(_) => Ok(false),
        Err(e) => Err(e),
    };
    // A failed operation may have happened.
    if !matches!(removed, Ok(true)) && displaced.give_back().is_err() {
        displaced.leave();
    }
    removed
}

/// The path of a file that will exchange names with the one that has the brain's name.
pub(crate) fn swap_path(brain: &str, ours: FileId, expected: Option<&Stamp>) -> String {
    let theirs = expected.map_or(0, stamp_hash);
    format!("{TMP}/{brain}-{:016x}-{theirs:016x}{SWAP}", file_hash(ours))
}

/// The path of the file that comes out for one with this path, where names cannot be exchanged.
pub(crate) fn out_of_swap(path: &str) -> String {
    format!("{}{OUT}", path.trim_end_matches(SWAP))
}

fn out_path(brain: &str, ours: FileId) -> String {
    format!("{TMP}/{brain}-{:016x}-{:016x}{OUT}", file_hash(ours), 0)
}

/// An exchange of names, decoded from the name of a file in `.amemd/tmp`.
pub(crate) struct SwapName<'n> {
    pub(crate) brain: &'n str,
    ours: u64,
    theirs: u64,
    pub(crate) is_exchange: bool,
}

impl<'n> SwapName<'n> {
    pub(crate) fn parse(name: &'n str) -> Option<Self> {
        let is_exchange = name.ends_with(SWAP);
        let name = name.strip_suffix(SWAP).or(name.strip_suffix(OUT))?;
        let (rest, theirs) = name.rsplit_once('-')?;
        let (brain, ours) = rest.rsplit_once('-')?;
        file_name(brain).ok()?;
        let hash = |digits: &str| {
            let is_whole = digits.len() == 16;
            is_whole.then(|| u64::from_str_radix(digits, 16).ok())?
        };
        Some(Self {
            brain,
            ours: hash(ours)?,
            theirs: hash(theirs)?,
            is_exchange,
        })
    }

    /// True of the new file, which has not taken the name.
    pub(crate) fn is_ours(&self, id: FileId) -> bool {
        file_hash(id) == self.ours
    }

    /// True if the brain's own file was to come out.
    pub(crate) fn expects_own(&self) -> bool {
        self.theirs == 0
    }

    /// True of the file that was to come out, if it is as it was then.
    pub(crate) fn expects(&self, stamp: &Stamp) -> bool {
        stamp_hash(stamp) == self.theirs
    }
}

/// Puts a file that had a brain's name into quarantine as a conflict, durably; it has a name at every moment.
fn quarantine_at(folder: &Folder, brain: &str, from: &str, to: &str) -> io::Result<()> {
    let has_both = name_in_quarantine(&**folder.disk(), from, to)?;
    folder.note_quarantined(brain, to, QuarantineReason::Conflict);
    if has_both {
        folder.disk().remove(from)?;
    }
    Ok(())
}

/// Gives a file a path in quarantine, durably; false if that is its only name. A name whose sync failed may vanish
/// whatever later syncs say: it is taken back, as only the store acts there, and the next try makes another.
pub(crate) fn name_in_quarantine(disk: &dyn Disk, from: &str, to: &str) -> io::Result<bool> {
    let has_both = add_name(disk, from, to)?;
    let synced = disk.sync_folder(parent_of(to)).inspect_err(|_| {
        // If this fails as well, the next try finds the name there, and the file has its old name too.
        drop(if has_both {
            disk.remove(to)
        } else {
            disk.publish(to, from)
                .and_then(|()| disk.sync_folder(parent_of(from)))
        });
    });
    synced.map(|()| has_both)
}

/// Gives a file a brain's name that no file has, durably; it has a name at every moment. The name is not taken back
/// whatever fails: users put files there.
pub(crate) fn give_name(disk: &dyn Disk, from: &str, to: &str) -> io::Result<()> {
    let has_both = add_name(disk, from, to)?;
    disk.sync_folder("")?;
    if has_both {
        disk.remove(from)?;
    }
    Ok(())
}

/// Gives a file another name. False if that is its only one: a file system without hard links, or a kernel that allows
/// none of other users' files (`fs.protected_hardlinks`).
fn add_name(disk: &dyn Disk, from: &str, to: &str) -> io::Result<bool> {
    match disk.link(from, to) {
        Ok(()) => Ok(true),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            disk.publish(from, to).map(|()| false)
        }
        Err(e) => Err(e),
    }
}

/// Identifies a file, in a name.
fn file_hash(id: FileId) -> u64 {
    let mut bytes = id.inode.to_le_bytes().to_vec();
    bytes.extend_from_slice(&id.born.to_le_bytes());
    xxh3_64(&bytes)
}

/// Identifies a state of a file, in a name.
fn stamp_hash(stamp: &Stamp) -> u64 {
    let mut bytes = file_hash(stamp.id).to_le_bytes().to_vec();
    bytes.extend_from_slice(&stamp.bytes.to_le_bytes());
    bytes.extend_from_slice(&stamp.modified.to_le_bytes());
    // 0 stands for a brain's own file.
    xxh3_64(&bytes).max(1)
}
