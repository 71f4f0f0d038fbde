//! The columns of a table of events: the fields of a JSON line, each as a text.

use serde_json::{Map, Value};

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellForm {
    /// The text itself; blank for none.
    Text,
    /// The text itself, also if it is blank.
    Required,
    /// A text, or microseconds.
    Time,
    Integer,
    Real,
    Json,
}

/// In the order of the JSON lines.
pub(super) const COLUMNS: [(&str, CellForm); 20] = [
    ("id", CellForm::Integer),
    ("type", CellForm::Text),
    ("created_at", CellForm::Time),
    ("event_time", CellForm::Time),
    ("session", CellForm::Integer),
    ("session_key", CellForm::Text),
    ("agent", CellForm::Text),
    ("confidence", CellForm::Real),
    ("decay_score", CellForm::Real),
    ("lambda", CellForm::Real),
    ("access_count", CellForm::Integer),
    ("last_accessed", CellForm::Time),
    ("flags", CellForm::Json),
    ("text", CellForm::Required),
    ("by", CellForm::Text),
    ("by_agent", CellForm::Text),
    ("reason", CellForm::Text),
    ("attributes", CellForm::Json),
    ("origin", CellForm::Json),
    ("space", CellForm::Text),
];
/// Columns behind the others in CSV. SQLite has a table for edges, and a blob for a vector.
pub(super) const LISTS: [&str; 2] = ["vector", "edges"];

pub(super) fn form_of(name: &str) -> CellForm {
    let column = COLUMNS.iter().find(|(column, _)| *column == name);
    column.map_or(CellForm::Json, |(_, form)| *form)
}

/// A field as a cell; blank if it is absent.
pub(super) fn cell(line: &Map<String, Value>, name: &str) -> String {
    match line.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) if form_of(name) != CellForm::Json => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A cell as a field; none if it is blank.
pub(super) fn field(name: &str, cell: String) -> Result<Option<Value>, String> {
    let form = form_of(name);
    if form == CellForm::Required {
        return Ok(Some(cell.into()));
    }
    if cell.is_empty() {
        return Ok(None);
    }
    let is_number = |text: &str| text.parse::<i64>().is_ok();
    match form {
        CellForm::Text | CellForm::Required => Ok(Some(cell.into())),
        CellForm::Time if !is_number(&cell) => Ok(Some(cell.into())),
        CellForm::Time | CellForm::Integer | CellForm::Real | CellForm::Json => {
            let value = serde_json::from_str(&cell);
            value.map(Some).map_err(|e| format!("column {name}: {e}"))
        }
    }
}
