//! Files that were kept aside: what took a brain's name, what was saved of brains whose file was taken away, originals
//! that a brain has not all of.
//!
//! Promises: a file is named as it is listed, and no other can be reached by a name; none is taken away before what is
//! made of it is durable.

use std::io;

use amem_format::Micros;
use uuid::Uuid;

use crate::disk::{FileId, Stamp};
use crate::error::{Error, Result};

use crate::names::folder::{
    CONFLICTS, Folder, OWN, QuarantineReason, RECOVERED, SUFFIX, parent_of, quarantine_name,
};
use crate::names::ownership;

/// A file that was kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// Its name.
    pub file: String,
    /// Why it was kept.
    pub reason: QuarantineReason,
    /// The brain whose name it had.
    pub brain: String,
    /// Its bytes.
    pub bytes: u64,
    /// Which file it is, and as of when; none if it can't be looked at.
    pub stamp: Option<Stamp>,
    /// When it was kept.
    pub time: Micros,
    /// Its lineage and the events in its base, if it is a brain of amemd.
    pub base: Option<(Uuid, u64)>,
    /// Why it can't be read, if so.
    pub problem: Option<String>,
}

/// The files that are kept, by name.
pub fn list(folder: &Folder) -> Result<Vec<QuarantinedFile>> {
    let mut kept = Vec::new();
    for place in [CONFLICTS, RECOVERED] {
        let names = folder.disk().list(place);
        for name in names.map_err(|e| Error::disk("list", place, e))? {
            kept.extend(of(folder, place, &name)?);
        }
    }
    kept.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(kept)
}

/// A file of one of the two places; none if its name is not one that we give.
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
    let mut kept = QuarantinedFile {
        file: path[OWN.len() + 1..].to_owned(),
        reason,
        brain: brain.to_owned(),
        bytes: 0,
        stamp: None,
        time: Micros(time),
        base: None,
        problem: None,
    };
    let looked = folder.disk().source(&path, false).and_then(|source| {
        let stamp = source.stamp()?;
        (kept.bytes, kept.stamp) = (stamp.bytes, Some(stamp));
        kept.base = ownership::lineage_and_events(&*source, kept.bytes)?;
        Ok(())
    });
    match looked {
        // It is gone since.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // One that can't be read hides no other.
        looked => kept.problem = looked.err().map(|e| e.to_string()),
    }
    Ok(Some(kept))
}

/// A new name for a file that is kept aside, relative to the folder: what `list` reads. No other file has it.
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
            // Another was kept in the same microsecond.
            Ok(_) => time += 1,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(name),
            Err(e) => return Err(e),
        }
    }
}

/// The names, relative to the folder, under which a file is kept already among those that are kept for such a reason.
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

/// One of them, by its name.
pub fn find(folder: &Folder, file: &str) -> Result<QuarantinedFile> {
    let found = list(folder)?.into_iter().find(|kept| kept.file == file);
    found.ok_or_else(|| Error::NotQuarantined { file: file.into() })
}

/// Takes one of them away for good.
pub fn discard(folder: &Folder, file: &str) -> Result<()> {
    let path = path(&find(folder, file)?);
    let disk = folder.disk();
    disk.remove(&path)
        .map_err(|e| Error::disk("remove", &path, e))?;
    let place = parent_of(&path);
    disk.sync_folder(place)
        .map_err(|e| Error::disk("sync", place, e))
}

pub(crate) fn path(kept: &QuarantinedFile) -> String {
    format!("{OWN}/{}", kept.file)
}
