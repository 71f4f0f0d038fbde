//! Folders that other users must not control: those of the brains, of the socket, of the tokens.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use amem_store::folder::{CONFLICTS, OWN, RECOVERED, TMP};

use crate::error::{Error, Result};
use amem_host::trust::is_ours;
use amem_host::users::is_own_group;

/// Refuses a folder for brains that others can write in.
pub(crate) fn check_folder(path: &Path) -> Result<()> {
    let meta = fs::metadata(path).map_err(|e| Error::io("open the folder", path, e))?;
    let why = if !meta.is_dir() {
        "is not a folder: name the folder of the brains"
    } else if meta.permissions().mode() & 0o002 != 0 {
        "is writable by all users: remove that permission (chmod o-w), or use another folder"
    } else if can_be_written_by_a_group(&meta) {
        "is writable by a group with other members: remove that permission (chmod g-w), or use another folder"
    } else {
        return Ok(());
    };
    Err(Error::Folder {
        path: path.into(),
        why,
    })
}

/// Refuses a folder that another user owns, or in which another user owns a folder of amemd: the owner of a folder can
/// replace its files, whatever their modes.
pub(crate) fn check_owners(folder: &Path) -> Result<()> {
    let meta = fs::metadata(folder).map_err(|e| Error::io("open the folder", folder, e))?;
    if !is_ours(&meta) {
        return Err(Error::Folder {
            path: folder.into(),
            why: "belongs to another user, who could replace any brain: run amemd as that user, give the folder to the \
                  user that amemd runs as (chown -R), or use another folder",
        });
    }
    // The outermost first: nothing beyond a link is checked.
    [OWN, TMP, RECOVERED, CONFLICTS]
        .iter()
        .try_for_each(|own| check_own(&folder.join(own)))
}

/// Refuses a folder of amemd whose type, owner or mode is not the one that amemd gave it.
fn check_own(path: &Path) -> Result<()> {
    let meta = match fs::symlink_metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        meta => meta.map_err(|e| Error::io("read the metadata of", path, e))?,
    };
    let why = if !meta.is_dir() {
        "is a link or a file, but amemd needs a folder of its own there: move it away, and move the original folder back"
    } else if !is_ours(&meta) {
        "belongs to another user, who could replace the files of amemd in it: give it to the user that amemd runs as \
         (chown -R)"
    } else if meta.permissions().mode() & 0o002 != 0 || can_be_written_by_a_group(&meta) {
        "is writable by other users, but holds files of amemd: remove that permission (chmod go-w)"
    } else {
        return Ok(());
    };
    Err(Error::Folder {
        path: path.into(),
        why,
    })
}

/// True if a group that has other members than the daemon's user can write in the folder.
fn can_be_written_by_a_group(meta: &fs::Metadata) -> bool {
    meta.permissions().mode() & 0o020 != 0 && !is_own_group(meta.gid())
}

/// Refuses a folder in which others could replace the socket. A sticky folder such as `/tmp` will do: in it only the
/// owner of a file, or of the folder, can replace the file.
pub(crate) fn check_socket_folder(path: &Path) -> Result<()> {
    let meta = fs::metadata(path).map_err(|e| Error::io("read the metadata of", path, e))?;
    if !is_ours(&meta) {
        return Err(Error::Folder {
            path: path.into(),
            why: "belongs to another user, who could replace the socket: set another --socket",
        });
    }
    let mode = meta.permissions().mode();
    if mode & 0o1000 == 0 && (mode & 0o002 != 0 || can_be_written_by_a_group(&meta)) {
        return Err(Error::Folder {
            path: path.into(),
            why: "is writable by other users, who could replace the socket: remove that permission (chmod go-w), or \
                  set another --socket",
        });
    }
    Ok(())
}

/// Creates a folder with mode 0700, and those above it.
pub(crate) fn make_private(folder: &Path) -> Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|e| Error::io("create", folder, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use amem_store::Folder;
    use amem_store::disk::os::OsDisk;
    use std::sync::Arc;

    #[test]
    fn folders_in_which_others_can_write_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let own_group = is_own_group(fs::metadata(folder.path()).unwrap().gid());
        for (mode, brains, socket) in [
            (0o700, true, true),
            (0o755, true, true),
            (0o770, own_group, own_group),
            (0o707, false, false),
            (0o1777, false, true),
        ] {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(check_folder(folder.path()).is_ok(), brains, "{mode:o}");
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
