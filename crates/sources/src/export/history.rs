//! The history of memories in SQLite: a row for each version and each end, in the schema of section 5 of the
//! specification.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::error::SourceError;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS memory_history (
    id TEXT PRIMARY KEY,
    memory_id TEXT NOT NULL,
    event TEXT NOT NULL,
    old_value TEXT,
    new_value TEXT,
    timestamp TEXT NOT NULL,
    is_deleted INTEGER DEFAULT 0,
    user_id TEXT,
    agent_id TEXT,
    run_id TEXT
);
CREATE INDEX IF NOT EXISTS idx_history_memory_id ON memory_history(memory_id);
CREATE INDEX IF NOT EXISTS idx_history_timestamp ON memory_history(timestamp);
";

/// A change of a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactHistoryRow {
    /// The id of the record, a UUID.
    pub id: String,
    /// The memory, a UUID.
    pub memory_id: String,
    /// ADD, UPDATE or DELETE.
    pub event: &'static str,
    /// The text before.
    pub old_value: Option<String>,
    /// The text after.
    pub new_value: Option<String>,
    /// When, in ISO 8601.
    pub timestamp: String,
    /// The user, the agent and the run whose memory it is.
    pub scope: [Option<String>; 3],
}

/// Writes rows into a new database.
pub struct FactHistoryWriter {
    connection: Connection,
    path: PathBuf,
}

impl FactHistoryWriter {
    /// Makes the table in a file that is absent or empty.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn create(path: &Path) -> Result<Self, SourceError> {
        let failed = |e: rusqlite::Error| SourceError::BadDatabase {
            path: path.to_owned(),
            why: e.to_string(),
        };
        let connection = Connection::open(path).map_err(failed)?;
        // The file counts once it is whole: its writer gives it its name then.
        let begin = format!("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; {TABLE}");
        connection.execute_batch(&begin).map_err(failed)?;
        Ok(Self {
            connection,
            path: path.to_owned(),
        })
    }

    /// Writes a row, once: scopes may share a memory. False if it is there.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn row(&mut self, row: &FactHistoryRow) -> Result<bool, SourceError> {
        let [user, agent, run] = &row.scope;
        let sql =
            "INSERT OR IGNORE INTO memory_history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let insert = || {
            let mut statement = self.connection.prepare(sql)?;
            statement.execute(params![
                row.id,
                row.memory_id,
                row.event,
                row.old_value,
                row.new_value,
                row.timestamp,
                row.event == "DELETE",
                user,
                agent,
                run
            ])
        };
        let written = insert().map_err(|e| SourceError::BadDatabase {
            path: self.path.clone(),
            why: e.to_string(),
        })?;
        Ok(written > 0)
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
