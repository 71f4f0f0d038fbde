//! Fields of JSON objects that others wrote.

use serde_json::Value;

/// A text that is not blank.
pub(super) fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value
        .get(name)?
        .as_str()
        .filter(|text| !text.trim().is_empty())
}

/// The first of several fields that is a text.
pub(super) fn any_text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    names.iter().find_map(|name| text(value, name))
}

/// The first of several fields that is not null.
pub(super) fn any<'v>(value: &'v Value, names: &[&str]) -> Option<&'v Value> {
    names
        .iter()
        .find_map(|name| value.get(name).filter(|value| !value.is_null()))
}

/// A text, or a number or truth value as one.
pub(super) fn loose_text(value: &Value, name: &str) -> Option<String> {
    match value.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn is_true(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The text of a message: a text, or the text blocks of a list. Other blocks are no text.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                block => {
                    let kind = block.get("type").and_then(Value::as_str).unwrap_or("text");
                    let is_text = matches!(kind, "text" | "input_text" | "output_text");
                    text(block, "text").filter(|_| is_text)
                }
            });
            texts.collect::<Vec<_>>().join("\n\n")
        }
        Value::Object(_) => any_text(content, &["text", "content"])
            .unwrap_or_default()
            .to_owned(),
        _ => String::new(),
    }
}
