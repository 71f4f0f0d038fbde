//! A file that is installed, and what is there already.
//!
//! One line of it says who wrote it, with a checksum of all the others: so a file that was changed since is told from
//! one of an older version. Files of settings have no such line: they belong to whoever runs the machine, and stay.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::failure::Failure;

/// What the line says that tells who wrote a file.
const WROTE: &str = " wrote this file (";
/// Lines of a difference that are told.
const TOLD_LINES: usize = 12;

/// A file that is to be there.
#[derive(Debug, Clone)]
pub(crate) struct PlannedFile {
    /// Where.
    pub(crate) path: PathBuf,
    /// What it is to hold.
    pub(crate) text: String,
    is_ours: bool,
}

/// What is there in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FileState {
    /// Nothing.
    Nothing,
    /// What is to be there.
    Same,
    /// What another version of this program wrote.
    Older,
    /// A file that is not ours, and stays.
    Theirs,
    /// Something that somebody changed or wrote themselves; the lines that differ.
    Changed(Vec<String>),
}

impl FileState {
    /// In a word, for scripts and people.
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
    /// A file of ours, in a language whose comments begin and end so.
    pub(crate) fn ours(path: PathBuf, text: &str, comment: (&str, &str)) -> Self {
        let (begin, end) = comment;
        let version = env!("CARGO_PKG_VERSION");
        let checksum = xxh3_64(text.as_bytes());
        let by = format!(
            "{begin}amemctl {version}{WROTE}{checksum:016x}), and replaces it as long as nobody has changed it.{end}\n"
        );
        Self {
            path,
            text: text.to_owned() + &by,
            is_ours: true,
        }
    }

    /// A file of whoever runs the machine, which is written only where there is none.
    pub(crate) fn theirs(path: PathBuf, text: &str) -> Self {
        Self {
            path,
            text: text.to_owned(),
            is_ours: false,
        }
    }

    /// What is there.
    pub(crate) fn found(&self) -> Result<FileState, Failure> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(FileState::Nothing),
            Err(e) => return Err(Failure::io("read", &self.path, &e)),
        };
        let there = String::from_utf8_lossy(&bytes);
        Ok(match self.is_ours {
            false => FileState::Theirs,
            true => compare(&there, &self.text),
        })
    }

    /// Writes it, whole or not at all.
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

    /// Takes it away, and its folder, if that is one of drop-ins and has nothing else in it.
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

/// What the text of a file is, where this one is to be.
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

/// A text without the line that says who wrote it, and the checksum that this line tells.
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

/// The lines that only one of two texts has, as `diff` marks them; words of comments are not worth telling.
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
    let more = out.len().saturating_sub(TOLD_LINES);
    out.truncate(TOLD_LINES);
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
        let told = ["- A=7", "+ A=2"].map(str::to_owned);
        assert_eq!(next.found().unwrap(), FileState::Changed(told.into()));
        fs::write(&path, "A=2\n[Service]\n").unwrap();
        let FileState::Changed(told) = next.found().unwrap() else {
            panic!("a file without our line is not ours");
        };
        assert_eq!(told, ["the order of its lines"]);

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
        let told = difference(&many, "");
        assert_eq!(told.len(), TOLD_LINES + 1);
        assert_eq!(told[TOLD_LINES], "… and 28 more");
    }
}
