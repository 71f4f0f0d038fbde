//! The folder of the brains, as a place: made private, held by us alone, on a file system that keeps what it is told.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use amem_store::Folder;
use amem_store::disk::os::OsDisk;

use crate::access::is_own_group;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::file_system;

/// Takes the folder for this daemon alone. Whoever has it is named in the error.
pub fn open_folder(config: &Config) -> Result<Folder> {
    if config.default_folder {
        make_private(&config.folder)?;
    }
    if let Some(warning) = check_folder(config)? {
        tracing::warn!("{warning}");
    }
    let disk =
        OsDisk::new(&config.folder).map_err(|e| Error::io("open the folder", &config.folder, e))?;
    let (pid, socket) = (std::process::id(), config.socket.display());
    let holder = format!("amemd, process {pid}, which listens on {socket}");
    Ok(Folder::open(Arc::new(disk), &holder)?)
}

/// Refuses a folder that can't be the one of the brains; gives words of warning, if there are any.
pub(crate) fn check_folder(config: &Config) -> Result<Option<String>> {
    let path = &config.folder;
    let meta = fs::metadata(path).map_err(|e| Error::io("open the folder", path, e))?;
    let refused = |why| Error::Folder {
        path: path.into(),
        why,
    };
    if !meta.is_dir() {
        return Err(refused(
            "is not a folder: give the folder that the brains are in",
        ));
    }
    if meta.permissions().mode() & 0o002 != 0 {
        return Err(refused(
            "can be written by anybody: take that right away (chmod o-w), or use another",
        ));
    }
    if can_be_written_by_a_group(&meta) {
        return Err(refused(
            "can be written by a group that others are in: take that right away (chmod g-w), or use another",
        ));
    }
    file_system::check(path, config.allow_network_folder)
}

/// True if a group may write in a folder, and others than our own user are in it.
fn can_be_written_by_a_group(meta: &fs::Metadata) -> bool {
    meta.permissions().mode() & 0o020 != 0 && !is_own_group(meta.gid())
}

/// Refuses a folder in which others could put a socket of theirs in the place of ours. In a folder like `/tmp` they
/// can't: each takes away only what is its own.
pub(crate) fn check_socket_folder(path: &Path) -> Result<()> {
    let meta = fs::metadata(path).map_err(|e| Error::io("look at", path, e))?;
    let mode = meta.permissions().mode();
    if mode & 0o1000 == 0 && (mode & 0o002 != 0 || can_be_written_by_a_group(&meta)) {
        return Err(Error::Folder {
            path: path.into(),
            why: "can be written by others, who could put a socket of theirs there: take that right away \
                  (chmod go-w), or give another --socket",
        });
    }
    Ok(())
}

/// Makes a folder that only we may enter, and those above it.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| Error::io("make", folder, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Flags;

    #[test]
    fn folders_in_which_others_can_write_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let flags = Flags {
            folder: Some(folder.path().into()),
            socket: Some("/s".into()),
            ..Flags::default()
        };
        let config = Config::load(flags, Arc::new(|_| None)).unwrap();
        let own_group = is_own_group(fs::metadata(folder.path()).unwrap().gid());
        for (mode, brains, socket) in [
            (0o700, true, true),
            (0o755, true, true),
            (0o770, own_group, own_group),
            (0o707, false, false),
            (0o1777, false, true),
        ] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_folder(&config).is_ok(), brains, "{mode:o}");
            let checked = check_socket_folder(folder.path());
            assert_eq!(checked.is_ok(), socket, "{mode:o}");
        }
    }
}
