//! Front matter: the properties above a note, as people write them.
//!
//! The subset of YAML that editors write: scalars, lists, one level of maps, block texts. Anchors, tags and types have
//! no meaning: a value is a text. A line of another form is reported and left out; the note is read anyway.

use serde_json::{Map, Value};

/// Properties, flat: a map within the map has names such as `metadata.type`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) fields: Map<String, Value>,
    /// Lines that are no property, from 1 at the first line of the text.
    pub(crate) bad_lines: Vec<(u64, String)>,
}

impl FrontMatter {
    /// The properties of a text between the `---` lines.
    pub(crate) fn parse(text: &str) -> Self {
        let mut front = Self::default();
        let mut lines = text.lines().enumerate().peekable();
        // The open key and its indent; above it, the keys of maps.
        let mut parents: Vec<(usize, String)> = Vec::new();
        let mut open: Option<(usize, String)> = None;
        while let Some((at, line)) = lines.next() {
            let trimmed = line.trim();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let indent = line.len() - line.trim_start().len();
            if let Some(item) = list_item(trimmed)
                && let Some((_, key)) = &open
            {
                front.push(key.clone(), unquoted(item));
                continue;
            }
            let Some((key, value)) = field(trimmed) else {
                match &open {
                    Some((level, key)) if indent > *level => front.go_on(&key.clone(), trimmed),
                    _ => front.bad_lines.push((at as u64 + 1, shortened(trimmed))),
                }
                continue;
            };
            match &open {
                Some((level, name)) if indent > *level && front.is_open(name) => {
                    parents.push((*level, name.clone()));
                }
                Some((level, name)) if indent > *level => {
                    // A text over several lines may have a colon.
                    front.go_on(&name.clone(), trimmed);
                    continue;
                }
                _ => parents.retain(|(level, _)| *level < indent),
            }
            let name = match parents.last() {
                Some((_, parent)) => format!("{parent}.{key}"),
                None => key.to_owned(),
            };
            open = Some((indent, name.clone()));
            if matches!(value, "|" | ">" | "|-" | ">-" | "|+" | ">+") {
                let glue = if value.starts_with('|') { "\n" } else { " " };
                let mut text: Vec<&str> = Vec::new();
                while let Some((_, line)) = lines.peek() {
                    let is_inner =
                        line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
                    if !is_inner {
                        break;
                    }
                    text.push(line.trim());
                    lines.next();
                }
                front.set(name, text.join(glue).trim().into());
                continue;
            }
            front.set(name, scalar_or_list(value));
        }
        front
            .fields
            .retain(|_, value| !matches!(value, Value::String(text) if text.is_empty()));
        front
    }

    /// A text, whatever case its key has.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        let found = self
            .fields
            .iter()
            .find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value)
    }

    /// The texts of a list, or of one text with commas.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        match self.value(name) {
            Some(Value::Array(list)) => list
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            Some(Value::String(text)) => text
                .split(',')
                .map(|one| one.trim().to_owned())
                .filter(|one| !one.is_empty())
                .collect(),
            _ => Vec::new(),
        }
    }

    /// True if the key has no value yet: a map, a list or a text may follow.
    fn is_open(&self, name: &str) -> bool {
        matches!(self.fields.get(name), Some(Value::String(text)) if text.is_empty())
    }

    fn set(&mut self, name: String, value: Value) {
        // The last of two counts, as in most editors.
        self.fields.insert(name, value);
    }

    fn push(&mut self, name: String, item: &str) {
        let value = self
            .fields
            .entry(name)
            .or_insert_with(|| Value::Array(Vec::new()));
        match value {
            Value::Array(list) => list.push(item.into()),
            Value::String(text) if text.is_empty() => *value = vec![item].into(),
            Value::String(text) => {
                text.push('\n');
                text.push_str(item);
            }
            _ => {}
        }
    }

    fn go_on(&mut self, name: &str, line: &str) {
        match self.fields.get_mut(name) {
            Some(Value::String(text)) if text.is_empty() => line.clone_into(text),
            Some(Value::String(text)) => {
                text.push(' ');
                text.push_str(line);
            }
            Some(Value::Array(list)) => {
                if let Some(Value::String(text)) = list.last_mut() {
                    text.push(' ');
                    text.push_str(line);
                }
            }
            _ => {}
        }
    }
}

fn list_item(line: &str) -> Option<&str> {
    line.strip_prefix("- ")
        .or_else(|| (line == "-").then_some(""))
        .map(str::trim)
}

/// Key and value. A key may be quoted, and has a blank or the end of the line behind its colon.
fn field(line: &str) -> Option<(&str, &str)> {
    let at = line.match_indices(':').map(|(at, _)| at).find(|at| {
        let rest = &line[at + 1..];
        rest.is_empty() || rest.starts_with([' ', '\t'])
    })?;
    let key = unquoted(line[..at].trim());
    let is_key = !key.is_empty() && key.len() <= 200 && !key.starts_with(['{', '[', '"', '\'']);
    is_key.then(|| (key, line[at + 1..].trim()))
}

fn scalar_or_list(text: &str) -> Value {
    let inner = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    match inner {
        // A link of Obsidian is a text.
        Some(inner) if !inner.starts_with('[') => {
            items(inner).into_iter().map(Value::from).collect()
        }
        _ => without_comment(text).into(),
    }
}

/// Items between commas, some of them quoted.
fn items(text: &str) -> Vec<String> {
    let (mut out, mut item, mut quote) = (Vec::new(), String::new(), None);
    for c in text.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') if item.trim().is_empty() => quote = Some(c),
            (None, ',') => out.push(std::mem::take(&mut item)),
            _ => item.push(c),
        }
    }
    out.push(item);
    let trimmed = out.into_iter().map(|item| item.trim().to_owned());
    trimmed.filter(|item| !item.is_empty()).collect()
}

fn without_comment(text: &str) -> &str {
    if text.starts_with(['"', '\'']) {
        return unquoted(text);
    }
    match text.find(" #") {
        Some(at) => text[..at].trim_end(),
        None => text,
    }
}

fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

fn shortened(text: &str) -> String {
    let front: String = text.chars().take(60).collect();
    format!("{front:?} in the front matter is no `key: value`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn properties_are_read_as_people_write_them() {
        let text = concat!(
            "title: \"Kitchen: plans\"\n# a comment\ntags: [house, 'to, do']\nwho:\n  - Mira\n  - Jonas\n",
            "plain:\n- one\n- two\n\nmetadata:\n  type: user\n  deep: x\nurl: https://a.b/c: d\nnote: one\n  two: three\n",
            "long: |\n  a: b\n\n  c\nfolded: >-\n  a\n  b\nempty:\nlink: \"[[Other]]\"\nbare: [[Other]]\nyes: true # why\n",
        );
        let expected = json!({
            "title": "Kitchen: plans", "tags": ["house", "to, do"], "who": ["Mira", "Jonas"],
            "plain": ["one", "two"], "metadata.type": "user", "metadata.deep": "x", "url": "https://a.b/c: d",
            "note": "one two: three", "long": "a: b\n\nc", "folded": "a b", "link": "[[Other]]", "bare": "[[Other]]",
            "yes": "true",
        });
        let front = FrontMatter::parse(text);
        assert_eq!(Value::Object(front.fields), expected);
        assert_eq!(front.bad_lines, []);
    }

    #[test]
    fn a_line_that_is_no_property_costs_only_itself() {
        let front = FrontMatter::parse("a: 1\nnonsense\nb: 2\n{{template}}\n");
        let lines: Vec<_> = front.bad_lines.iter().map(|(line, _)| *line).collect();
        assert_eq!((front.fields.len(), lines), (2, vec![2, 4]));
    }
}
