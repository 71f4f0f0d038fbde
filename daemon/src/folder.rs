//! The folder of the brains, as a place: made private, held by us alone, on a file system that keeps what it is told.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use amem_store::Folder;
use amem_store::disk::os::OsDisk;

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
    file_system::check(path, config.allow_network_folder)
}

/// Makes a folder that only we may enter, and those above it.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| Error::io("make", folder, e))
}
