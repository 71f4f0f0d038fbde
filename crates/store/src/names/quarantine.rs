//! Files that were kept aside: what took a brain's name, what was saved of brains whose file was taken away, originals
//! that a brain has not all of.
//!
//! Promises: a file is named as it is listed, and no other can be reached by a name; none is taken away before what is
//! made of it is durable.

use std::io;

use amem_format::Micros;
use amem_format::view::View;
use uuid::Uuid;

use crate::disk::{FileId, Source, Stamp};
use crate::error::{Error, Result};
use crate::names::adoption;
use crate::names::folder::{CONFLICTS, Folder, OWN, RECOVERED, SUFFIX};
use crate::names::incoming::{Imported, Incoming, Misfits};
use crate::names::temporary::folder_of;

/// Why a file was kept aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It took the name of a brain, or was written to after a brain was made of it.
    Conflict,
    /// A brain's file was taken away, and this is what was committed.
    Recovered,
    /// A brain was made of it that has not all of it.
    Original,
}

/// A file that was kept aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Its name.
    pub file: String,
    /// Why it was kept.
    pub reason: Reason,
    /// The brain whose name it had.
    pub brain: String,
    /// Its bytes.
    pub bytes: u64,
    /// Which file it is, and as of when; none if it can't be looked at.
    pub stamp: Option<Stamp>,
    /// When it was kept.
    pub time: Micros,
    /// Its lineage and the events in its base, if it is a brain of amemd.
    pub told: Option<(Uuid, u64)>,
    /// Why it can't be read, if so.
    pub trouble: Option<String>,
}

/// The files that are kept, by name.
pub fn list(folder: &Folder) -> Result<Vec<Kept>> {
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
fn of(folder: &Folder, place: &'static str, name: &str) -> Result<Option<Kept>> {
    let Some((front, time)) = name
        .strip_suffix(SUFFIX)
        .and_then(|name| name.rsplit_once('-'))
    else {
        return Ok(None);
    };
    let (brain, reason) = match (place, front) {
        (CONFLICTS, brain) => (brain, Reason::Conflict),
        (_, front) => match (
            front.strip_suffix(".recovered"),
            front.strip_suffix(".original"),
        ) {
            (Some(brain), _) => (brain, Reason::Recovered),
            (_, Some(brain)) => (brain, Reason::Original),
            _ => return Ok(None),
        },
    };
    let Ok(time) = time.parse() else {
        return Ok(None);
    };
    let path = format!("{place}/{name}");
    let mut kept = Kept {
        file: path[OWN.len() + 1..].to_owned(),
        reason,
        brain: brain.to_owned(),
        bytes: 0,
        stamp: None,
        time: Micros(time),
        told: None,
        trouble: None,
    };
    let looked = folder.disk().source(&path, false).and_then(|source| {
        let stamp = source.stamp()?;
        (kept.bytes, kept.stamp) = (stamp.bytes, Some(stamp));
        kept.told = adoption::told(&*source, kept.bytes)?;
        Ok(())
    });
    match looked {
        // It is gone since.
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // One that can't be read hides no other.
        looked => kept.trouble = looked.err().map(|e| e.to_string()),
    }
    Ok(Some(kept))
}

/// A new name for a file that is kept aside, relative to the folder: what `list` reads. No other file has it.
pub(crate) fn name(folder: &Folder, brain: &str, reason: Reason) -> io::Result<String> {
    let mut time = folder.disk().now().0;
    loop {
        let name = match reason {
            Reason::Conflict => format!("{CONFLICTS}/{brain}-{time}{SUFFIX}"),
            Reason::Recovered => format!("{RECOVERED}/{brain}.recovered-{time}{SUFFIX}"),
            Reason::Original => format!("{RECOVERED}/{brain}.original-{time}{SUFFIX}"),
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
pub(crate) fn names_of(folder: &Folder, reason: Reason, file: FileId) -> io::Result<Vec<String>> {
    let place = match reason {
        Reason::Conflict => CONFLICTS,
        Reason::Recovered | Reason::Original => RECOVERED,
    };
    let disk = folder.disk();
    let mut paths: Vec<_> = disk.list(place)?;
    for path in &mut paths {
        *path = format!("{place}/{path}");
    }
    paths.retain(|path| disk.identity(path).is_ok_and(|id| id == file));
    Ok(paths)
}

/// The name of one as it is listed, of that relative to the folder.
pub fn listed(path: &str) -> &str {
    path.strip_prefix(OWN)
        .map_or(path, |name| name.trim_start_matches('/'))
}

/// One of them, by its name.
pub fn find(folder: &Folder, file: &str) -> Result<Kept> {
    let found = list(folder)?.into_iter().find(|kept| kept.file == file);
    found.ok_or_else(|| Error::NotKept { file: file.into() })
}

/// All that one of them has, as a brain, and what that can't have.
pub fn read(folder: &Folder, file: &str) -> Result<(View, Misfits)> {
    let (source, bytes) = open(folder, file)?;
    let mut incoming = Incoming::to_be_read(folder, bytes)?;
    let mut read = 0;
    adoption::read_all(&*source, bytes, |part| {
        read += part.len() as u64;
        incoming.push(part)
    })?;
    if read < bytes {
        // Nobody sent this file: that it ends early is the disk's fault, or of somebody who cuts it.
        let why = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(Error::disk("read to its end", file, why));
    }
    incoming.into_view()
}

/// Makes a brain of one of them, whose name is free. The file goes, unless the brain has not all of it: then it is the
/// original of the answer, and stays.
pub fn restore(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<Imported> {
    let (source, bytes) = open(folder, file)?;
    let incoming = Incoming::begin(folder, name, bytes)?;
    become_brain(folder, file, (source, bytes), incoming, embed)
}

/// The same in the place of the file that has the name, if there is one, in one step: there is always a brain of that
/// name. What that file had was kept aside before (`Store::retire`).
pub fn take(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<Imported> {
    let (source, bytes) = open(folder, file)?;
    let placed = adoption::place(folder, name)?;
    let incoming = Incoming::in_place_of(folder, name, bytes, placed)?;
    become_brain(folder, file, (source, bytes), incoming, embed)
}

fn become_brain(
    folder: &Folder,
    file: &str,
    (source, bytes): (Box<dyn Source>, u64),
    mut incoming: Incoming,
    embed: bool,
) -> Result<Imported> {
    adoption::read_all(&*source, bytes, |part| incoming.push(part))?;
    let (mut imported, before) = incoming.finish_placed(embed)?;
    if let Some(before) = before {
        before.settle()?;
    }
    match imported.misfits.are_none() {
        true => discard(folder, file)?,
        false => imported.original = Some(path(&find(folder, file)?)),
    }
    Ok(imported)
}

/// Takes one of them away for good.
pub fn discard(folder: &Folder, file: &str) -> Result<()> {
    let path = path(&find(folder, file)?);
    let disk = folder.disk();
    disk.remove(&path)
        .map_err(|e| Error::disk("remove", &path, e))?;
    let place = folder_of(&path);
    disk.sync_folder(place)
        .map_err(|e| Error::disk("sync", place, e))
}

fn path(kept: &Kept) -> String {
    format!("{OWN}/{}", kept.file)
}

fn open(folder: &Folder, file: &str) -> Result<(Box<dyn Source>, u64)> {
    let kept = find(folder, file)?;
    let path = path(&kept);
    let source = folder.disk().source(&path, false);
    Ok((
        source.map_err(|e| Error::disk("open", &path, e))?,
        kept.bytes,
    ))
}
