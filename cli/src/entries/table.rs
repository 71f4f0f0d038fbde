//! CSV and SQLite that `amemctl export` wrote, as the JSON lines that they are made of.

use std::io::{self, BufWriter, Read, Write};
use std::path::Path;

use amem_sources::SourceError;
use amem_sources::export::{is_csv_export, is_sqlite_export, read_csv, read_sqlite};
use serde_json::{Map, Value};

use super::input::ImportInput;
use crate::failure::Failure;
use crate::json::escape;
use crate::named_file;

/// Bytes of a header.
const HEAD_BYTES_MAX: u64 = 4 << 10;
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

enum RowFailure {
    Io(io::Error),
    Failure(Failure),
}

impl From<io::Error> for RowFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<SourceError> for RowFailure {
    fn from(error: SourceError) -> Self {
        let remedy = "export the brain again";
        Self::Failure(Failure::refused("bad_database", error.to_string(), remedy))
    }
}

/// The lines of a table, in a temporary file under the table's name; `None` for any other file.
pub(crate) fn lines_of_table(path: &Path) -> Result<Option<ImportInput>, Failure> {
    let failed = |e: io::Error| Failure::io("read", path, &e);
    if !path.is_file() {
        return Ok(None);
    }
    let mut head = Vec::new();
    let file = named_file::open(path)?;
    file.take(HEAD_BYTES_MAX)
        .read_to_end(&mut head)
        .map_err(failed)?;
    let is_csv = is_csv_export(&head);
    let is_database = head.starts_with(SQLITE_MAGIC) && is_sqlite_export(path);
    if !is_csv && !is_database {
        return Ok(None);
    }
    let file = tempfile::tempfile()
        .map_err(|e| Failure::io("make a file in", &std::env::temp_dir(), &e))?;
    let mut out = BufWriter::new(file);
    let mut take = |at: u64, row: Result<Map<String, Value>, String>| -> Result<(), RowFailure> {
        let line = row.map_err(|why| {
            let what = if is_csv { "line" } else { "row" };
            let message = format!("{what} {at} of {}: {why}", path.display());
            RowFailure::Failure(Failure::refused(
                "bad_line",
                message,
                "export the brain again; nothing was written",
            ))
        })?;
        out.write_all(escape::to_line(&line)?.as_bytes())?;
        Ok(())
    };
    let read = match is_csv {
        true => named_file::open(path)
            .map_err(RowFailure::Failure)
            .and_then(|file| read_csv(file, &mut take)),
        false => read_sqlite(path, &mut take),
    };
    read.map_err(|e| match e {
        RowFailure::Io(error) => failed(error),
        RowFailure::Failure(failure) => failure,
    })?;
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    Ok(Some(ImportInput::kept(path, file)))
}
