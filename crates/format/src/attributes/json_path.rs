//! A place in a JSON value, for errors: `and[1].price.gte`.
//!
//! It lives on the stack of whoever descends and costs nothing unless something is wrong.
//! Promises: however long the keys, what is shown is short.

use std::fmt;

use serde_json::Value;

/// Characters that an error shows of a place.
const SHOWN_MAX: usize = 120;

/// A place in a JSON value.
pub enum JsonPath<'a> {
    /// The value itself.
    Top,
    /// The value of a key.
    Key(&'a JsonPath<'a>, &'a str),
    /// An element.
    Index(&'a JsonPath<'a>, usize),
}

impl<'a> JsonPath<'a> {
    /// The value of a key here.
    pub fn key(&'a self, key: &'a str) -> Self {
        Self::Key(self, key)
    }

    /// An element of the array here.
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

/// The beginning of a text, for errors.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a value is, with its article, for errors.
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
