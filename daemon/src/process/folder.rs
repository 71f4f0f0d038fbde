//! The folder of the brains: checked, then locked for this daemon.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use amem_format::reader::boot_id;
use amem_host::paths::{DaemonRecord, FolderIdentity};
use amem_store::Folder;
use amem_store::disk::os::OsDisk;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::os::folder::{check_owners, make_private};
use crate::os::{file_system, folder};

/// The warning if the boot of the operating system is unknown.
const BOOT_UNKNOWN: &str = "cannot read /proc/sys/kernel/random/boot_id: direct readers of a brain's file take it for a copy, and see new \
     commits only when they open it again; calls are not affected";

/// Locks the folder for this daemon. The error of a locked folder names its holder.
pub fn open_folder(config: &Config) -> Result<Folder> {
    if config.default_folder {
        make_private(&config.folder)?;
    }
    for warning in check_folder(config)? {
        tracing::warn!("{warning}");
    }
    check_owners(&config.folder)?;
    let disk =
        OsDisk::new(&config.folder).map_err(|e| Error::io("open the folder", &config.folder, e))?;
    let record = DaemonRecord {
        pid: Some(std::process::id()),
        folder: None,
        socket: Some(config.socket.clone()),
        // A folder that cannot be reached is refused when it is locked.
        place: FolderIdentity::of(&config.folder).ok(),
    };
    let folder = Folder::open(Arc::new(disk), &record.to_lines().to_string_lossy())?;
    folder.set_readers(config.readers.clone());
    folder.set_journal_bytes_max(config.limits.journal_bytes_max);
    Ok(folder)
}

/// Refuses a folder that cannot hold brains; returns warnings.
pub(super) fn check_folder(config: &Config) -> Result<Vec<String>> {
    let path = &config.folder;
    folder::check_folder(path)?;
    let mut warnings: Vec<_> = file_system::check(path, config.allow_network_folder)?
        .into_iter()
        .collect();
    config.check_readers()?;
    if boot_id() == [0, 0] {
        warnings.push(BOOT_UNKNOWN.into());
    }
    warnings.extend(unreachable_for(config));
    Ok(warnings)
}

/// A warning if a group may read files but cannot traverse a folder above them.
fn unreachable_for(config: &Config) -> Option<String> {
    let groups: BTreeSet<u32> = config.readers.brains.values().copied().collect();
    let groups = groups.into_iter().chain(config.readers.others);
    let shut = |folder: &Path, group: u32| {
        let meta = fs::metadata(folder).ok()?;
        let mode = meta.permissions().mode();
        let is_open = mode & 0o001 != 0 || (mode & 0o010 != 0 && meta.gid() == group);
        (!is_open).then(|| (group, folder.to_path_buf()))
    };
    let (group, folder) = groups
        .flat_map(|group| config.folder.ancestors().map(move |folder| (folder, group)))
        .find_map(|(folder, group)| shut(folder, group))?;
    let folder = folder.display();
    Some(format!(
        "group {group} may read files by access.readers, but cannot traverse {folder}: allow it (chmod o+x {folder}), which \
         does not let others list the folder"
    ))
}
