//! SQLite: a table `events`, and a table `edges` of their outgoing edges.

use std::path::{Path, PathBuf};

use rusqlite::types::Value as Cell;
use rusqlite::{Connection, params};
use serde_json::{Map, Number, Value};

use super::columns::{COLUMNS, CellForm};
use crate::error::SourceError;
use crate::input::open_database;

/// Of the header of the file: "amem" as four bytes.
const APPLICATION_ID: i64 = 0x616d_656d;
const TABLES: &str = "
    CREATE TABLE events (
        id INTEGER PRIMARY KEY, type TEXT, created_at, event_time, session INTEGER, session_key TEXT, agent TEXT,
        confidence REAL, decay_score REAL, lambda REAL, access_count INTEGER, last_accessed, flags TEXT, text TEXT,
        by TEXT, by_agent TEXT, reason TEXT, attributes TEXT, origin TEXT, space TEXT, vector TEXT);
    CREATE TABLE edges (source INTEGER, target INTEGER, type TEXT, weight REAL, created_at);
    CREATE INDEX edges_of_source ON edges (source);
    CREATE INDEX edges_of_target ON edges (target);
";

/// Writes events into a new database.
pub struct SqliteWriter {
    connection: Connection,
    path: PathBuf,
}

impl SqliteWriter {
    /// Makes the tables in a file that is absent or empty.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or has tables.
    pub fn create(path: &Path) -> Result<Self, SourceError> {
        let failed = |e: rusqlite::Error| SourceError::BadDatabase {
            path: path.to_owned(),
            why: e.to_string(),
        };
        let connection = Connection::open(path).map_err(failed)?;
        // The file counts once it is whole: its writer gives it its name then.
        let begin = format!(
            "PRAGMA application_id = {APPLICATION_ID}; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {TABLES}"
        );
        connection.execute_batch(&begin).map_err(failed)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Writes an event and its edges.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, or has the event.
    pub fn row(&mut self, line: &Map<String, Value>) -> Result<(), SourceError> {
        self.insert(line).map_err(|e| SourceError::BadDatabase {
            path: self.path.clone(),
            why: e.to_string(),
        })
    }

    fn insert(&mut self, line: &Map<String, Value>) -> rusqlite::Result<()> {
        let names = columns();
        let marks = vec!["?"; names.len()].join(",");
        let sql = format!("INSERT INTO events ({}) VALUES ({marks})", names.join(","));
        let cells = names.iter().map(|name| cell(line.get(*name)));
        let mut statement = self.connection.prepare(&sql)?;
        statement.execute(rusqlite::params_from_iter(cells))?;
        let mut edge = self
            .connection
            .prepare("INSERT INTO edges VALUES (?1, ?2, ?3, ?4, ?5)")?;
        let edges = line.get("edges").and_then(Value::as_array);
        for tie in edges.into_iter().flatten() {
            let of = |name: &str| cell(tie.get(name));
            edge.execute(params![
                cell(line.get("id")),
                of("target"),
                of("type"),
                of("weight"),
                of("created_at")
            ])?;
        }
        Ok(())
    }

    /// Ends the writing: the file is whole.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(self) -> Result<(), SourceError> {
        let failed = |e: rusqlite::Error| SourceError::BadDatabase {
            path: self.path.clone(),
            why: e.to_string(),
        };
        self.connection.execute_batch("COMMIT").map_err(failed)?;
        self.connection.close().map_err(|(_, e)| failed(e))
    }
}

fn columns() -> Vec<&'static str> {
    let names = COLUMNS.iter().map(|(name, _)| *name);
    names.chain(["vector"]).collect()
}

fn cell(value: Option<&Value>) -> Cell {
    match value {
        None | Some(Value::Null) => Cell::Null,
        Some(Value::String(text)) => Cell::Text(text.clone()),
        Some(Value::Number(number)) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Cell::Integer(whole),
            (None, Some(real)) => Cell::Real(real),
            (None, None) => Cell::Text(number.to_string()),
        },
        Some(other) => Cell::Text(other.to_string()),
    }
}

/// True if the file is a database that [`SqliteWriter`] wrote.
#[must_use]
pub fn is_sqlite_export(path: &Path) -> bool {
    let Ok((connection, _)) = open_database(path) else {
        return false;
    };
    let id = connection.query_row("PRAGMA application_id", [], |row| row.get::<_, i64>(0));
    id == Ok(APPLICATION_ID)
}

/// Calls with each event as a JSON line, and its row from 1. An invalid row is passed as the reason in words.
///
/// # Errors
///
/// If the database cannot be read, or `each` fails.
pub fn read_sqlite<E: From<SourceError>>(
    path: &Path,
    mut each: impl FnMut(u64, Result<Map<String, Value>, String>) -> Result<(), E>,
) -> Result<(), E> {
    let failed = |e: rusqlite::Error| SourceError::BadDatabase {
        path: path.to_owned(),
        why: e.to_string(),
    };
    let (connection, _) = open_database(path)?;
    let names = columns();
    let sql = format!("SELECT {} FROM events ORDER BY id", names.join(","));
    let mut events = connection.prepare(&sql).map_err(failed)?;
    let mut edges = connection
        .prepare(
            "SELECT target, type, weight, created_at FROM edges WHERE source = ?1 ORDER BY rowid",
        )
        .map_err(failed)?;
    let mut rows = events.query([]).map_err(failed)?;
    let mut number = 0;
    while let Some(row) = rows.next().map_err(failed)? {
        number += 1;
        let line = event(row, &names).and_then(|mut line| {
            let ties = ties(&mut edges, &line)?;
            line.insert("edges".to_owned(), ties.into());
            Ok(line)
        });
        each(number, line)?;
    }
    Ok(())
}

fn event(row: &rusqlite::Row<'_>, names: &[&str]) -> Result<Map<String, Value>, String> {
    let mut line = Map::new();
    for (at, name) in names.iter().enumerate() {
        let cell: Cell = row.get(at).map_err(|e| format!("column {name}: {e}"))?;
        if let Some(value) = value(name, cell)? {
            line.insert((*name).to_owned(), value);
        }
    }
    Ok(line)
}

fn ties(
    edges: &mut rusqlite::Statement<'_>,
    line: &Map<String, Value>,
) -> Result<Vec<Value>, String> {
    let failed = |e: rusqlite::Error| format!("its edges: {e}");
    let id = line.get("id").and_then(Value::as_i64).unwrap_or_default();
    let mut rows = edges.query([id]).map_err(failed)?;
    let mut out = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let mut tie = Map::new();
        for (at, name) in ["target", "type", "weight", "created_at"]
            .iter()
            .enumerate()
        {
            let cell: Cell = row.get(at).map_err(failed)?;
            if let Some(value) = value(name, cell)? {
                tie.insert((*name).to_owned(), value);
            }
        }
        out.push(tie.into());
    }
    Ok(out)
}

fn value(name: &str, cell: Cell) -> Result<Option<Value>, String> {
    let is_json =
        super::columns::form_of(name) == CellForm::Json && !matches!(name, "target" | "weight");
    Ok(match cell {
        Cell::Null => None,
        Cell::Integer(whole) => Some(whole.into()),
        Cell::Real(real) => Number::from_f64(real).map(Value::Number),
        Cell::Text(text) if is_json => {
            let value = serde_json::from_str(&text);
            Some(value.map_err(|e| format!("column {name}: {e}"))?)
        }
        Cell::Text(text) => Some(text.into()),
        Cell::Blob(_) => return Err(format!("column {name} has bytes")),
    })
}
