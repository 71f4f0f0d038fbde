//! Files in quarantine that are read, or become brains again.
//!
//! Promises: a file stays in quarantine until the brain that is made of it is durable, and has all of it.

use std::io;

use amem_format::view::View;

use crate::disk::Source;
use crate::error::{Error, Result};
use crate::names::folder::Folder;
use crate::names::incoming::{ImportReport, IncomingFile, LossyConversions};
use crate::names::ownership::read_all;
use crate::names::quarantine::{discard, find, path};
use crate::names::untracked::UntrackedFile;

/// All that one of them has, as a brain, and what that can't have.
pub fn read(folder: &Folder, file: &str) -> Result<(View, LossyConversions)> {
    let (source, bytes) = open(folder, file)?;
    let mut incoming = IncomingFile::read_only(folder, bytes)?;
    let mut read = 0;
    read_all(&*source, bytes, |part| {
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
pub fn restore(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<ImportReport> {
    let (source, bytes) = open(folder, file)?;
    let incoming = IncomingFile::begin(folder, name, bytes)?;
    become_brain(folder, file, (source, bytes), incoming, embed)
}

/// The same in the place of the file that has the name, if there is one, in one step: there is always a brain of that
/// name. What that file had was kept aside before (`Store::retire`).
pub fn take(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<ImportReport> {
    let (source, bytes) = open(folder, file)?;
    let untracked = UntrackedFile::open_any(folder, name)?;
    let incoming = IncomingFile::replacing(folder, name, bytes, untracked)?;
    become_brain(folder, file, (source, bytes), incoming, embed)
}

fn become_brain(
    folder: &Folder,
    file: &str,
    (source, bytes): (Box<dyn Source>, u64),
    mut incoming: IncomingFile,
    embed: bool,
) -> Result<ImportReport> {
    read_all(&*source, bytes, |part| incoming.push(part))?;
    let (mut imported, before) = incoming.finish_replacing(embed)?;
    if let Some(before) = before {
        before.finalise()?;
    }
    match imported.lossy.is_empty() {
        true => discard(folder, file)?,
        false => imported.original = Some(path(&find(folder, file)?)),
    }
    Ok(imported)
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
