//! Front matter: `key: value` lines above notes.
//!
//! Not YAML: a value is text, or a list (`[a, b]`, or lines that begin with `-`); indented lines continue the value
//! above. Any other line is refused.

use serde_json::{Map, Value};

/// An error has the line, from 0.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, (usize, String)> {
    let mut fields = Map::new();
    let mut last: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let value = last.as_ref().and_then(|key| fields.get_mut(key));
        if let Some(value) = value
            && go_on(value, line)
        {
            continue;
        }
        let (key, value) = match trimmed.split_once(':') {
            Some((key, value)) if !key.trim().is_empty() => (key.trim(), value.trim()),
            _ => {
                return Err((
                    at,
                    format!("{trimmed:?} in the front matter is no `key: value`"),
                ));
            }
        };
        if fields.contains_key(key) {
            return Err((at, format!("{key:?} stands twice in the front matter")));
        }
        fields.insert(key.to_owned(), value_of(value));
        last = Some(key.to_owned());
    }
    Ok(fields)
}

/// Whether the line continues the value.
fn go_on(value: &mut Value, line: &str) -> bool {
    let trimmed = line.trim();
    if let Some(item) = trimmed.strip_prefix("- ") {
        if value.as_str() == Some("") {
            *value = Value::Array(Vec::new());
        }
        if let Value::Array(items) = value {
            items.push(unquoted(item.trim()).into());
            return true;
        }
    }
    match value {
        Value::String(text) if line.starts_with([' ', '\t']) => {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(trimmed);
            true
        }
        _ => false,
    }
}

fn value_of(text: &str) -> Value {
    let list = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match list {
        Some(list) => {
            let items = list
                .split(',')
                .map(str::trim)
                .filter(|item| !item.is_empty());
            items.map(|item| Value::from(unquoted(item))).collect()
        }
        None => unquoted(text).into(),
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lines_of_key_and_value_are_read_as_people_write_them() {
        let text = "title: \"Kitchen: plans\"\n# a comment\ntags: [house, 'to do']\nwho:\n  - Mira\n  - Jonas\n\nnote: one\n  two: three\ndone: yes\n";
        let expected = json!({
            "title": "Kitchen: plans", "tags": ["house", "to do"], "who": ["Mira", "Jonas"],
            "note": "one\ntwo: three", "done": "yes",
        });
        assert_eq!(Value::Object(parse(text).unwrap()), expected);
    }

    #[test]
    fn other_lines_are_refused_by_number() {
        for (text, at) in [
            ("a: 1\nnonsense", 1),
            ("- item", 0),
            ("a: 1\na: 2", 1),
            (": x", 0),
        ] {
            assert_eq!(parse(text).unwrap_err().0, at, "{text}");
        }
    }
}
