//! Adoption: an untracked file under a brain's name becomes that brain.
//!
//! Promises: the brain that is made of the file has an inode of its own, and takes the name in one step, once it is
//! durable. Not here: when to look at files (`amemd`).

use crate::disk::Stamp;
use crate::error::Result;
use crate::names::folder::Folder;
use crate::names::incoming::{ImportReport, IncomingFile};
use crate::names::untracked::{OriginalFile, UntrackedFile};

/// Makes a brain of the file under its name, if that is still as it was `seen`. Returns the file as well, for
/// `OriginalFile::finalise`.
///
/// `embed`: texts of a file without vectors get those of the built-in embedder.
pub fn adopt(
    folder: &Folder,
    name: &str,
    seen: Stamp,
    embed: bool,
) -> Result<(ImportReport, Option<OriginalFile>)> {
    let untracked = UntrackedFile::open_as_seen(folder, name, seen)?;
    let mut incoming = IncomingFile::of_untracked(folder, name, untracked)?;
    incoming.copy()?;
    incoming.finish_replacing(embed)
}
