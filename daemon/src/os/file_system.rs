//! The file system of a folder: a network file system has no reliable locks and syncs.

use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::io::retry_on_intr;

use crate::error::{Error, Result};

/// The kind of a file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSystemKind {
    /// Synced data survives a power cut.
    Durable,
    /// In memory: nothing survives a power cut.
    Memory(&'static str),
    /// On another machine, or in another program: locks and syncs are not reliable.
    Network(&'static str),
    /// Without an exchange of names and without hard links: files cannot be replaced safely.
    Unsuitable(&'static str),
}

/// The numbers by which Linux names file systems (statfs(2)).
#[cfg(target_os = "linux")]
const NETWORK: [(u32, &str); 9] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFE53_4D42, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x5346_414F, "AFS"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
];
#[cfg(target_os = "linux")]
const MEMORY: [(u32, &str); 2] = [(0x0102_1994, "tmpfs"), (0x8584_58F6, "ramfs")];

/// `Disk::check_file_system` finds others when the folder is opened.
#[cfg(target_os = "linux")]
const UNSUITABLE: [(u32, &str); 1] = [(0x2011_BAB0, "exFAT")];

#[cfg(target_os = "linux")]
fn kind_of(magic: u32) -> FileSystemKind {
    let named = |table: &[(u32, &'static str)]| {
        let row = table.iter().find(|row| row.0 == magic);
        row.map(|row| row.1)
    };
    if let Some(name) = named(&NETWORK) {
        FileSystemKind::Network(name)
    } else if let Some(name) = named(&MEMORY) {
        FileSystemKind::Memory(name)
    } else if let Some(name) = named(&UNSUITABLE) {
        FileSystemKind::Unsuitable(name)
    } else {
        FileSystemKind::Durable
    }
}

/// The kind of file system that a folder is on.
#[cfg(target_os = "linux")]
pub(crate) fn kind(folder: &Path) -> Result<FileSystemKind> {
    let found = retry_on_intr(|| rustix::fs::statfs(folder))
        .map_err(|e| Error::io("determine the file system of", folder, e.into()))?;
    // The magic number has 32 bits, in a field that is wider on some machines.
    Ok(kind_of(found.f_type as u32))
}

/// The kind of file system that a folder is on: known on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kind(_folder: &Path) -> Result<FileSystemKind> {
    Ok(FileSystemKind::Durable)
}

/// Refuses a network file system, unless it is allowed; returns a warning, if there is one.
pub(crate) fn check(folder: &Path, allow_network: bool) -> Result<Option<String>> {
    check_kind(folder, kind(folder)?, allow_network)
}

fn check_kind(folder: &Path, kind: FileSystemKind, allow_network: bool) -> Result<Option<String>> {
    match kind {
        FileSystemKind::Durable => Ok(None),
        FileSystemKind::Memory(name) => Ok(Some(format!(
            "{} is on {name}, in memory: nothing in it survives a power cut",
            folder.display()
        ))),
        FileSystemKind::Network(name) if allow_network => Ok(Some(format!(
            "{} is on {name}: its locks and syncs decide whether answered writes are durable and whether there is one writer",
            folder.display()
        ))),
        FileSystemKind::Network(name) => Err(Error::NetworkFolder {
            path: folder.into(),
            name,
        }),
        FileSystemKind::Unsuitable(name) => Err(amem_store::Error::FileSystem {
            why: format!(
                "{} is on {name}, which has neither an exchange of names nor hard links",
                folder.display()
            ),
        }
        .into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// File systems on disks of this machine; files of overlayfs are on that of its upper layer.
    const DISKS: [(u32, &str); 4] = [
        (0xEF53, "ext4"),
        (0x5846_5342, "XFS"),
        (0x9123_683E, "btrfs"),
        (0x794C_7630, "overlayfs"),
    ];

    #[test]
    fn a_folder_elsewhere_is_refused_unless_allowed_and_one_in_memory_is_warned_of() {
        let folder = Path::new("/brains");
        for (magic, name) in NETWORK {
            let error = check_kind(folder, kind_of(magic), false)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(name) && error.contains("allow_network_folder"),
                "{error}"
            );
            let warning = check_kind(folder, kind_of(magic), true).unwrap();
            assert!(warning.is_some_and(|words| words.contains(name)));
        }
        for (magic, name) in MEMORY {
            let warning = check_kind(folder, kind_of(magic), false).unwrap();
            assert!(warning.is_some_and(|words| words.contains(name)));
        }
        for (magic, name) in UNSUITABLE {
            for allowed in [false, true] {
                let error = check_kind(folder, kind_of(magic), allowed).unwrap_err();
                let error = error.to_string();
                let says_all =
                    [name, "/brains", "another file system"].map(|it| error.contains(it));
                assert_eq!(says_all, [true; 3], "{error}");
            }
        }
        for (magic, name) in DISKS {
            assert_eq!(
                check_kind(folder, kind_of(magic), false).unwrap(),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn the_file_system_of_processes_is_none_of_them() {
        assert_eq!(kind(Path::new("/proc")).unwrap(), FileSystemKind::Durable);
        assert!(kind(Path::new("/nowhere/at/all")).is_err());
    }
}
