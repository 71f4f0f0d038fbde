//! Sessions of opencode: tables `session`, `message` and `part` of its SQLite database.

use serde_json::Value;

use super::fields::{is_true, text};
use super::head::TableNames;
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile, open_database};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a database is of this kind, if it is.
pub(super) fn recognize_tables(head: &TableNames<'_>) -> Option<&'static str> {
    let is_one = head.has("message") && head.has("part") && head.has("session");
    is_one.then_some("a SQLite database with session, message and part")
}

/// Parts in the order of the conversation. `SELECT *` of sessions, because columns come and go with versions.
const PARTS: &str = "SELECT p.id, p.data, m.id, m.data, s.id, s.title, s.directory, s.parent_id, m.time_created, p.rowid \
    FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = m.session_id \
    ORDER BY s.id, m.time_created, m.id, p.id";

pub(super) fn read_databases(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let place = tree.place(file, 0);
        let Some(path) = tree.disk_path(file) else {
            out.skip(
                place,
                SkipReason::Refused,
                "a database within a ZIP is not read",
            )?;
            continue;
        };
        let (connection, note) = match open_database(&path) {
            Ok(open) => open,
            Err(error) => {
                out.skip(place, SkipReason::Unreadable, error.to_string())?;
                continue;
            }
        };
        if let Some(note) = note {
            out.skip(place.clone(), SkipReason::Missing, note)?;
        }
        let failed = |e: rusqlite::Error| e.to_string();
        let mut statement = match connection.prepare(PARTS).map_err(failed) {
            Ok(statement) => statement,
            Err(why) => {
                out.skip(
                    place,
                    SkipReason::Malformed,
                    format!("tables of another version: {why}"),
                )?;
                continue;
            }
        };
        let mut rows = match statement.query([]).map_err(failed) {
            Ok(rows) => rows,
            Err(why) => {
                out.skip(place, SkipReason::Unreadable, why)?;
                continue;
            }
        };
        loop {
            match rows.next() {
                Ok(Some(row)) => match part_row(row) {
                    Ok(part) => part.emit(&place, out)?,
                    Err(error) => {
                        out.skip(place.clone(), SkipReason::Malformed, error.to_string())?
                    }
                },
                Ok(None) => break,
                Err(error) => {
                    out.skip(place.clone(), SkipReason::Unreadable, error.to_string())?;
                    break;
                }
            }
        }
        out.counts.files += 1;
    }
    Ok(())
}

struct PartRow {
    id: String,
    part: String,
    message: String,
    session: String,
    title: Option<String>,
    project: Option<String>,
    parent: Option<String>,
    time: Option<i64>,
    row: i64,
}

fn part_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<PartRow> {
    Ok(PartRow {
        id: row.get(0)?,
        part: row.get(1)?,
        message: row.get(3)?,
        session: row.get(4)?,
        title: row.get(5)?,
        project: row.get(6)?,
        parent: row.get(7)?,
        time: row.get(8)?,
        row: row.get(9)?,
    })
}

impl PartRow {
    fn emit(self, place: &ItemPlace, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
        let place = ItemPlace {
            line: u64::try_from(self.row).unwrap_or(0),
            ..place.clone()
        };
        if self.parent.is_some_and(|parent| !parent.is_empty()) {
            return out.skip(
                place,
                SkipReason::Sidechain,
                "the work of an agent below the agent",
            );
        }
        let parsed = |json: &str| serde_json::from_str::<Value>(json);
        let (part, message) = match (parsed(&self.part), parsed(&self.message)) {
            (Ok(part), Ok(message)) => (part, message),
            (Err(error), _) | (_, Err(error)) => {
                return out.skip(place, SkipReason::Malformed, format!("not JSON: {error}"));
            }
        };
        if text(&part, "type") != Some("text") {
            return out.skip(
                place,
                SkipReason::Machinery,
                "tools or reasoning, and no text",
            );
        }
        if is_true(&part, "synthetic") || is_true(&part, "ignored") {
            return out.skip(
                place,
                SkipReason::Injected,
                "a message that the client added",
            );
        }
        let role = match text(&message, "role") {
            Some("user") => TurnRole::User,
            Some("assistant") => TurnRole::Assistant,
            _ => {
                return out.skip(
                    place,
                    SkipReason::Hidden,
                    "neither the user's nor the model's",
                );
            }
        };
        let created = message.get("time").and_then(|time| time.get("created"));
        let created = created.cloned().unwrap_or_else(|| self.time.into());
        let time = out.time(Some(&created), &place)?;
        let said = text(&part, "text").unwrap_or_default();
        let mut item = SourceItem::new(out.id(self.session, self.id), ItemType::Turn, said, place);
        item.role = Some(role);
        item.title = self.title;
        item.time = time;
        item.set("project", self.project);
        item.set("model", text(&message, "modelID"));
        out.emit(item)
    }
}
