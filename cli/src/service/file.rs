//! Installed files, and what is there already.
//!
//! One line names the program that wrote the file, with a checksum of the other lines: it distinguishes a changed file
//! from one of an older version. Files of settings have no such line: they belong to the administrator, and stay.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use amem_host::files::{FileKind, read_file};
use amem_host::trust::OthersMay;
use xxhash_rust::xxh3::xxh3_64;

use crate::failure::Failure;

/// Bytes of a unit or of settings that are compared.
const FILE_BYTES_MAX: u64 = 1 << 20;
const WROTE: &str = " wrote this file (";
/// Lines of a difference that are shown.
const LINES_MAX: usize = 12;

/// A file to install.
#[derive(Debug, Clone)]
pub(crate) struct PlannedFile {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    is_ours: bool,
}

/// What is at the path now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    Nothing,
    Same,
    /// Written by another version of this program.
    Older,
    /// A file of settings, which stays.
    Theirs,
    /// Changed or written by someone else; the lines that differ.
    Changed(Vec<String>),
}

impl FileState {
    /// For scripts and people.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Nothing => "missing",
            Self::Same => "installed",
            Self::Older => "of another version",
            Self::Theirs => "yours",
            Self::Changed(_) => "changed",
        }
    }
}

impl PlannedFile {
    /// A file of ours; `comment` begins and ends its comments.
    pub(crate) fn ours(path: PathBuf, text: &str, comment: (&str, &str)) -> Self {
        let (begin, end) = comment;
        let version = env!("CARGO_PKG_VERSION");
        let checksum = xxh3_64(text.as_bytes());
        let by = format!(
            "{begin}amemctl {version}{WROTE}{checksum:016x}), and replaces it unless it was changed.{end}\n"
        );
        Self {
            path,
            text: text.to_owned() + &by,
            is_ours: true,
        }
    }

    /// A file of the administrator; an existing one is not replaced.
    pub(crate) fn theirs(path: PathBuf, text: &str) -> Self {
        Self {
            path,
            text: text.to_owned(),
            is_ours: false,
        }
    }

    pub(crate) fn found(&self) -> Result<FileState, Failure> {
        let kind = FileKind::Settings(OthersMay::Write);
        let read = read_file(&self.path, kind, FILE_BYTES_MAX);
        let Some(bytes) = read.map_err(|fault| Failure::file(&fault))? else {
            return Ok(FileState::Nothing);
        };
        let there = String::from_utf8_lossy(&bytes);
        Ok(if self.is_ours {
            compare(&there, &self.text)
        } else {
            FileState::Theirs
        })
    }

    /// Writes it, completely or not at all.
    pub(crate) fn write(&self) -> Result<(), Failure> {
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(|e| Failure::io("make", folder, &e))?;
        let failed = |e: io::Error| Failure::io("write", &self.path, &e);
        let mut file = tempfile::Builder::new()
            .prefix(".amemctl")
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder)
            .map_err(failed)?;
        file.write_all(self.text.as_bytes()).map_err(failed)?;
        file.as_file().sync_all().map_err(failed)?;
        file.persist(&self.path).map_err(|e| failed(e.error))?;
        sync(folder)
    }

    /// Removes it, and its folder of drop-ins if that is empty.
    pub(crate) fn remove(&self) -> Result<(), Failure> {
        fs::remove_file(&self.path).map_err(|e| Failure::io("remove", &self.path, &e))?;
        let folder = self.path.parent().unwrap_or(Path::new("/"));
        if folder.extension().is_some_and(|end| end == "d") && fs::remove_dir(folder).is_ok() {
            return Ok(());
        }
        sync(folder)
    }
}

fn sync(folder: &Path) -> Result<(), Failure> {
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|e| Failure::io("sync the folder", folder, &e))
}

fn compare(there: &str, wanted: &str) -> FileState {
    if there == wanted {
        return FileState::Same;
    }
    let (body, checksum) = split(there);
    let (wanted_body, _) = split(wanted);
    if checksum == Some(xxh3_64(body.as_bytes())) {
        return FileState::Older;
    }
    FileState::Changed(difference(&body, &wanted_body))
}

/// The text without the line that names its writer, and the checksum in that line.
fn split(text: &str) -> (String, Option<u64>) {
    let mut checksum = None;
    let mut body = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.split_once(WROTE) {
            Some((_, rest)) => {
                checksum = u64::from_str_radix(rest.get(..16).unwrap_or(""), 16).ok()
            }
            None => body.push_str(line),
        }
    }
    (body, checksum)
}

/// Lines that only one of the texts has, marked as by `diff`.
fn difference(there: &str, wanted: &str) -> Vec<String> {
    let only = |of: &str, other: &str, mark: &str| -> Vec<String> {
        let lines = of.lines().filter(|line| !other.lines().any(|o| o == *line));
        lines.map(|line| format!("{mark} {line}")).collect()
    };
    let mut out = only(there, wanted, "-");
    out.extend(only(wanted, there, "+"));
    if out.is_empty() {
        out.push("the order of its lines".to_owned());
    }
    let more = out.len().saturating_sub(LINES_MAX);
    out.truncate(LINES_MAX);
    if more > 0 {
        out.push(format!("… and {more} more"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: (&str, &str) = ("# ", "");

    #[test]
    fn what_is_there_is_known_for_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("units/a.service");
        let planned = |text: &str| PlannedFile::ours(path.clone(), text, HASH);
        let first = planned("[Service]\nA=1\n");
        assert_eq!(first.found().unwrap(), FileState::Nothing);
        first.write().unwrap();
        assert_eq!(first.found().unwrap(), FileState::Same);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644);

        let next = planned("[Service]\nA=2\n");
        assert_eq!(next.found().unwrap(), FileState::Older);
        let edited = first.text.replace("A=1", "A=7");
        fs::write(&path, edited).unwrap();
        let lines = ["- A=7", "+ A=2"].map(str::to_owned);
        assert_eq!(next.found().unwrap(), FileState::Changed(lines.into()));
        fs::write(&path, "A=2\n[Service]\n").unwrap();
        let FileState::Changed(lines) = next.found().unwrap() else {
            panic!("a file without our line is not ours");
        };
        assert_eq!(lines, ["the order of its lines"]);

        next.write().unwrap();
        assert_eq!(next.found().unwrap(), FileState::Same);
        next.remove().unwrap();
        assert!(path.parent().unwrap().exists() && !path.exists());
        let theirs = PlannedFile::theirs(path.clone(), "mine = 1\n");
        theirs.write().unwrap();
        assert_eq!(theirs.found().unwrap(), FileState::Theirs);
    }

    #[test]
    fn a_folder_of_drop_ins_goes_with_its_last_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join("a.service.d").join(name);
        let [one, other] = ["1.conf", "2.conf"].map(|n| PlannedFile::ours(path(n), "x\n", HASH));
        one.write().unwrap();
        other.write().unwrap();
        one.remove().unwrap();
        assert!(path("2.conf").exists());
        other.remove().unwrap();
        assert!(!path("").exists());
    }

    #[test]
    fn long_differences_are_cut_and_say_so() {
        let many: String = (0..40).map(|i| format!("line {i}\n")).collect();
        let lines = difference(&many, "");
        assert_eq!(lines.len(), LINES_MAX + 1);
        assert_eq!(lines[LINES_MAX], "… and 28 more");
    }
}
