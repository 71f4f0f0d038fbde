//! Memories of mem0: what `get_all` answers, in any of its shapes, or the history database.

use serde_json::Value;

use super::fields::{any, any_text, loose_text};
use super::head::{JsonHead, LineHead, TableNames};
use super::json_files::{each_element, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile, open_database};
use crate::item::{EventTime, ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem};
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    (head.has("memory") && head.has("id")).then_some("lines of memories with ids")
}

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let others = ["results", "user_id", "created_at", "memories"];
    let is_one = head.has("memory") && others.iter().any(|key| head.has(key));
    is_one.then_some("memories with ids")
}

/// Why a database is of this kind, if it is.
pub(super) fn recognize_tables(head: &TableNames<'_>) -> Option<&'static str> {
    let is_one = head.has("history") || head.has("memory_history");
    is_one.then_some("a SQLite database with history")
}

/// The history of mem0, and the one that `amemctl fact export --sqlite` writes.
const HISTORIES: [&str; 2] = [
    "SELECT memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, rowid, NULL, NULL, NULL \
     FROM history ORDER BY memory_id, rowid",
    "SELECT memory_id, old_value, new_value, event, timestamp, timestamp, is_deleted, rowid, user_id, agent_id, run_id \
     FROM memory_history ORDER BY memory_id, timestamp, rowid",
];

pub(super) fn read_memories(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        if matches!(file.ending().as_str(), "db" | "sqlite" | "sqlite3") {
            read_history(tree, file, out)?;
            continue;
        }
        let is_lines = matches!(file.ending().as_str(), "jsonl" | "ndjson");
        let result = if is_lines {
            super::json_files::each_line(tree, file, out, |value, place, out| {
                memory(&value, &place, out)
            })
        } else {
            each_element(tree, file, out, |record, out| match record.key {
                None | Some("results" | "memories" | "data") if record.value.is_object() => {
                    memory(&record.value, &record.place, out)
                }
                Some("relations") => relation(&record.value, &record.place, out),
                _ => Ok(()),
            })
        };
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

fn memory(value: &Value, place: &ItemPlace, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
    let said = any_text(value, &["memory", "text", "data"]);
    let (Some(said), Some(id)) = (said, loose_text(value, "id")) else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a memory without its text or its id",
        );
    };
    let mut item = SourceItem::new(
        out.id("memories", id),
        ItemType::Memory,
        said,
        place.clone(),
    );
    item.time = out.time(any(value, &["created_at"]), place)?;
    item.ends = out.time(any(value, &["expiration_date"]), place)?;
    for name in [
        "user_id",
        "agent_id",
        "run_id",
        "app_id",
        "actor_id",
        "categories",
        "metadata",
    ] {
        if let Some(value) = value.get(name) {
            item.set(name, value.clone());
        }
    }
    out.emit(item)
}

fn relation(value: &Value, place: &ItemPlace, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
    let from = any_text(value, &["source", "source_node"]);
    let to = any_text(value, &["target", "destination", "target_node"]);
    let name = any_text(value, &["relationship", "relation"]);
    let (Some(from), Some(to), Some(name)) = (from, to, name) else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a relation without its ends or its name",
        );
    };
    let said = format!("{from} {} {to}", name.replace('_', " "));
    let part = format!("relation {from}/{name}/{to}");
    let mut item = SourceItem::new(
        out.id("memories", part),
        ItemType::Edge,
        said,
        place.clone(),
    );
    item.set("from", from);
    item.set("to", to);
    item.set("relation", name);
    out.emit(item)
}

struct HistoryRow {
    memory: String,
    old: Option<String>,
    new: Option<String>,
    event: Option<String>,
    created: Option<String>,
    updated: Option<String>,
    is_deleted: bool,
    row: i64,
    /// Its user, agent and run.
    scope: [Option<String>; 3],
}

fn history_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<HistoryRow> {
    Ok(HistoryRow {
        memory: row.get(0)?,
        old: row.get(1)?,
        new: row.get(2)?,
        event: row.get(3)?,
        created: row.get(4)?,
        updated: row.get(5)?,
        is_deleted: row.get::<_, Option<i64>>(6)?.unwrap_or(0) != 0,
        row: row.get(7)?,
        scope: [row.get(8)?, row.get(9)?, row.get(10)?],
    })
}

/// The chain of a memory: its versions, each of which supersedes the one before.
struct HistoryChain {
    memory: String,
    last: Option<SourceItem>,
    versions: u64,
}

fn read_history(
    tree: &FileTree,
    file: &TreeFile,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let place = tree.place(file, 0);
    let Some(path) = tree.disk_path(file) else {
        return out.skip(
            place,
            SkipReason::Refused,
            "a database within a ZIP is not read",
        );
    };
    let (connection, note) = match open_database(&path) {
        Ok(open) => open,
        Err(error) => return out.skip(place, SkipReason::Unreadable, error.to_string()),
    };
    if let Some(note) = note {
        out.skip(place.clone(), SkipReason::Missing, note)?;
    }
    let mut statements = HISTORIES.iter().map(|sql| connection.prepare(sql));
    let first = statements.next().and_then(Result::ok);
    let Some(mut statement) = first.or_else(|| statements.find_map(Result::ok)) else {
        let why = "tables of another version";
        return out.skip(place, SkipReason::Malformed, why);
    };
    let mut rows = match statement.query([]) {
        Ok(rows) => rows,
        Err(error) => return out.skip(place, SkipReason::Unreadable, error.to_string()),
    };
    out.counts.files += 1;
    let mut chain: Option<HistoryChain> = None;
    loop {
        let row = match rows.next().and_then(|row| row.map(history_row).transpose()) {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                out.skip(place.clone(), SkipReason::Unreadable, error.to_string())?;
                break;
            }
        };
        let is_next = chain
            .as_ref()
            .is_none_or(|chain| chain.memory != row.memory);
        if is_next && let Some(done) = chain.take() {
            done.finish(out)?;
        }
        let current = chain.get_or_insert_with(|| HistoryChain {
            memory: row.memory.clone(),
            last: None,
            versions: 0,
        });
        current.add(row, &place, out)?;
    }
    chain.map_or(Ok(()), |chain| chain.finish(out))
}

impl HistoryChain {
    fn add(
        &mut self,
        row: HistoryRow,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let place = ItemPlace {
            line: u64::try_from(row.row).unwrap_or(0),
            ..place.clone()
        };
        let stamp = row.updated.or(row.created).map_or(Value::Null, Value::from);
        let time = out.time(Some(&stamp), &place)?;
        let is_deleted = row.is_deleted || row.event.as_deref() == Some("DELETE");
        if is_deleted {
            if self.last.is_none()
                && let Some(old) = row.old
            {
                self.push(old, (time, row.scope), &place, out)?;
            }
            if let Some(last) = &mut self.last {
                last.ends = time;
                last.set("deleted", true);
            }
            return Ok(());
        }
        let Some(new) = row.new.filter(|new| !new.trim().is_empty()) else {
            return Ok(());
        };
        self.push(new, (time, row.scope), &place, out)
    }

    fn push(
        &mut self,
        said: String,
        (time, scope): (Option<EventTime>, [Option<String>; 3]),
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        self.versions += 1;
        let part = format!("{}.{}", self.memory, self.versions);
        let mut item = SourceItem::new(
            out.id("history", part),
            ItemType::Memory,
            said,
            place.clone(),
        );
        item.time = time;
        item.set("memory_id", self.memory.clone());
        for (name, value) in ["user_id", "agent_id", "run_id"].into_iter().zip(scope) {
            item.set(name, value);
        }
        if let Some(mut before) = self.last.take() {
            before.ends = time;
            before.set("replaced", true);
            item.relations.push(ItemRelation {
                name: "supersedes".to_owned(),
                to: before.id.clone(),
            });
            out.emit(before)?;
        }
        self.last = Some(item);
        Ok(())
    }

    fn finish(self, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
        let named = |value: &SourceItem| !value.text.trim().is_empty();
        match self.last.filter(named) {
            Some(last) => out.emit(last),
            None => Ok(()),
        }
    }
}
