//! A path into a JSON value, for errors: `and[1].price.gte`.
//!
//! A path is a chain of stack frames; it is formatted only for an error.
//! Promises: an error shows at most `SHOWN_MAX` characters of a path, however long the keys.

use std::fmt;

use serde_json::Value;

/// Characters of a path that an error shows.
const SHOWN_MAX: usize = 120;

/// A path from the top of a JSON value to a value inside it.
pub enum JsonPath<'a> {
    /// The whole value.
    Top,
    /// The value of a key.
    Key(&'a JsonPath<'a>, &'a str),
    /// An element.
    Index(&'a JsonPath<'a>, usize),
}

impl<'a> JsonPath<'a> {
    /// The path of a key of this object.
    pub fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    /// The path of an element of this array.
    pub fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Top => {}
            Self::Key(parent, key) => {
                parent.write(out);
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Self::Index(parent, index) => {
                parent.write(out);
                out.push_str(&format!("[{index}]"));
            }
        }
    }
}

impl fmt::Display for JsonPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if matches!(self, Self::Top) {
            return f.write_str("the top");
        }
        let mut path = String::new();
        self.write(&mut path);
        write!(f, "{:?}", shortened(&path))
    }
}

/// The first `SHOWN_MAX` characters of a text, for errors.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The JSON type of a value, with its article, for errors.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_as_a_path() {
        let list = JsonPath::Top.key("and");
        let element = list.index(1);
        assert_eq!(element.key("a.b").to_string(), "\"and[1].a.b\"");
        assert_eq!(JsonPath::Top.to_string(), "the top");
    }

    #[test]
    fn a_long_key_is_cut() {
        let key = "é".repeat(60_000);
        assert!(JsonPath::Top.key(&key).to_string().len() < 300);
    }
}
