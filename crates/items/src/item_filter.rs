//! Filters of values: JSON objects of names with the values that they must be equal to, or with operators.
//!
//! `{"a": 1}` and `{"a": {"$eq": 1}}` say the same for a number. Objects match by the names that they have, lists
//! element by element; a name that is not there is null. Numbers are compared as numbers: 1 equals 1.0. Numbers, and
//! texts that are numbers, are ordered as numbers, other texts by code points; nothing else is ordered.

use std::cmp::Ordering;

use amem_format::attributes::Number;
use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::limits::FILTER_BYTES_MAX;

const OPERATORS: [&str; 6] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];

/// What values must match; everything matches the default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ItemFilter(Map<String, Value>);

impl ItemFilter {
    /// Reads a filter; an empty text is one that everything matches. Errors: no JSON object, an unknown operator, an
    /// operator beside a name, more than the limit.
    pub fn parse(json: &str) -> Result<Self> {
        if json.is_empty() {
            return Ok(Self::default());
        }
        Error::check("the filter in bytes", json.len(), FILTER_BYTES_MAX)?;
        let filter: Map<String, Value> = serde_json::from_str(json)
            .map_err(|e| Error::invalid("filter_json", format!("no JSON object: {e}")))?;
        if let Some(name) = filter.keys().find(|name| name.starts_with('$')) {
            let why = format!("{name} stands where a name of the value is expected");
            return Err(Error::invalid("filter_json", why));
        }
        filter.values().try_for_each(check)?;
        Ok(Self(filter))
    }

    /// True if every value matches.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a value matches.
    pub fn matches(&self, value: &Map<String, Value>) -> bool {
        has_all(value, &self.0)
    }
}

/// Refuses what no value could ever match as it is meant.
fn check(wanted: &Value) -> Result<()> {
    match wanted {
        Value::Object(entries) => {
            let operators = entries.keys().filter(|name| name.starts_with('$')).count();
            if operators > 0 && operators < entries.len() {
                let why = "an object has operators and names: use one or the other";
                return Err(Error::invalid("filter_json", why));
            }
            if operators == 0 {
                return entries.values().try_for_each(check);
            }
            match entries
                .keys()
                .find(|name| !OPERATORS.contains(&name.as_str()))
            {
                Some(name) => {
                    let why = format!("unknown operator {name}: use {}", OPERATORS.join(", "));
                    Err(Error::invalid("filter_json", why))
                }
                None => Ok(()),
            }
        }
        Value::Array(elements) => elements.iter().try_for_each(check),
        _ => Ok(()),
    }
}

fn has_all(value: &Map<String, Value>, wanted: &Map<String, Value>) -> bool {
    wanted
        .iter()
        .all(|(name, wanted)| matches(value.get(name).unwrap_or(&Value::Null), wanted))
}

fn matches(found: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::Object(entries) if entries.keys().any(|name| name.starts_with('$')) => entries
            .iter()
            .all(|(operator, operand)| holds(found, operator, operand)),
        Value::Object(entries) => found
            .as_object()
            .is_some_and(|found| has_all(found, entries)),
        Value::Array(elements) => found.as_array().is_some_and(|found| {
            found.len() == elements.len() && found.iter().zip(elements).all(|(a, b)| matches(a, b))
        }),
        wanted => is_equal(found, wanted),
    }
}

fn holds(found: &Value, operator: &str, operand: &Value) -> bool {
    match operator {
        "$eq" => is_equal(found, operand),
        "$ne" => !is_equal(found, operand),
        _ => order(found, operand).is_some_and(|order| match operator {
            "$gt" => order == Ordering::Greater,
            "$gte" => order != Ordering::Less,
            "$lt" => order == Ordering::Less,
            _ => order != Ordering::Greater,
        }),
    }
}

/// Equality of whole values.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (Number::new(a), Number::new(b)) {
            (Some(a), Some(b)) => a.canonical() == b.canonical(),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, a): (&String, &Value)| b.get(name).is_some_and(|b| is_equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        (a, b) => a == b,
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Value::Number(a), Value::Number(b)) = (a, b)
        && let (Some(a), Some(b)) = (a.as_i64(), b.as_i64())
    {
        return Some(a.cmp(&b));
    }
    match (as_number(a), as_number(b)) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => match (a, b) {
            (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn conditions_hold_as_they_say() {
        let value = json!({"n": 5, "f": 5.0, "s": "red", "t": "10", "d": "2024-05-01", "b": true, "z": null,
            "o": {"x": 1, "y": {"z": 2}}, "l": [1, {"x": 2}]});
        let value = value.as_object().unwrap();
        for (filter, is_match) in [
            (json!({}), true),
            (json!({"n": 5}), true),
            (json!({"n": 5.0, "f": 5}), true),
            (json!({"n": "5"}), false),
            (json!({"b": 1}), false),
            (json!({"s": "red", "n": 6}), false),
            (json!({"missing": null, "z": null}), true),
            (json!({"missing": {"$ne": 1}}), true),
            (json!({"missing": {"$gt": 1}}), false),
            (
                json!({"n": {"$eq": 5, "$ne": 6, "$gt": 4.99, "$gte": 5, "$lt": 6, "$lte": 5}}),
                true,
            ),
            (json!({"n": {"$gt": 5}}), false),
            (json!({"n": {"$gt": 1, "$lt": 5}}), false),
            (json!({"t": {"$gt": 9}}), true),
            (json!({"t": {"$gt": "9"}}), true),
            (
                json!({"d": {"$gte": "2024-04-30", "$lt": "2024-05-02"}}),
                true,
            ),
            (json!({"s": {"$gt": 1}}), false),
            (json!({"o": {"x": 1}}), true),
            (json!({"o": {"y": {"z": {"$lt": 3}}}}), true),
            (json!({"o": {"$eq": {"x": 1}}}), false),
            (json!({"o": {"$eq": {"x": 1.0, "y": {"z": 2}}}}), true),
            (json!({"o": 1, "n": 5}), false),
            (json!({"l": [1, {"x": 2}]}), true),
            (json!({"l": [1, {}]}), true),
            (json!({"l": [1]}), false),
            (json!({"l": {"$eq": [1, {}]}}), false),
        ] {
            let parsed = ItemFilter::parse(&filter.to_string()).unwrap();
            assert_eq!(parsed.matches(value), is_match, "{filter}");
        }
    }

    #[test]
    fn filters_that_cannot_be_meant_are_refused() {
        for filter in [
            "[]",
            "{",
            r#"{"$eq": 1}"#,
            r#"{"a": {"$in": [1]}}"#,
            r#"{"a": {"$gt": 1, "b": 2}}"#,
            r#"{"a": [{"$foo": 1}]}"#,
        ] {
            assert!(ItemFilter::parse(filter).is_err(), "{filter}");
        }
    }
}
