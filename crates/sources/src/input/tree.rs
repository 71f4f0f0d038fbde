//! The files of a folder, a ZIP, or a path that is one file.
//!
//! Symbolic links are not followed, and paths that leave the folder are refused.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::regular_file::{PositionedFile, open_named};
use super::zip::ZipFile;
use crate::error::SourceError;
use crate::item::{ItemPlace, SkipReason, SkippedEntry};
use crate::limits;

/// Folders that hold no memories: caches, versions, settings of editors.
const LEFT_OUT: [&str; 7] = [
    ".git",
    ".obsidian",
    ".trash",
    ".stfolder",
    "node_modules",
    "__pycache__",
    "__MACOSX",
];

/// One file.
#[derive(Debug, Clone)]
pub(crate) struct TreeFile {
    /// Below the root, with `/` between parts; the file's name if the root is the file.
    pub(crate) path: String,
    /// Unpacked.
    pub(crate) bytes: u64,
    slot: usize,
}

impl TreeFile {
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Lower case, without the dot; empty if there is none.
    pub(crate) fn ending(&self) -> String {
        let ending = self.name().rsplit_once('.').map(|(_, ending)| ending);
        ending.unwrap_or_default().to_ascii_lowercase()
    }
}

#[derive(Debug)]
enum Root {
    Folder,
    File,
    /// A file that the caller opened: its path may lead to another one by now.
    Opened(Arc<File>),
    Zip(ZipFile),
}

/// A path, with its files sorted.
#[derive(Debug)]
pub(crate) struct FileTree {
    path: PathBuf,
    root: Root,
    /// Sorted by path.
    pub(crate) files: Vec<TreeFile>,
    /// What is no file to read.
    pub(crate) skipped: Vec<SkippedEntry>,
    has_obsidian: bool,
}

impl FileTree {
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let failed = |e| SourceError::io(path, e);
        let meta = fs::metadata(path).map_err(failed)?;
        let path = fs::canonicalize(path).map_err(failed)?;
        let mut tree = Self {
            path,
            root: Root::Folder,
            files: Vec::new(),
            skipped: Vec::new(),
            has_obsidian: false,
        };
        if meta.is_dir() {
            let root = tree.path.clone();
            tree.walk(&root, "", 0)?;
            tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        } else if !meta.is_file() {
            let why = "neither a file nor a folder";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, why)));
        } else if is_zip(&tree.path).map_err(failed)? {
            tree.list_zip()?;
        } else {
            tree.root = Root::File;
            let name = tree.path.file_name().unwrap_or(tree.path.as_os_str());
            tree.files.push(TreeFile {
                path: name.to_string_lossy().into_owned(),
                bytes: meta.len(),
                slot: 0,
            });
        }
        Ok(tree)
    }

    /// The file that a caller opened; its path names it.
    pub(crate) fn of_opened(file: File, path: &Path) -> Result<Self, SourceError> {
        let failed = |e| SourceError::io(path, e);
        let bytes = file.metadata().map_err(failed)?.len();
        let path = fs::canonicalize(path).map_err(failed)?;
        let name = path.file_name().unwrap_or(path.as_os_str());
        let name = name.to_string_lossy().into_owned();
        Ok(Self {
            path,
            root: Root::Opened(Arc::new(file)),
            files: vec![TreeFile {
                path: name,
                bytes,
                slot: 0,
            }],
            skipped: Vec::new(),
            has_obsidian: false,
        })
    }

    /// Canonical.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_folder(&self) -> bool {
        matches!(self.root, Root::Folder)
    }

    pub(crate) fn is_zip(&self) -> bool {
        matches!(self.root, Root::Zip(_))
    }

    /// True if a folder has `.obsidian`.
    pub(crate) fn has_obsidian(&self) -> bool {
        self.has_obsidian
    }

    /// The file's path on the disk; none within a ZIP, and of a file that the caller opened.
    pub(crate) fn disk_path(&self, file: &TreeFile) -> Option<PathBuf> {
        match self.root {
            Root::Folder => Some(self.path.join(&file.path)),
            Root::File => Some(self.path.clone()),
            Root::Opened(_) | Root::Zip(_) => None,
        }
    }

    /// The file for people: its path, behind `!` within a ZIP.
    pub(crate) fn shown(&self, file: &TreeFile) -> String {
        match &self.root {
            Root::Folder => self.path.join(&file.path).display().to_string(),
            Root::File | Root::Opened(_) => self.path.display().to_string(),
            Root::Zip(_) => format!("{}!{}", self.path.display(), file.path),
        }
    }

    pub(crate) fn place(&self, file: &TreeFile, line: u64) -> ItemPlace {
        ItemPlace {
            file: self.shown(file),
            line,
        }
    }

    /// The file's bytes, from the beginning.
    pub(crate) fn read(&self, file: &TreeFile) -> io::Result<Box<dyn Read>> {
        match &self.root {
            Root::Zip(zip) => match zip.entries.get(file.slot) {
                Some(entry) => zip.read(entry),
                None => Err(io::ErrorKind::NotFound.into()),
            },
            Root::Folder => Ok(Box::new(open_named(&self.path.join(&file.path))?)),
            Root::File => Ok(Box::new(open_named(&self.path)?)),
            Root::Opened(file) => Ok(Box::new(PositionedFile::new(Arc::clone(file)))),
        }
    }

    /// The first bytes of a file.
    pub(crate) fn head(&self, file: &TreeFile) -> io::Result<Vec<u8>> {
        let mut head = Vec::new();
        let stream = self.read(file)?;
        let mut stream = stream.take(limits::HEAD_BYTES_MAX as u64);
        stream.read_to_end(&mut head)?;
        Ok(head)
    }

    fn refuse(&mut self, file: &str, reason: SkipReason, detail: impl Into<String>) {
        let file = if self.is_zip() {
            format!("{}!{file}", self.path.display())
        } else {
            self.path.join(file).display().to_string()
        };
        self.skipped.push(SkippedEntry {
            place: ItemPlace { file, line: 0 },
            reason,
            detail: detail.into(),
        });
    }

    fn walk(&mut self, folder: &Path, below: &str, depth: usize) -> Result<(), SourceError> {
        let list = match fs::read_dir(folder) {
            Ok(list) => list,
            Err(error) if depth == 0 => return Err(SourceError::io(folder, error)),
            Err(error) => {
                self.refuse(below, SkipReason::Unreadable, error.to_string());
                return Ok(());
            }
        };
        for entry in list {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.refuse(below, SkipReason::Unreadable, error.to_string());
                    continue;
                }
            };
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            let path = match below {
                "" => shown.clone().into_owned(),
                below => format!("{below}/{shown}"),
            };
            let Some(name) = name.to_str() else {
                self.refuse(&path, SkipReason::BadEncoding, "its name is not UTF-8");
                continue;
            };
            let meta = match entry.metadata() {
                Ok(meta) => meta,
                Err(error) => {
                    self.refuse(&path, SkipReason::Unreadable, error.to_string());
                    continue;
                }
            };
            if meta.is_symlink() {
                self.refuse(
                    &path,
                    SkipReason::Refused,
                    "a symbolic link is not followed",
                );
            } else if meta.is_dir() {
                self.has_obsidian |= name == ".obsidian";
                if LEFT_OUT.contains(&name) {
                    continue;
                }
                if depth == limits::DEPTH_MAX {
                    let why = format!("more than {} folders below each other", limits::DEPTH_MAX);
                    self.refuse(&path, SkipReason::TooLarge, why);
                    continue;
                }
                self.walk(&entry.path(), &path, depth + 1)?;
            } else if meta.is_file() {
                self.push(TreeFile {
                    path,
                    bytes: meta.len(),
                    slot: 0,
                })?;
            }
        }
        Ok(())
    }

    fn push(&mut self, file: TreeFile) -> Result<(), SourceError> {
        if self.files.len() == limits::FILES_MAX {
            return Err(SourceError::TooManyFiles {
                path: self.path.clone(),
                max: limits::FILES_MAX,
            });
        }
        self.files.push(file);
        Ok(())
    }

    fn list_zip(&mut self) -> Result<(), SourceError> {
        let zip = ZipFile::open(&self.path).map_err(|why| SourceError::BadZip {
            path: self.path.clone(),
            why,
        })?;
        let names: Vec<_> = zip
            .entries
            .iter()
            .map(|e| (e.name.clone(), e.bytes))
            .collect();
        self.root = Root::Zip(zip);
        for (slot, (name, bytes)) in names.into_iter().enumerate() {
            let name = name.replace('\\', "/");
            let parts: Vec<_> = name.split('/').collect();
            self.has_obsidian |= parts.contains(&".obsidian");
            if name.ends_with('/') || parts.iter().any(|part| LEFT_OUT.contains(part)) {
                continue;
            }
            if name.starts_with('/') || parts.contains(&"..") {
                self.refuse(&name, SkipReason::Refused, "its path leaves the ZIP");
                continue;
            }
            if name.to_ascii_lowercase().ends_with(".zip") {
                self.refuse(
                    &name,
                    SkipReason::Refused,
                    "a ZIP within the ZIP is not read",
                );
                continue;
            }
            self.push(TreeFile {
                path: name,
                bytes,
                slot,
            })?;
        }
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(())
    }
}

fn is_zip(path: &Path) -> io::Result<bool> {
    let mut magic = Vec::new();
    open_named(path)?.take(4).read_to_end(&mut magic)?;
    Ok(magic == b"PK\x03\x04" || magic == b"PK\x05\x06")
}
