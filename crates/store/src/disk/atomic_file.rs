//! Files that are replaced atomically: written under another name, synced, then renamed.
//!
//! Promises: readers find the old file or all of the new one; when this returns, the new one is durable. An error
//! leaves nothing behind; a crash leaves at most the other name, which the next write removes.

use std::io;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::{Error, Result};

/// Replaces a file. `tmp`, a name that nothing else uses, and `name` are in `folder`.
pub fn write(
    disk: &Arc<dyn Disk>,
    folder: &str,
    tmp: &str,
    name: &str,
    bytes: &[u8],
) -> Result<()> {
    match disk.remove(tmp) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            return Err(Error::disk("remove", tmp, e));
        }
        _ => {}
    }
    let named = make(&**disk, tmp, bytes).and_then(|()| {
        let done = disk.replace(tmp, name);
        done.map_err(|e| Error::disk("replace", name, e))
    });
    if named.is_err() {
        // The first error is returned; the next write removes a file that stays.
        let _leftover = disk.remove(tmp);
    }
    named?;
    let synced = disk.sync_folder(folder);
    synced.map_err(|e| Error::disk("sync the folder of", name, e))
}

fn make(disk: &dyn Disk, tmp: &str, bytes: &[u8]) -> Result<()> {
    let file = disk.create(tmp);
    let file = file.map_err(|e| Error::disk("create", tmp, e))?;
    let written = file.write_at(0, bytes);
    written.map_err(|e| Error::disk("write", tmp, e))?;
    file.sync().map_err(|e| Error::disk("sync", tmp, e))
}
