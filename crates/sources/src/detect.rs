//! What a path is: each file by its name and its first bytes.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::SkippedEntry;
use crate::kind::SourceKind;
use crate::recognition::{FileGuess, recognize};

/// One kind of source in a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedSource {
    /// The kind.
    pub kind: SourceKind,
    /// How many files are of it.
    pub files: u64,
    /// Their bytes, unpacked.
    pub bytes: u64,
    /// Why the first of them is of the kind, in words.
    pub reason: String,
    /// The first of them.
    pub example: String,
}

/// What a path is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detection {
    /// The kinds in it, the one with most files first; empty if there is nothing to import.
    pub sources: Vec<DetectedSource>,
    /// What it looks like, in words: "a ZIP with 3 files", "a picture".
    pub looks_like: String,
    /// Files that are not of any kind.
    pub other_files: u64,
    /// What cannot or must not be read.
    pub skipped: Vec<SkippedEntry>,
}

/// Finds out what a file, a folder, a ZIP or a client's home is. Reads the first bytes of each file at most.
///
/// # Errors
///
/// If the path cannot be read, is a damaged ZIP, or has too many files.
pub fn detect(path: &Path) -> Result<Detection, SourceError> {
    let tree = FileTree::open(path)?;
    Ok(sorted(&tree).detection(&tree))
}

/// The files of a tree by kind.
pub(crate) struct SortedFiles<'t> {
    pub(crate) kinds: BTreeMap<SourceKind, Vec<&'t TreeFile>>,
    reasons: BTreeMap<SourceKind, String>,
    /// Files of no kind: how many, and what the first looks like.
    others: u64,
    first_other: Option<String>,
    unread: Vec<SkippedEntry>,
}

pub(crate) fn sorted(tree: &FileTree) -> SortedFiles<'_> {
    let mut out = SortedFiles {
        kinds: BTreeMap::new(),
        reasons: BTreeMap::new(),
        others: 0,
        first_other: None,
        unread: Vec::new(),
    };
    let notes = notes_kind(tree);
    for file in &tree.files {
        match recognize(tree, file) {
            Ok(FileGuess::Kind(kind, reason)) => {
                let kind = if kind == SourceKind::Markdown {
                    notes
                } else {
                    kind
                };
                out.kinds.entry(kind).or_default().push(file);
                out.reasons.entry(kind).or_insert(reason);
            }
            Ok(FileGuess::Other(looks_like)) => {
                out.others += 1;
                out.first_other.get_or_insert(looks_like);
            }
            Err(error) => out.unread.push(SkippedEntry {
                place: tree.place(file, 0),
                reason: crate::item::SkipReason::Unreadable,
                detail: error.to_string(),
            }),
        }
    }
    out
}

/// Notes have one kind in a tree.
fn notes_kind(tree: &FileTree) -> SourceKind {
    if tree.has_obsidian() {
        return SourceKind::Obsidian;
    }
    let notes = tree.files.iter().filter(|file| file.ending() == "md");
    // A few notes show it: each one of Basic Memory has a permalink.
    let has_permalink = notes.take(20).any(|file| {
        let head = tree.head(file).unwrap_or_default();
        head.starts_with(b"---") && String::from_utf8_lossy(&head).contains("\npermalink:")
    });
    if has_permalink {
        SourceKind::BasicMemory
    } else {
        SourceKind::Markdown
    }
}

impl SortedFiles<'_> {
    pub(crate) fn detection(&self, tree: &FileTree) -> Detection {
        let mut sources: Vec<_> = self
            .kinds
            .iter()
            .map(|(kind, files)| DetectedSource {
                kind: *kind,
                files: files.len() as u64,
                bytes: files.iter().map(|file| file.bytes).sum(),
                reason: self.reasons.get(kind).cloned().unwrap_or_default(),
                example: files
                    .first()
                    .map(|file| tree.shown(file))
                    .unwrap_or_default(),
            })
            .collect();
        sources.sort_by_key(|source| std::cmp::Reverse(source.files));
        let mut skipped = tree.skipped.clone();
        skipped.extend(self.unread.iter().cloned());
        Detection {
            looks_like: self.looks_like(tree),
            sources,
            other_files: self.others,
            skipped,
        }
    }

    pub(crate) fn looks_like(&self, tree: &FileTree) -> String {
        let kinds: Vec<_> = self
            .kinds
            .iter()
            .map(|(kind, files)| format!("{kind} ({})", files.len()))
            .collect();
        let is_alone = !tree.is_folder() && !tree.is_zip();
        let what = match (&kinds[..], &self.first_other) {
            ([], Some(other)) if is_alone => return other.clone(),
            ([], Some(other)) => format!("whose first file is {other}"),
            ([], None) => "with nothing to read".to_owned(),
            (kinds, _) if is_alone => return kinds.join(", "),
            (kinds, _) => format!("with {}", kinds.join(", ")),
        };
        let container = if tree.is_zip() { "a ZIP" } else { "a folder" };
        format!("{container} of {} files {what}", tree.files.len())
    }

    pub(crate) fn unread(&self) -> &[SkippedEntry] {
        &self.unread
    }
}
