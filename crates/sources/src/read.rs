//! Reads a path into a sink.

use std::fs::File;
use std::path::Path;

use crate::detect::sorted;
use crate::error::SourceError;
use crate::input::FileTree;
use crate::item::SourceSink;
use crate::kind::SourceKind;
use crate::options::{ReadCounts, ReadOptions};
use crate::output::ItemOutput;
use crate::readers::read_files;

/// Reads everything in a file, a folder or a ZIP that is of a known kind, or of the kind `only`.
///
/// Items come in the order of the files' paths. The source is only read. Reading the same bytes again yields the same
/// items with the same ids and hashes.
///
/// # Errors
///
/// If the path cannot be read at all, has nothing of the kind, or the sink stops. Bad entries are no errors: the sink
/// gets them as skipped.
pub fn read(
    path: &Path,
    only: Option<SourceKind>,
    options: &ReadOptions,
    sink: &mut dyn SourceSink,
) -> Result<ReadCounts, SourceError> {
    read_tree(&FileTree::open(path)?, path, only, options, sink)
}

/// The same of a file that the caller opened, and may have checked: what its path leads to by now is not read.
///
/// # Errors
///
/// As `read`.
pub fn read_opened(
    (file, path): (File, &Path),
    kind: SourceKind,
    options: &ReadOptions,
    sink: &mut dyn SourceSink,
) -> Result<ReadCounts, SourceError> {
    let tree = FileTree::of_opened(file, path)?;
    read_tree(&tree, path, Some(kind), options, sink)
}

fn read_tree(
    tree: &FileTree,
    path: &Path,
    only: Option<SourceKind>,
    options: &ReadOptions,
    sink: &mut dyn SourceSink,
) -> Result<ReadCounts, SourceError> {
    let found = sorted(tree);
    let is_meant = |kind: SourceKind| only.is_none_or(|only| only.covers(kind));
    if !found.kinds.keys().any(|kind| is_meant(*kind)) {
        let (path, looks_like) = (path.to_owned(), found.looks_like(tree));
        return Err(match only {
            None => SourceError::UnknownKind { path, looks_like },
            Some(wanted) => SourceError::OtherKind {
                path,
                wanted,
                looks_like,
            },
        });
    }
    let mut out = ItemOutput::new(sink, options);
    for entry in tree.skipped.iter().chain(found.unread()) {
        out.pass_on(entry.clone())?;
    }
    for (kind, files) in &found.kinds {
        if is_meant(*kind) {
            read_files(*kind, tree, files, &mut out)?;
        }
    }
    Ok(out.counts)
}
