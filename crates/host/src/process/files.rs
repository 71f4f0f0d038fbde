//! Files that another program or person named: settings of the user, and files in folders that may be foreign.
//!
//! Promises: only a regular file of an allowed owner is read, up to a bound; opening never waits, so a FIFO or a device
//! does not hold the caller; no error quotes what the file says.
//! Not here: what the bytes mean. A parser's error may quote its input: callers report a line number instead.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use super::trust::{self, OthersMay};

/// Why a file is not read. No message has content of the file.
#[derive(Debug, thiserror::Error)]
pub enum FileFault {
    /// The system refuses.
    #[error("cannot {what} {path}: {source}", path = path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// It is a symbolic link, and links are not followed in foreign folders.
    #[error("{path} is a symbolic link: replace it by the file itself", path = .0.display())]
    Link(PathBuf),
    /// It is a folder, a pipe, a socket or a device.
    #[error("{path} is not a regular file", path = .0.display())]
    NotRegular(PathBuf),
    /// Another user owns it, or may change it.
    #[error("{path}: {why}", path = path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It is larger than the bound.
    #[error("{path} has more than {max} bytes, the limit for this file", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound in bytes.
        max: u64,
    },
    /// It is not UTF-8.
    #[error("{path} is not UTF-8 text", path = .0.display())]
    NotText(PathBuf),
}

impl FileFault {
    /// What is wrong, without the path, for messages that name the file already.
    #[must_use]
    pub fn why(&self) -> String {
        match self {
            Self::Io { what, source, .. } => format!("cannot {what} it: {source}"),
            Self::Link(_) => "it is a symbolic link: replace it by the file itself".to_owned(),
            Self::NotRegular(_) => "it is not a regular file".to_owned(),
            Self::Untrusted { why, .. } => why.clone(),
            Self::TooLarge { max, .. } => {
                format!("it has more than {max} bytes, the limit for this file")
            }
            Self::NotText(_) => "it is not UTF-8".to_owned(),
        }
    }
}

/// Where a parser found a fault. Reports say this instead of the line, which may have a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

impl TextPosition {
    /// The position of a byte; an offset beyond the text is its end.
    #[must_use]
    pub fn of(text: &str, offset: usize) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let begin = before.iter().rposition(|byte| *byte == b'\n');
        let line = &before[begin.map_or(0, |at| at + 1)..];
        // Bytes that continue a character are no columns.
        let chars = line.iter().filter(|byte| **byte & 0xC0 != 0x80).count();
        Self {
            line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
            column: chars + 1,
        }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, column {}", self.line, self.column)
    }
}

/// What makes a file acceptable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// In a folder that another person may have made (a project, an archive, a clone): a link is refused, and the
    /// owner is the user of this process or root.
    Foreign,
    /// What a person named to be read, such as an import: a link is followed, and the owner may be any.
    Named,
    /// Settings of a person or of the machine: a link is followed; the file that it leads to has an allowed owner, and
    /// others may do with it what is given here and no more.
    Settings(OthersMay),
}

/// Opens a file for reading. Returns `None` if there is none.
///
/// # Errors
/// `FileFault`: the file is a link, is not regular, is untrusted, or cannot be opened.
pub fn open_file(path: &Path, kind: FileKind) -> Result<Option<(File, Metadata)>, FileFault> {
    let failed = |what, source| FileFault::Io {
        what,
        path: path.to_owned(),
        source,
    };
    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    if kind == FileKind::Foreign {
        flags |= OFlags::NOFOLLOW;
    }
    let file = match open(path, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        // Linux and macOS answer ELOOP for a link that is not to be followed; NXIO is a socket, or a device without
        // driver.
        Err(rustix::io::Errno::LOOP) if kind == FileKind::Foreign => {
            return Err(FileFault::Link(path.to_owned()));
        }
        Err(rustix::io::Errno::NXIO) => return Err(FileFault::NotRegular(path.to_owned())),
        Err(e) => return Err(failed("open", e.into())),
    };
    // Of the open file: its name could lead to another one meanwhile.
    let meta = file.metadata().map_err(|e| failed("read", e))?;
    let is_masked = matches!(kind, FileKind::Settings(_)) && is_null_device(&meta);
    if !meta.is_file() && !is_masked {
        return Err(FileFault::NotRegular(path.to_owned()));
    }
    let trusted = match kind {
        FileKind::Foreign => trust::check_owner(&meta),
        FileKind::Named => Ok(()),
        FileKind::Settings(others) => trust::check(&meta, others),
    };
    trusted.map_err(|why| FileFault::Untrusted {
        path: path.to_owned(),
        why,
    })?;
    Ok(Some((file, meta)))
}

/// True for `/dev/null`: a person masks a settings file by it, and it reads as an empty one.
fn is_null_device(meta: &Metadata) -> bool {
    let null = || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == meta.rdev());
    meta.file_type().is_char_device() && null()
}

/// The bytes of a file, at most `bytes_max`. Returns `None` if there is none.
///
/// # Errors
/// `FileFault`, as `open_file`, and a file with more bytes.
pub fn read_file(
    path: &Path,
    kind: FileKind,
    bytes_max: u64,
) -> Result<Option<Vec<u8>>, FileFault> {
    let Some((file, _)) = open_file(path, kind)? else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let read = file
        .take(bytes_max.saturating_add(1))
        .read_to_end(&mut bytes);
    read.map_err(|source| FileFault::Io {
        what: "read",
        path: path.to_owned(),
        source,
    })?;
    // The size of the metadata is not asked: files of /proc have none, and a file may grow while it is read.
    if bytes.len() as u64 > bytes_max {
        return Err(FileFault::TooLarge {
            path: path.to_owned(),
            max: bytes_max,
        });
    }
    Ok(Some(bytes))
}

/// The text of a file, at most `bytes_max` bytes. Returns `None` if there is none.
///
/// # Errors
/// `FileFault`, as `read_file`, and bytes that are not UTF-8.
pub fn read_text(path: &Path, kind: FileKind, bytes_max: u64) -> Result<Option<String>, FileFault> {
    let Some(bytes) = read_file(path, kind, bytes_max)? else {
        return Ok(None);
    };
    let text = String::from_utf8(bytes).map_err(|_| FileFault::NotText(path.to_owned()))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    const SETTINGS: FileKind = FileKind::Settings(OthersMay::Read);

    #[test]
    fn a_link_is_followed_for_settings_and_refused_in_a_foreign_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("f"), folder.path().join("l"));
        fs::write(&file, "said").unwrap();
        symlink(&file, &link).unwrap();
        for kind in [FileKind::Foreign, SETTINGS] {
            assert_eq!(read_text(&file, kind, 4).unwrap().as_deref(), Some("said"));
            assert!(
                read_text(&folder.path().join("no"), kind, 4)
                    .unwrap()
                    .is_none()
            );
            assert!(read_text(&file.join("no"), kind, 4).unwrap().is_none());
        }
        assert_eq!(
            read_text(&link, SETTINGS, 4).unwrap().as_deref(),
            Some("said")
        );
        let refused = read_text(&link, FileKind::Foreign, 4).unwrap_err();
        assert!(matches!(refused, FileFault::Link(_)), "{refused}");
    }

    #[test]
    fn pipes_devices_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let mode = Mode::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let socket = folder.path().join("socket");
        let _bound = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&pipe, &socket, Path::new("/dev/zero"), folder.path()] {
            for kind in [FileKind::Foreign, SETTINGS] {
                let refused = read_file(path, kind, 4).unwrap_err();
                assert!(matches!(refused, FileFault::NotRegular(_)), "{refused}");
            }
        }
    }

    #[test]
    fn settings_that_lead_to_the_null_device_are_empty() {
        let null = Path::new("/dev/null");
        assert_eq!(read_text(null, SETTINGS, 4).unwrap().as_deref(), Some(""));
        for kind in [FileKind::Foreign, FileKind::Named] {
            let refused = read_text(null, kind, 4).unwrap_err();
            assert!(matches!(refused, FileFault::NotRegular(_)), "{refused}");
        }
    }

    #[test]
    fn a_file_of_another_program_is_read_whatever_its_mode_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "said").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        let kind = FileKind::Settings(OthersMay::Write);
        assert_eq!(read_text(&path, kind, 4).unwrap().as_deref(), Some("said"));
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(65_531), None).is_ok() {
            let error = read_text(&path, kind, 4).unwrap_err();
            assert!(error.to_string().contains("65531"), "{error}");
        }
    }

    #[test]
    fn a_position_counts_lines_and_characters() {
        for (text, offset, line, column) in [
            ("", 0, 1, 1),
            ("ab", 1, 1, 2),
            ("a\nü = 1", 5, 2, 3),
            ("a\n", 2, 2, 1),
            ("a\n", 99, 2, 1),
            ("ü", 1, 1, 2),
        ] {
            let position = TextPosition::of(text, offset);
            assert_eq!(position, TextPosition { line, column }, "{text:?} {offset}");
        }
    }

    #[test]
    fn no_error_has_content_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, b"key=s3cret\xff").unwrap();
        for max in [5, 100] {
            let error = read_text(&path, FileKind::Foreign, max).unwrap_err();
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        read_file(&path, FileKind::Foreign, 100).unwrap();
        let error = read_file(&path, SETTINGS, 100).unwrap_err();
        assert!(matches!(error, FileFault::Untrusted { .. }), "{error}");
        // Only root can give a file away.
        if std::os::unix::fs::chown(&path, Some(65_531), None).is_ok() {
            let error = read_file(&path, FileKind::Foreign, 100).unwrap_err();
            assert!(error.to_string().contains("65531"), "{error}");
        }
    }
}
