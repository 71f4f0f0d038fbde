//! Files that decide who comes in: whoever may write them lets in whom they like, and whoever may read some of them is
//! let in.
//!
//! Promises: such a file belongs to our own user or to root, and others may do no more with it than what it is for.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

use super::users::is_own_group;

/// What others may do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// Nothing: tokens.
    Nothing,
    /// Those in its group may read it: keys of TLS, which services share by a group.
    GroupReads,
    /// All may read it: settings, certificates.
    Read,
}

impl Others {
    /// The rights that nobody but the owner may have, and how they are taken away.
    fn refused(self) -> (u32, &'static str) {
        match self {
            Self::Nothing => (0o077, "600"),
            Self::GroupReads => (0o037, "640"),
            Self::Read => (0o022, "go-w"),
        }
    }
}

/// True if what has this owner is our own user's, or root's, who may do everything anyway.
pub(crate) fn is_ours(meta: &Metadata) -> bool {
    let owner = meta.uid();
    owner == rustix::process::geteuid().as_raw() || owner == 0
}

/// Refuses a file that others may change, or read against its purpose: says why, and what to do.
pub(crate) fn check(meta: &Metadata, others: Others) -> Result<(), String> {
    if !is_ours(meta) {
        let owner = meta.uid();
        return Err(format!("it belongs to user {owner}, not to us or to root"));
    }
    // What is written into a device, as /dev/null in the place of settings, is not what it gives.
    if meta.file_type().is_char_device() {
        return Ok(());
    }
    let mode = meta.permissions().mode() & 0o777;
    let (refused, remedy) = others.refused();
    let mut wrong = mode & refused;
    // Where the umask is 002, the group of a file is its owner's alone.
    if others == Others::Read && wrong & 0o020 != 0 && is_own_group(meta.gid()) {
        wrong &= !0o020;
    }
    if wrong != 0 {
        return Err(format!(
            "others may use it (its mode is {mode:04o}): take that right away (chmod {remedy})"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};

    #[test]
    fn others_may_do_with_a_file_what_it_is_for_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "").unwrap();
        let is_own = is_own_group(fs::metadata(&path).unwrap().gid());
        for (mode, nothing, group_reads, read) in [
            (0o600, true, true, true),
            (0o400, true, true, true),
            (0o640, false, true, true),
            (0o660, false, false, is_own),
            (0o644, false, false, true),
            (0o664, false, false, is_own),
            (0o646, false, false, false),
        ] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let meta = fs::metadata(&path).unwrap();
            for (others, wanted) in [
                (Others::Nothing, nothing),
                (Others::GroupReads, group_reads),
                (Others::Read, read),
            ] {
                let checked = check(&meta, others);
                assert_eq!(checked.is_ok(), wanted, "{mode:o} {others:?}: {checked:?}");
            }
        }
    }

    #[test]
    fn files_of_other_users_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "").unwrap();
        // Only root can give a file away; anybody else has files of others at hand, of root alone.
        if std::os::unix::fs::chown(&path, Some(65_531), None).is_ok() {
            let why = check(&fs::metadata(&path).unwrap(), Others::Read).unwrap_err();
            assert!(why.contains("65531"), "{why}");
        }
        for of_root in ["/", "/dev/null"] {
            check(&fs::metadata(of_root).unwrap(), Others::Read).unwrap();
        }
    }
}
