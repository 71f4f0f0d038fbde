//! What of a value is searched by words: all texts in it, parts by their paths, or nothing.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::limits::{INDEX_PATH_BYTES_MAX, INDEX_PATHS_MAX, INDEXED_TEXT_BYTES_MAX};

/// What of a value is searched by words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ItemIndex {
    /// All texts.
    #[default]
    Texts,
    /// These parts: `a.b` steps into objects, `[0]`, `[-1]` and `[*]` into lists, `*` into both, `{a,b.c}` into
    /// several; `$` is the whole value as JSON.
    Paths(Vec<String>),
    /// Nothing.
    Nothing,
}

impl ItemIndex {
    /// The text that is searched; `None` for none. Errors: more than the limits, a path that is none.
    pub(crate) fn text(&self, value: &Value) -> Result<Option<String>> {
        let mut parts = Vec::new();
        match self {
            Self::Nothing => return Ok(None),
            Self::Texts => texts(value, &mut parts),
            Self::Paths(paths) => {
                Error::check("the number of paths", paths.len(), INDEX_PATHS_MAX)?;
                for path in paths {
                    Error::check("a path in bytes", path.len(), INDEX_PATH_BYTES_MAX)?;
                    at_path(value, &steps(path)?, &mut parts);
                }
            }
        }
        let text = parts.join("\n");
        Error::check(
            "the searched text in bytes",
            text.len(),
            INDEXED_TEXT_BYTES_MAX,
        )?;
        Ok(Some(text).filter(|text| !text.trim().is_empty()))
    }
}

/// All texts, in the order of the value.
fn texts(value: &Value, parts: &mut Vec<String>) {
    match value {
        Value::String(text) => parts.push(text.clone()),
        Value::Array(elements) => elements.iter().for_each(|one| texts(one, parts)),
        Value::Object(entries) => entries.values().for_each(|one| texts(one, parts)),
        _ => {}
    }
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PathStep {
    /// Into a name of an object.
    Name(String),
    /// To an element, from the end if negative.
    Element(i64),
    /// To every element of a list.
    Elements,
    /// To everything in an object or a list.
    Everything,
    /// To several parts, each by a path.
    Several(Vec<Vec<PathStep>>),
}

fn wrong(path: &str, why: &str) -> Error {
    Error::invalid("index", format!("the path {path:?}: {why}"))
}

fn steps(path: &str) -> Result<Vec<PathStep>> {
    let mut steps = Vec::new();
    let mut rest = path;
    if path == "$" {
        return Ok(steps);
    }
    while !rest.is_empty() {
        let end =
            match rest.as_bytes()[0] {
                b'.' => {
                    rest = &rest[1..];
                    continue;
                }
                b'[' => {
                    let end = rest.find(']').ok_or_else(|| wrong(path, "a [ has no ]"))?;
                    steps.push(match &rest[1..end] {
                        "*" => PathStep::Elements,
                        number => PathStep::Element(number.trim().parse().map_err(|_| {
                            wrong(path, "between [ and ] is neither a number nor *")
                        })?),
                    });
                    end + 1
                }
                b'{' => {
                    let end = rest.find('}').ok_or_else(|| wrong(path, "a { has no }"))?;
                    let inner = &rest[1..end];
                    if inner.contains('{') {
                        return Err(wrong(path, "a { stands within another"));
                    }
                    let several = inner.split(',').map(|part| self::steps(part.trim()));
                    steps.push(PathStep::Several(several.collect::<Result<_>>()?));
                    end + 1
                }
                _ => {
                    let end = rest.find(['.', '[', '{']).unwrap_or(rest.len());
                    steps.push(match &rest[..end] {
                        "*" => PathStep::Everything,
                        name => PathStep::Name(name.to_owned()),
                    });
                    end
                }
            };
        rest = &rest[end..];
    }
    if steps.is_empty() {
        return Err(wrong(path, "it names nothing: use $ for the whole value"));
    }
    Ok(steps)
}

fn at_path(value: &Value, path: &[PathStep], parts: &mut Vec<String>) {
    let Some((step, rest)) = path.split_first() else {
        match value {
            Value::Null => {}
            Value::String(text) => parts.push(text.clone()),
            other => parts.push(other.to_string()),
        }
        return;
    };
    match (step, value) {
        (PathStep::Name(name), Value::Object(entries)) => {
            if let Some(inner) = entries.get(name) {
                at_path(inner, rest, parts);
            }
        }
        (PathStep::Element(at), Value::Array(elements)) => {
            let at = match usize::try_from(*at) {
                Ok(at) => Some(at),
                Err(_) => usize::try_from(at.unsigned_abs())
                    .ok()
                    .and_then(|back| elements.len().checked_sub(back)),
            };
            if let Some(inner) = at.and_then(|at| elements.get(at)) {
                at_path(inner, rest, parts);
            }
        }
        (PathStep::Elements | PathStep::Everything, Value::Array(elements)) => elements
            .iter()
            .for_each(|inner| at_path(inner, rest, parts)),
        (PathStep::Everything, Value::Object(entries)) => entries
            .values()
            .for_each(|inner| at_path(inner, rest, parts)),
        (PathStep::Several(several), Value::Object(_)) => {
            for path in several {
                let whole: Vec<_> = path.iter().chain(rest).cloned().collect();
                at_path(value, &whole, parts);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(paths: &[&str], value: &Value) -> Option<String> {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        ItemIndex::Paths(paths).text(value).unwrap()
    }

    #[test]
    fn paths_find_parts() {
        let value = json!({"a": "x", "n": 3, "t": true, "z": null, "o": {"p": "y", "q": {"r": "w"}},
            "l": [{"c": "1"}, {"c": "2"}, "s"]});
        for (path, text) in [
            ("a", Some("x")),
            ("n", Some("3")),
            ("t", Some("true")),
            ("z", None),
            ("missing", None),
            ("o.p", Some("y")),
            ("o.q.r", Some("w")),
            ("o.q", Some(r#"{"r":"w"}"#)),
            ("o.*", Some("y\n{\"r\":\"w\"}")),
            ("l[0].c", Some("1")),
            ("l[-1]", Some("s")),
            ("l[-9]", None),
            ("l[9]", None),
            ("l[*].c", Some("1\n2")),
            ("l.*.c", Some("1\n2")),
            ("o.{p,q.r}", Some("y\nw")),
            ("{a, o.p}", Some("x\ny")),
            ("a[0]", None),
        ] {
            assert_eq!(found(&[path], &value).as_deref(), text, "{path}");
        }
        assert_eq!(found(&["a", "o.p"], &value).as_deref(), Some("x\ny"));
        assert_eq!(
            found(&["$"], &json!({"a": 1})).as_deref(),
            Some("{\"a\":1}")
        );
        assert_eq!(found(&[], &value), None);
        let all = ItemIndex::Texts.text(&value).unwrap();
        assert_eq!(all.as_deref(), Some("x\ny\nw\n1\n2\ns"));
        assert_eq!(ItemIndex::Nothing.text(&value).unwrap(), None);
    }

    #[test]
    fn paths_that_are_none_are_refused() {
        for path in ["", ".", "a[", "a[x]", "{a", "{a,{b}}"] {
            let index = ItemIndex::Paths(vec![path.to_owned()]);
            assert!(index.text(&json!({"a": 1})).is_err(), "{path}");
        }
        let many = ItemIndex::Paths(vec!["a".to_owned(); INDEX_PATHS_MAX + 1]);
        assert!(many.text(&json!({})).is_err());
    }
}
