//! Events of a brain in forms that other programs read.
//!
//! All forms are written from the JSON lines of `amemctl export`, one object an event. Tables (CSV, SQLite) hold all of
//! a line, and give the same lines back; notes and graphs hold what those forms can, and count the rest.

mod columns;
mod csv;
mod history;
mod sqlite;

mod chains;
mod event;
mod markdown;
mod server_memory;

pub use chains::{EventChain, chains};
pub use csv::{CsvWriter, is_csv_export, read_csv};
pub use event::{ExportLoss, ExportedEdge, ExportedEvent};
pub use history::{FactHistoryRow, FactHistoryWriter};
pub use markdown::{NoteFile, note_file};
pub use server_memory::write_server_memory;
pub use sqlite::{SqliteWriter, is_sqlite_export, read_sqlite};
