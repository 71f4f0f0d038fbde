//! SQLite databases of other programs, opened so that nothing of theirs changes.
//!
//! A database at rest is opened as immutable: SQLite then takes no lock and creates no file beside it. A database with
//! a journal or a write-ahead log belongs to a program that runs: it is opened read only, as one more reader.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use crate::error::SourceError;
use crate::limits;

/// An open database, and what the caller should be told of how it was opened.
pub(crate) fn open_database(path: &Path) -> Result<(Connection, Option<String>), SourceError> {
    let failed = |why: String| SourceError::BadDatabase {
        path: path.to_owned(),
        why,
    };
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let bytes = |path: PathBuf| fs::metadata(path).map(|meta| meta.len()).unwrap_or(0);
    let (log, index, journal) = (
        bytes(beside("-wal")),
        bytes(beside("-shm")),
        bytes(beside("-journal")),
    );
    let mut note = None;
    let mode = if log > 0 && index > 0 || journal > 0 {
        "mode=ro"
    } else {
        if log > 0 {
            note = Some(format!(
                "{} is left over from a program that ended abruptly: its newest changes are not read; open the database with its program once",
                beside("-wal").display()
            ));
        }
        "mode=ro&immutable=1"
    };
    let Some(name) = path.to_str() else {
        return Err(failed("its path is not UTF-8".to_owned()));
    };
    let mut uri = String::from("file:");
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(format!("{uri}?{mode}"), flags)
        .map_err(|e| failed(format!("cannot be opened: {e}")))?;
    connection
        .busy_timeout(Duration::from_millis(limits::SQLITE_WAIT_MS))
        .map_err(|e| failed(e.to_string()))?;
    // Reads the header, so that a file that is no database fails here.
    let tables = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0));
    let _tables: i64 = tables.map_err(|e| failed(in_words(&e)))?;
    Ok((connection, note))
}

fn in_words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) => {
            "another program holds the database; close it and retry".to_owned()
        }
        Some(rusqlite::ErrorCode::NotADatabase) => "the file is no SQLite database".to_owned(),
        _ => error.to_string(),
    }
}
