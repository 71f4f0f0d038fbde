//! Files that decide which callers have access: configuration, tokens, certificates, keys.
//!
//! Promises: such a file belongs to the user of the process or to root; others can never write it, and read it only
//! where its purpose allows that.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};

use super::users::is_own_group;

/// What other users may do with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OthersMay {
    /// Nothing: tokens.
    Nothing,
    /// Its group may read it: TLS keys, which services share by a group.
    GroupReads,
    /// All may read it: configuration, certificates.
    Read,
    /// All that its mode says: settings of other programs, whose mode is their choice. The owner is checked.
    Write,
}

impl OthersMay {
    /// The mode bits that must not be set, and the argument of chmod that clears them.
    fn refused(self) -> (u32, &'static str) {
        match self {
            Self::Nothing => (0o077, "600"),
            Self::GroupReads => (0o037, "640"),
            Self::Read => (0o022, "go-w"),
            Self::Write => (0, ""),
        }
    }
}

/// True if the user of this process or root owns it.
pub fn is_ours(meta: &Metadata) -> bool {
    let owner = meta.uid();
    owner == rustix::process::geteuid().as_raw() || owner == 0
}

/// Refuses a file of another user; the error says which.
///
/// # Errors
/// The owner.
pub fn check_owner(meta: &Metadata) -> Result<(), String> {
    if is_ours(meta) {
        return Ok(());
    }
    let owner = meta.uid();
    Err(format!(
        "it belongs to user {owner}, not to the user of this process or root"
    ))
}

/// Refuses a file that others may write, or read against its purpose; the error says what to do.
///
/// # Errors
/// The owner, or the mode and the `chmod` that mends it.
pub fn check(meta: &Metadata, others: OthersMay) -> Result<(), String> {
    check_owner(meta)?;
    // Writing to a device such as /dev/null does not change what is read from it.
    if meta.file_type().is_char_device() {
        return Ok(());
    }
    let mode = meta.permissions().mode() & 0o777;
    let (refused, remedy) = others.refused();
    let mut wrong = mode & refused;
    // Under umask 002 files are group-writable, and the group has only the owner.
    if others == OthersMay::Read && wrong & 0o020 != 0 && is_own_group(meta.gid()) {
        wrong &= !0o020;
    }
    if wrong != 0 {
        return Err(format!(
            "other users have access to it (its mode is {mode:04o}): remove that permission (chmod {remedy})"
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
                (OthersMay::Nothing, nothing),
                (OthersMay::GroupReads, group_reads),
                (OthersMay::Read, read),
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
            let why = check(&fs::metadata(&path).unwrap(), OthersMay::Read).unwrap_err();
            assert!(why.contains("65531"), "{why}");
        }
        for of_root in ["/", "/dev/null"] {
            check(&fs::metadata(of_root).unwrap(), OthersMay::Read).unwrap();
        }
    }
}
