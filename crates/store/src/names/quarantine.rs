//! Quarantine: files that are not the store's to delete. They took a brain's name, or have what was saved of a brain
//! whose file lost its name, or are originals that a brain does not have all of.
//!
//! Promises: only files that `list` returns can be reached by a name.
//! Not here: reading and restoring them (`restore`).

use std::io;

use amem_format::Micros;
use uuid::Uuid;

use crate::disk::{FileId, Stamp};
use crate::error::{Error, Result};

use crate::names::folder::{
    CONFLICTS, Folder, OWN, QuarantineReason, RECOVERED, SUFFIX, parent_of, quarantine_name,
};
use crate::names::ownership;

/// A file in quarantine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// Its name, relative to `.amemd`.
    pub file: String,
    /// Why it is there.
    pub reason: QuarantineReason,
    /// The brain whose name it had.
    pub brain: String,
    /// Its bytes.
    pub bytes: u64,
    /// Which file it is, and its state; none if it cannot be opened.
    pub stamp: Option<Stamp>,
    /// When it was put there.
    pub time: Micros,
    /// Its lineage and the events in its base, if it is a brain of amemd.
    pub base: Option<(Uuid, u64)>,
    /// Why it cannot be read, if so.
    pub problem: Option<String>,
}

/// All files in quarantine, by name.
pub fn list(folder: &Folder) -> Result<Vec<QuarantinedFile>> {
    let mut files = Vec::new();
    for place in [CONFLICTS, RECOVERED] {
        let names = folder.disk().list(place);
        for name in names.map_err(|e| Error::disk("list", place, e))? {
            files.extend(of(folder, place, &name)?);
        }
    }
    files.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(files)
}

/// A file of one of the two folders; none if its name is not one that the store gives.
fn of(folder: &Folder, place: &'static str, name: &str) -> Result<Option<QuarantinedFile>> {
    let Some((front, time)) = name
        .strip_suffix(SUFFIX)
        .and_then(|name| name.rsplit_once('-'))
    else {
        return Ok(None);
    };
    let (brain, reason) = match (place, front) {
        (CONFLICTS, brain) => (brain, QuarantineReason::Conflict),
        (_, front) => match (
            front.strip_suffix(".recovered"),
            front.strip_suffix(".original"),
        ) {
            (Some(brain), _) => (brain, QuarantineReason::Recovered),
            (_, Some(brain)) => (brain, QuarantineReason::Original),
            _ => return Ok(None),
        },
    };
    let Ok(time) = time.parse() else {
        return Ok(None);
    };
    let path = format!("{place}/{name}");
    let mut entry = QuarantinedFile {
        file: path[OWN.len() + 1..].to_owned(),
        reason,
        brain: brain.to_owned(),
        bytes: 0,
        stamp: None,
        time: Micros(time),
        base: None,
        problem: None,
    };
    let read = folder.disk().source(&path, false).and_then(|source| {
        let stamp = source.stamp()?;
        (entry.bytes, entry.stamp) = (stamp.bytes, Some(stamp));
        entry.base = ownership::lineage_and_events(&*source, entry.bytes)?;
        Ok(())
    });
    match read {
        // It was removed meanwhile.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // A file that cannot be read does not hide the others.
        read => entry.problem = read.err().map(|e| e.to_string()),
    }
    Ok(Some(entry))
}

/// A new path in quarantine that no file has, relative to the folder; `list` parses it.
pub(crate) fn new_path(
    folder: &Folder,
    brain: &str,
    reason: QuarantineReason,
) -> io::Result<String> {
    let mut time = folder.disk().now().0;
    loop {
        let name = match reason {
            QuarantineReason::Conflict => format!("{CONFLICTS}/{brain}-{time}{SUFFIX}"),
            QuarantineReason::Recovered => format!("{RECOVERED}/{brain}.recovered-{time}{SUFFIX}"),
            QuarantineReason::Original => format!("{RECOVERED}/{brain}.original-{time}{SUFFIX}"),
        };
        match folder.disk().identity(&name) {
            // Another file was quarantined in the same microsecond.
            Ok(_) => time += 1,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(e) => return Err(e),
        }
    }
}

/// The paths, relative to the folder, that a file already has in quarantine for this reason.
pub(crate) fn paths_of(
    folder: &Folder,
    reason: QuarantineReason,
    file: FileId,
) -> io::Result<Vec<String>> {
    let place = match reason {
        QuarantineReason::Conflict => CONFLICTS,
        QuarantineReason::Recovered | QuarantineReason::Original => RECOVERED,
    };
    let disk = folder.disk();
    let mut paths: Vec<_> = disk.list(place)?;
    for path in &mut paths {
        *path = format!("{place}/{path}");
    }
    paths.retain(|path| disk.identity(path).is_ok_and(|id| id == file));
    Ok(paths)
}

/// The name by which a file is listed, of its path relative to the folder.
pub fn listed(path: &str) -> &str {
    quarantine_name(path)
}

/// The file that is listed under a name.
pub fn find(folder: &Folder, file: &str) -> Result<QuarantinedFile> {
    let found = list(folder)?.into_iter().find(|listed| listed.file == file);
    found.ok_or_else(|| Error::NotQuarantined { file: file.into() })
}

/// Removes a file from quarantine, durably.
pub fn discard(folder: &Folder, file: &str) -> Result<()> {
    let path = path_of(&find(folder, file)?);
    let disk = folder.disk();
    disk.remove(&path)
        .map_err(|e| Error::disk("remove", &path, e))?;
    let place = parent_of(&path);
    disk.sync_folder(place)
        .map_err(|e| Error::disk("sync", place, e))
}

pub(crate) fn path_of(entry: &QuarantinedFile) -> String {
    format!("{OWN}/{}", entry.file)
}
