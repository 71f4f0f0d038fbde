//! Files in quarantine that are read, or become brains again.
//!
//! Promises: a file stays in quarantine until the brain that is made of it is durable, and has all of it.

use std::io;

use amem_format::view::View;

use crate::disk::SourceFile;
use crate::error::{Error, Result};
use crate::names::folder::Folder;
use crate::names::incoming::{ImportReport, IncomingFile, LossyConversions};
use crate::names::ownership::{check_claims, read_all};
use crate::names::quarantine::{discard, find, path_of};
use crate::names::untracked::UntrackedFile;

/// A view of a file in quarantine, and what could not be converted.
pub fn read(folder: &Folder, file: &str) -> Result<(View, LossyConversions)> {
    let (source, bytes) = open(folder, file)?;
    let mut incoming = IncomingFile::read_only(folder, bytes)?;
    let mut read = 0;
    check_claims(&*source, bytes)?;
    read_all(&*source, bytes, |part| {
        read += part.len();
        incoming.push_part(part)
    })?;
    if read < bytes {
        // The disk failed, or another process cut the file.
        let why = io::Error::from(io::ErrorKind::UnexpectedEof);
        return Err(Error::disk("read to its end", file, why));
    }
    incoming.into_view()
}

/// Makes a brain of a file in quarantine, under a free name. The file is removed, unless the brain does not have all of
/// it: then it stays, and is the `original` of the report.
pub fn restore(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<ImportReport> {
    let (source, bytes) = open(folder, file)?;
    let incoming = IncomingFile::begin(folder, name, bytes)?;
    make_brain(folder, file, (source, bytes), incoming, embed)
}

/// The same in place of the file that has the name, if there is one, in one step: there is always a brain of that name.
/// `Store::retire` saves what that file has before.
pub fn take(folder: &Folder, file: &str, name: &str, embed: bool) -> Result<ImportReport> {
    let (source, bytes) = open(folder, file)?;
    let untracked = UntrackedFile::open_any(folder, name)?;
    let incoming = IncomingFile::replacing(folder, name, bytes, untracked)?;
    make_brain(folder, file, (source, bytes), incoming, embed)
}

fn make_brain(
    folder: &Folder,
    file: &str,
    (source, bytes): (Box<dyn SourceFile>, u64),
    mut incoming: IncomingFile,
    embed: bool,
) -> Result<ImportReport> {
    check_claims(&*source, bytes)?;
    read_all(&*source, bytes, |part| incoming.push_part(part))?;
    let (mut report, before) = incoming.finish_replacing(embed)?;
    if let Some(before) = before {
        before.finalise()?;
    }
    if report.lossy.is_empty() {
        discard(folder, file)?;
    } else {
        report.original = Some(path_of(&find(folder, file)?));
    }
    Ok(report)
}

fn open(folder: &Folder, file: &str) -> Result<(Box<dyn SourceFile>, u64)> {
    let entry = find(folder, file)?;
    let path = path_of(&entry);
    let source = folder.disk().source(&path, false);
    Ok((
        source.map_err(|e| Error::disk("open", &path, e))?,
        entry.bytes,
    ))
}
