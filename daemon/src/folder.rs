//! The folder of the brains, as a place: made private, held by us alone, on a file system that keeps what it is told.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;

use amem_format::reader::boot_id;
use amem_store::Folder;
use amem_store::disk::os::OsDisk;
use amem_store::folder::{CONFLICTS, OWN, RECOVERED, TMP};

use crate::access::{is_in_group, is_own_group};
use crate::config::{Config, READERS};
use crate::error::{Error, Result};
use crate::file_system;
use crate::trust::is_ours;

/// What is told where nothing says which run of the operating system this is.
const RUN_UNKNOWN: &str = "the system does not say which run of it this is (/proc/sys/kernel/random/boot_id can't be read): who \
     reads a brain's file takes it for a copy that nobody writes, and sees what is new only when it opens the file anew; \
     through calls all is as ever";

/// Takes the folder for this daemon alone. Whoever has it is named in the error.
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
    let (pid, socket) = (std::process::id(), config.socket.display());
    let holder = format!("amemd, process {pid}, which listens on {socket}");
    let folder = Folder::open(Arc::new(disk), &holder)?;
    folder.set_readers(config.readers.clone());
    folder.set_journal_bytes_max(config.limits.journal_bytes_max);
    Ok(folder)
}

/// Refuses a folder that can't be the one of the brains; gives words of warning.
pub(crate) fn check_folder(config: &Config) -> Result<Vec<String>> {
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
    let mut warnings: Vec<_> = file_system::check(path, config.allow_network_folder)?
        .into_iter()
        .collect();
    check_readers(config)?;
    if boot_id() == [0, 0] {
        warnings.push(RUN_UNKNOWN.into());
    }
    warnings.extend(unreachable_for(config));
    Ok(warnings)
}

/// Refuses a folder that another user has in hand, or one of our own in it: who owns a folder can take away what is in
/// it and put something else there, whatever the modes of the files say.
pub(crate) fn check_owners(folder: &Path) -> Result<()> {
    let meta = fs::metadata(folder).map_err(|e| Error::io("open the folder", folder, e))?;
    if !is_ours(&meta) {
        return Err(Error::Folder {
            path: folder.into(),
            why: "belongs to another user, who could put something else in the place of any brain: run amemd as that \
                  user, give the folder to the one that amemd runs as (chown -R), or use another",
        });
    }
    // The outermost first: behind one that is a link nothing is looked at.
    [OWN, TMP, RECOVERED, CONFLICTS]
        .iter()
        .try_for_each(|own| check_own(&folder.join(own)))
}

/// Refuses a folder of our own that is not as we made it.
fn check_own(path: &Path) -> Result<()> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        meta => meta.map_err(|e| Error::io("look at", path, e))?,
    };
    let why = if !meta.is_dir() {
        "is a link or a file, where amemd makes a folder of its own: move it away, and what was in the folder back"
    } else if !is_ours(&meta) {
        "belongs to another user, who could put something else in the place of what amemd keeps there: give it to the \
         user that amemd runs as (chown -R)"
    } else if meta.permissions().mode() & 0o002 != 0 || can_be_written_by_a_group(&meta) {
        "can be written by others, where amemd keeps files of its own: take that right away (chmod go-w)"
    } else {
        return Ok(());
    };
    Err(Error::Folder {
        path: path.into(),
        why,
    })
}

/// Only who is in a group can give files to it.
pub(crate) fn check_readers(config: &Config) -> Result<()> {
    let groups = config.readers.brains.values();
    match groups.chain(&config.readers.others).find(|group| !is_in_group(**group)) {
        None => Ok(()),
        Some(group) => Err(config.wrong(
            READERS,
            format_args!(
                "amemd is not in group {group} and can't give files to it: add it to the group (SupplementaryGroups= in \
                 its unit), and start it again"
            ),
        )),
    }
}

/// Groups that may read files, but can't get through to them: in words, if there are any.
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
        "group {group} may read files by access.readers, but can't pass through {folder}: let it (chmod o+x {folder}), which \
         shows nobody what is in there"
    ))
}

/// True if a group may write in a folder, and others than our own user are in it.
fn can_be_written_by_a_group(meta: &fs::Metadata) -> bool {
    meta.permissions().mode() & 0o020 != 0 && !is_own_group(meta.gid())
}

/// Refuses a folder in which others could put a socket of theirs in the place of ours. In a folder like `/tmp` they
/// can't: each takes away only what is its own, but for the folder's owner, who must be our own user or root.
pub(crate) fn check_socket_folder(path: &Path) -> Result<()> {
    let meta = fs::metadata(path).map_err(|e| Error::io("look at", path, e))?;
    if !is_ours(&meta) {
        return Err(Error::Folder {
            path: path.into(),
            why: "belongs to another user, who could put a socket of theirs there: give another --socket",
        });
    }
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

    #[test]
    fn a_socket_is_put_only_into_a_folder_of_our_own_or_of_root() {
        check_socket_folder(Path::new("/")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        check_socket_folder(folder.path()).unwrap();
        // Only root can give a folder away.
        if std::os::unix::fs::chown(folder.path(), Some(65_531), None).is_ok() {
            for mode in [0o700, 0o755, 0o1777] {
                fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
                let refused = check_socket_folder(folder.path()).unwrap_err().to_string();
                assert!(refused.contains("another user"), "{refused}");
            }
        }
    }

    #[test]
    fn a_folder_that_another_user_has_in_hand_is_refused_and_so_is_one_of_our_own_in_it() {
        let chown = |path: &Path, user| std::os::unix::fs::chown(path, Some(user), None);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let refused = |what: &Path, words: &str| {
            let told = check_owners(path).unwrap_err().to_string();
            let begins = told.starts_with(&format!("{} ", what.display()));
            assert!(begins && told.contains(words), "{words}: {told}");
        };
        check_owners(path).unwrap();
        let disk = Arc::new(OsDisk::new(path).unwrap());
        drop(Folder::open(disk, "a test").unwrap());
        check_owners(path).unwrap();
        let us = fs::metadata(path).unwrap().uid();
        // Only root can give a folder away.
        let is_root = chown(path, 65_531).is_ok();
        if is_root {
            refused(path, "run amemd as that user");
            chown(path, us).unwrap();
        }
        for own in [
            ".amemd",
            ".amemd/tmp",
            ".amemd/recovered",
            ".amemd/conflicts",
        ] {
            let (own, aside) = (path.join(own), path.join("aside"));
            let set = |mode| fs::set_permissions(&own, fs::Permissions::from_mode(mode)).unwrap();
            set(0o702);
            refused(&own, "chmod go-w");
            set(0o755);
            check_owners(path).unwrap();
            fs::rename(&own, &aside).unwrap();
            std::os::unix::fs::symlink(&aside, &own).unwrap();
            refused(&own, "is a link");
            fs::remove_file(&own).unwrap();
            fs::rename(&aside, &own).unwrap();
            if is_root {
                chown(&own, 65_531).unwrap();
                refused(&own, "chown -R");
                chown(&own, us).unwrap();
            }
        }
        check_owners(path).unwrap();
    }
}
