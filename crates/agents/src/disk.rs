//! Settings files on disk: read whole, replaced whole.
//!
//! Promises: a reader sees the old text or the new one; permissions, owner and symbolic links stay; a file that
//! changed since it was read is not replaced.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use amem_host::files::{FileKind, read_text};
use amem_host::trust::OthersMay;
use tempfile::{Builder, NamedTempFile};

use crate::error::{FILE_BYTES_MAX, SettingsError};

/// Symbolic links that are followed; a longer chain is a circle.
const LINKS_MAX: usize = 40;

/// Of new files in a home folder: settings may have secrets. Files of a project are for all who work on it.
const PRIVATE_MODE: u32 = 0o600;
const SHARED_MODE: u32 = 0o644;

/// The text of a file; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, SettingsError> {
    // Another program's file: its mode is that program's choice. Who owns it is not: a link in a shared folder must not
    // make us read, and write, what another user keeps.
    let kind = FileKind::Settings(OthersMay::Write);
    Ok(read_text(path, kind, FILE_BYTES_MAX)?)
}

/// The file that a path leads to, through symbolic links; it need not exist.
pub(crate) fn target(path: &Path) -> Result<PathBuf, SettingsError> {
    let mut at = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(next) = fs::read_link(&at) else {
            return Ok(at);
        };
        at = match at.parent() {
            Some(folder) => folder.join(next),
            None => next,
        };
    }
    let circle = io::Error::other("too many symbolic links");
    Err(SettingsError::io("follow", path, circle))
}

/// A new text beside its file, not yet in its place.
#[derive(Debug)]
pub(crate) struct PreparedFile {
    temporary: NamedTempFile,
    target: PathBuf,
}

impl PreparedFile {
    /// Writes the text durably under a temporary name, in the file's folder, which must exist.
    pub(crate) fn new(path: &Path, text: &str, is_shared: bool) -> Result<Self, SettingsError> {
        let target = target(path)?;
        let folder = folder_of(&target);
        let mut how = Builder::new();
        let made = how.prefix(".amemctl-").suffix(".tmp").tempfile_in(&folder);
        let mut temporary = made.map_err(|e| SettingsError::io("write to", &folder, e))?;
        let failed = |e| SettingsError::io("write", &target, e);
        let mode = match fs::metadata(&target) {
            Ok(meta) => {
                // A rename would replace a file that its owner made read-only.
                let opened = OpenOptions::new().append(true).open(&target);
                opened.map_err(failed)?;
                let ours = temporary.as_file().metadata().map_err(failed)?;
                if (ours.uid(), ours.gid()) != (meta.uid(), meta.gid()) {
                    let owner = (Some(meta.uid()), Some(meta.gid()));
                    let given = std::os::unix::fs::chown(temporary.path(), owner.0, owner.1);
                    given.map_err(failed)?;
                }
                meta.permissions().mode() & 0o7777
            }
            Err(_) if is_shared => SHARED_MODE,
            Err(_) => PRIVATE_MODE,
        };
        let permissions = fs::Permissions::from_mode(mode);
        let file = temporary.as_file_mut();
        file.set_permissions(permissions).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        Ok(Self { temporary, target })
    }

    /// Puts it in its place.
    pub(crate) fn publish(self) -> Result<(), SettingsError> {
        let Self { temporary, target } = self;
        let done = temporary.persist(&target);
        done.map_err(|e| SettingsError::io("replace", &target, e.error))?;
        sync_folder(&folder_of(&target))
    }
}

/// Removes a file, durably.
pub(crate) fn remove(path: &Path) -> Result<(), SettingsError> {
    fs::remove_file(path).map_err(|e| SettingsError::io("remove", path, e))?;
    sync_folder(&folder_of(path))
}

fn sync_folder(folder: &Path) -> Result<(), SettingsError> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| SettingsError::io("sync", folder, e))
}

pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Creates the folders that are missing, and adds each to `created`.
pub(crate) fn create_folders(
    folder: &Path,
    created: &mut Vec<PathBuf>,
) -> Result<(), SettingsError> {
    let missing = folder.ancestors().take_while(|path| !path.exists());
    let missing: Vec<_> = missing.collect();
    for path in missing.into_iter().rev() {
        fs::create_dir(path).map_err(|e| SettingsError::io("create", path, e))?;
        created.push(path.to_owned());
    }
    Ok(())
}

/// Removes folders that are empty, innermost first; others stay.
pub(crate) fn remove_empty(folders: &[PathBuf]) {
    let mut folders: Vec<_> = folders.iter().collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(folder.components().count()));
    for folder in folders {
        // A folder with other files in it is in use.
        let _in_use = fs::remove_dir(folder);
    }
}
