//! What kind of file system a folder is on: one on another machine can't promise what we promise.

use std::path::Path;

#[cfg(target_os = "linux")]
use rustix::io::retry_on_intr;

use crate::error::{Error, Result};

/// What a folder's file system means for a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It keeps what is synced.
    Durable,
    /// It is in memory: nothing survives a power cut.
    Memory(&'static str),
    /// It is somewhere else, or in another program: locks and syncs mean what they like there.
    Elsewhere(&'static str),
    /// It can neither exchange two names nor give a file two, so that no file in it can be replaced safely.
    Unsuitable(&'static str),
}

/// The numbers by which Linux names file systems (statfs(2)).
#[cfg(target_os = "linux")]
const ELSEWHERE: [(u32, &str); 9] = [
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

/// Others that can't are found out when the folder is opened (`Disk::check_file_system`).
#[cfg(target_os = "linux")]
const UNSUITABLE: [(u32, &str); 1] = [(0x2011_BAB0, "exFAT")];

#[cfg(target_os = "linux")]
fn kind_of(magic: u32) -> Kind {
    let named = |table: &[(u32, &'static str)]| {
        let row = table.iter().find(|row| row.0 == magic);
        row.map(|row| row.1)
    };
    if let Some(name) = named(&ELSEWHERE) {
        Kind::Elsewhere(name)
    } else if let Some(name) = named(&MEMORY) {
        Kind::Memory(name)
    } else if let Some(name) = named(&UNSUITABLE) {
        Kind::Unsuitable(name)
    } else {
        Kind::Durable
    }
}

/// The kind of file system that a folder is on.
#[cfg(target_os = "linux")]
pub(crate) fn kind(folder: &Path) -> Result<Kind> {
    let found = retry_on_intr(|| rustix::fs::statfs(folder))
        .map_err(|e| Error::io("look at the file system of", folder, e.into()))?;
    // The kernel's number has 32 bits, in a field that is wider on some machines.
    Ok(kind_of(found.f_type as u32))
}

/// The kind of file system that a folder is on; only Linux tells it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn kind(_folder: &Path) -> Result<Kind> {
    Ok(Kind::Durable)
}

/// Refuses a file system that is elsewhere, unless it is allowed; gives words of warning, if there are any.
pub(crate) fn check(folder: &Path, allow_elsewhere: bool) -> Result<Option<String>> {
    judge(folder, kind(folder)?, allow_elsewhere)
}

fn judge(folder: &Path, kind: Kind, allow_elsewhere: bool) -> Result<Option<String>> {
    match kind {
        Kind::Durable => Ok(None),
        Kind::Memory(name) => Ok(Some(format!(
            "{} is on {name}, in memory: nothing in it survives a power cut",
            folder.display()
        ))),
        Kind::Elsewhere(name) if allow_elsewhere => Ok(Some(format!(
            "{} is on {name}: that an answered write lasts, and that there is one writer, is up to it",
            folder.display()
        ))),
        Kind::Elsewhere(name) => Err(Error::Elsewhere {
            path: folder.into(),
            name,
        }),
        Kind::Unsuitable(name) => Err(amem_store::Error::FileSystem {
            why: format!(
                "{} is on {name}, which can neither exchange two names nor give a file two",
                folder.display()
            ),
        }
        .into()),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// File systems on disks of this machine. What is made in a container's overlayfs lies on that of its upper layer.
    const DISKS: [(u32, &str); 4] = [
        (0xEF53, "ext4"),
        (0x5846_5342, "XFS"),
        (0x9123_683E, "btrfs"),
        (0x794C_7630, "overlayfs"),
    ];

    #[test]
    fn a_folder_elsewhere_is_refused_unless_allowed_and_one_in_memory_is_warned_of() {
        let folder = Path::new("/brains");
        for (magic, name) in ELSEWHERE {
            let error = judge(folder, kind_of(magic), false)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(name) && error.contains("allow_network_folder"),
                "{error}"
            );
            let warning = judge(folder, kind_of(magic), true).unwrap();
            assert!(warning.is_some_and(|words| words.contains(name)));
        }
        for (magic, name) in MEMORY {
            let warning = judge(folder, kind_of(magic), false).unwrap();
            assert!(warning.is_some_and(|words| words.contains(name)));
        }
        for (magic, name) in UNSUITABLE {
            for allowed in [false, true] {
                let error = judge(folder, kind_of(magic), allowed).unwrap_err();
                let error = error.to_string();
                let says_all =
                    [name, "/brains", "another file system"].map(|it| error.contains(it));
                assert_eq!(says_all, [true; 3], "{error}");
            }
        }
        for (magic, name) in DISKS {
            assert_eq!(
                judge(folder, kind_of(magic), false).unwrap(),
                None,
                "{name}"
            );
        }
    }

    #[test]
    fn the_file_system_of_processes_is_none_of_them() {
        assert_eq!(kind(Path::new("/proc")).unwrap(), Kind::Durable);
        assert!(kind(Path::new("/nowhere/at/all")).is_err());
    }
}
