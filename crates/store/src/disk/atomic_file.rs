//! Files that are written whole: made under another name, synced, and given their own only then.
//!
//! Promises: whoever looks finds what was there before, or all of the new file; when this returns it is there durably;
//! what fails before leaves nothing behind, and a crash leaves at most the other name, which the next one under that
//! name takes away.

use std::io;
use std::sync::Arc;

use crate::disk::Disk;
use crate::error::{Error, Result};

/// Writes a file whole in the place of what is there. `tmp`, a name that nobody else uses, and `name` are in `folder`.
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
        // Whatever failed is told; a file that stays is taken away by the next try.
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
