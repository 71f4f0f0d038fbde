//! How a text is laid out, so that an entry looks like what stands around it.

use serde_json::Value;

#[derive(Debug, Clone)]
pub(crate) struct LayoutStyle {
    /// The first line end of the text.
    pub(crate) newline: &'static str,
    /// One step of indentation.
    pub(crate) unit: String,
    /// Whether the value stands in one line, as programs write it.
    pub(crate) is_one_line: bool,
    is_spaced: bool,
}

impl LayoutStyle {
    pub(crate) fn of(text: &str) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let indents = text.lines().filter_map(|line| {
            let bare = line.trim_start_matches([' ', '\t']);
            let indent = &line[..line.len() - bare.len()];
            let is_comment = bare.starts_with('*') || bare.starts_with("//");
            (!indent.is_empty() && !bare.is_empty() && !is_comment).then_some(indent)
        });
        let unit = indents.min_by_key(|indent| indent.len()).unwrap_or("  ");
        let unit = if unit.starts_with('\t') { "\t" } else { unit };
        Self {
            newline,
            unit: unit.to_owned(),
            is_one_line: !text.trim().contains('\n'),
            is_spaced: text.contains("\": ") || !text.contains("\":"),
        }
    }

    /// The white space at the beginning of the line of `at`.
    pub(crate) fn indentation(text: &str, at: usize) -> String {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line = text[line..].trim_start_matches('\u{feff}');
        let bare = line.trim_start_matches([' ', '\t']);
        line[..line.len() - bare.len()].to_owned()
    }

    /// The same, if `at` is the first in its line.
    pub(crate) fn own_indentation(text: &str, at: usize) -> Option<String> {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let front = &text[line..at];
        let is_blank = front.chars().all(|c| matches!(c, ' ' | '\t'));
        is_blank.then(|| front.to_owned())
    }

    pub(crate) fn space(&self) -> &'static str {
        if self.is_spaced { " " } else { "" }
    }

    pub(crate) fn key(&self, name: &str) -> String {
        let colon = if self.is_one_line && !self.is_spaced {
            ":"
        } else {
            ": "
        };
        format!("{}{colon}", Value::from(name))
    }

    /// A value in one line.
    pub(crate) fn line(&self, value: &Value) -> String {
        let space = self.space();
        match value {
            Value::Object(members) => {
                let members = members
                    .iter()
                    .map(|(name, value)| format!("{}{}", self.key(name), self.line(value)));
                format!(
                    "{{{}}}",
                    members.collect::<Vec<_>>().join(&format!(",{space}"))
                )
            }
            Value::Array(elements) => {
                let elements = elements.iter().map(|value| self.line(value));
                format!(
                    "[{}]",
                    elements.collect::<Vec<_>>().join(&format!(",{space}"))
                )
            }
            scalar => scalar.to_string(),
        }
    }

    /// A value in lines of its own; arrays of scalars stay in one.
    pub(crate) fn lines(&self, value: &Value, indent: &str) -> String {
        let deeper = format!("{indent}{}", self.unit);
        let nl = self.newline;
        let joined = |parts: Vec<String>, open: &str, close: &str| {
            let between = format!(",{nl}{deeper}");
            format!(
                "{open}{nl}{deeper}{}{nl}{indent}{close}",
                parts.join(&between)
            )
        };
        match value {
            Value::Object(members) if !members.is_empty() => {
                let parts = members.iter().map(|(name, value)| {
                    format!(
                        "{}: {}",
                        Value::from(name.as_str()),
                        self.lines(value, &deeper)
                    )
                });
                joined(parts.collect(), "{", "}")
            }
            Value::Array(elements) if elements.iter().any(|e| e.is_object() || e.is_array()) => {
                let parts = elements.iter().map(|value| self.lines(value, &deeper));
                joined(parts.collect(), "[", "]")
            }
            Value::Array(elements) => {
                let elements = elements.iter().map(Value::to_string);
                format!("[{}]", elements.collect::<Vec<_>>().join(", "))
            }
            scalar => scalar.to_string(),
        }
    }
}
