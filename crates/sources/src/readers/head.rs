//! The beginning of a file, as readers recognise their kind by it.

use serde_json::Value;

/// A line of JSON lines.
pub(crate) struct LineHead<'h> {
    pub(crate) value: &'h Value,
    /// The name of the file.
    pub(crate) name: &'h str,
}

/// The first bytes of a JSON file. They may be cut, and an object may be over many lines: keys are looked for.
pub(crate) struct JsonHead<'h> {
    pub(crate) text: &'h str,
    /// The ending of the file's name.
    pub(crate) ending: &'h str,
}

/// The tables of a SQLite database.
pub(crate) struct TableNames<'h> {
    pub(crate) has: &'h dyn Fn(&str) -> bool,
}

impl LineHead<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some()
    }

    /// What it says its type is.
    pub(super) fn type_name(&self) -> &str {
        self.value
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

impl JsonHead<'_> {
    pub(super) fn has(&self, key: &str) -> bool {
        self.text.contains(&format!("\"{key}\""))
    }
}

impl TableNames<'_> {
    pub(super) fn has(&self, table: &str) -> bool {
        (self.has)(table)
    }
}
