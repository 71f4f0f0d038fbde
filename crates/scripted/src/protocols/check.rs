//! Checks that several providers share.

use serde_json::{Map, Value};

use crate::fault::Fault;

/// The fields of an object; a refusal in the words that `say` makes of the first unknown one.
pub(super) fn known_fields(
    body: &Value,
    known: &str,
    say: impl Fn(&str) -> Fault,
) -> Result<(), Fault> {
    let fields = body.as_object().into_iter().flat_map(Map::keys);
    for field in fields {
        if !known.split_whitespace().any(|name| name == field) {
            return Err(say(field));
        }
    }
    Ok(())
}

/// The path of the first object in a schema that is not strict, and what it lacks.
pub(super) fn laxity(schema: &Value, path: &str) -> Option<(String, &'static str)> {
    if let Some(properties) = schema["properties"].as_object() {
        if schema["additionalProperties"] != Value::Bool(false) {
            return Some((
                path.to_owned(),
                "'additionalProperties' is required to be supplied and to be false",
            ));
        }
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if properties
            .keys()
            .any(|name| !required.contains(&name.as_str()))
        {
            return Some((
                path.to_owned(),
                "'required' is required to be supplied and to be an array including every key in properties",
            ));
        }
        for (name, inner) in properties {
            if let Some(found) = laxity(inner, &format!("{path}.{name}")) {
                return Some(found);
            }
        }
    }
    if schema["enum"].as_array().is_some_and(Vec::is_empty) {
        return Some((path.to_owned(), "'enum' must not be empty"));
    }
    let items = schema.get("items")?;
    laxity(items, &format!("{path}[]"))
}

/// Tokens of a text, roughly.
pub(super) fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
