//! The file system of the report's folder: a sync in memory means nothing, so the report rejects such a folder.

use std::path::Path;

use super::measure::Outcome;

/// The numbers by which Linux names file systems (statfs(2)).
const NAMES: [(u32, &str); 6] = [
    (0xEF53, "ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683E, "btrfs"),
    (0x794C_7630, "overlayfs"),
    (0x2FC1_2FC1, "zfs"),
    (0xF2F5_2010, "f2fs"),
];
const MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58F6];

/// The name of the folder's file system.
pub(super) fn name(folder: &Path) -> Outcome<String> {
    let found = rustix::fs::statfs(folder)?;
    // The kernel's number has 32 bits, in a field that is wider on some machines.
    let kind = found.f_type as u32;
    if MEMORY.contains(&kind) {
        let folder = folder.display();
        return Err(format!(
            "{folder} is in memory, where a sync costs nothing: name one on a disk with --folder"
        )
        .into());
    }
    let known = NAMES.iter().find(|(number, _)| *number == kind);
    Ok(known.map_or_else(
        || format!("file system {kind:#x}"),
        |(_, name)| (*name).into(),
    ))
}
