//! Files of JSON whose records are taken one at a time: lines, or the elements of a large file.

use std::io;

use serde_json::Value;

use crate::error::SourceError;
use crate::input::{FileTree, JsonElements, JsonLine, JsonLines, TreeFile};
use crate::item::ItemPlace;
use crate::output::ItemOutput;

/// A record of a file.
pub(super) struct JsonRecord<'v> {
    /// The key of the outer object whose list or value it is.
    pub(super) key: Option<&'v str>,
    pub(super) value: Value,
    pub(super) place: ItemPlace,
}

/// Why a file was not read to its end.
pub(super) enum RecordFailure {
    Io(io::Error),
    Source(SourceError),
}

impl From<io::Error> for RecordFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SourceError> for RecordFailure {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

/// The end of a file: one that failed is reported, and the next one is read.
pub(super) fn finish_file(
    result: Result<(), RecordFailure>,
    tree: &FileTree,
    file: &TreeFile,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    match result {
        Ok(()) => {
            out.counts.files += 1;
            Ok(())
        }
        Err(RecordFailure::Io(error)) => out.skip_file(tree.place(file, 0), &error),
        Err(RecordFailure::Source(error)) => Err(error),
    }
}

/// Calls with each value of JSON lines; what is none is reported.
pub(super) fn each_line(
    tree: &FileTree,
    file: &TreeFile,
    out: &mut ItemOutput<'_>,
    mut call: impl FnMut(Value, ItemPlace, &mut ItemOutput<'_>) -> Result<(), SourceError>,
) -> Result<(), RecordFailure> {
    let mut lines = JsonLines::new(tree.read(file)?);
    while let Some(line) = lines.next()? {
        let place = tree.place(file, lines.number());
        match line {
            JsonLine::Value(value) => call(value, place, out)?,
            JsonLine::Bad(reason, why) => out.skip(place, reason, why)?,
        }
    }
    Ok(())
}

/// Calls with each element of a large file; what is none is reported.
pub(super) fn each_element(
    tree: &FileTree,
    file: &TreeFile,
    out: &mut ItemOutput<'_>,
    mut call: impl FnMut(JsonRecord<'_>, &mut ItemOutput<'_>) -> Result<(), SourceError>,
) -> Result<(), RecordFailure> {
    let mut elements = JsonElements::new(tree.read(file)?);
    while let Some(element) = elements.next()? {
        let place = tree.place(file, element.number);
        match element.value {
            Ok(value) => {
                let record = JsonRecord {
                    key: element.key.as_deref(),
                    value,
                    place,
                };
                call(record, out)?;
            }
            Err(error) => {
                let (reason, why) = error.reason();
                out.skip(place, reason, why)?;
            }
        }
    }
    Ok(())
}
