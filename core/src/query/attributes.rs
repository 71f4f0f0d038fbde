//! Attributes at the border: the limits of the JSON object that an event may carry.
//!
//! Promises: what passes is an object within `limits::ATTRIBUTES_*`, and fits again when it is written.
//! Numbers are finite because `serde_json::Number` can hold no others.
//! Not here: what a filter makes of them (`filter`).

use serde_json::Value;

use crate::error::{Error, Result};
use crate::event::Attributes;
use crate::limits::{ATTRIBUTES_BYTES_MAX, ATTRIBUTES_DEPTH_MAX, ATTRIBUTES_KEYS_MAX};
use crate::query::place::{Place, kind_of};

/// Reads attributes from JSON and checks them.
pub fn parse(json: &str) -> Result<Attributes> {
    check_bytes(json.len())?;
    let value: Value = serde_json::from_str(json)
        .map_err(|e| Error::invalid("attributes", format!("not JSON: {e}")))?;
    let Value::Object(attributes) = value else {
        return Err(Error::invalid(
            "attributes",
            format!("{} at the top, where an object must be", kind_of(&value)),
        ));
    };
    validate(&attributes)?;
    Ok(attributes)
}

/// Checks attributes and writes them as they are stored: JSON without spaces, keys in their order.
pub fn to_json(attributes: &Attributes) -> Result<String> {
    let mut keys = 0;
    check_object(attributes, &Place::Top, 1, &mut keys)?;
    let json = serde_json::to_string(attributes)
        .map_err(|e| Error::invalid("attributes", e.to_string()))?;
    check_bytes(json.len())?;
    Ok(json)
}

/// Checks attributes against their limits: bytes as JSON, depth (the top is 1, arrays count), keys.
pub fn validate(attributes: &Attributes) -> Result<()> {
    to_json(attributes).map(|_| ())
}

fn check_bytes(bytes: usize) -> Result<()> {
    Error::check_limit(
        "the length of attributes in bytes",
        bytes as u64,
        ATTRIBUTES_BYTES_MAX as u64,
    )
}

fn check_object(
    object: &Attributes,
    place: &Place<'_>,
    depth: usize,
    keys: &mut usize,
) -> Result<()> {
    check_depth(place, depth)?;
    for (key, value) in object {
        let place = place.key(key);
        *keys += 1;
        if *keys > ATTRIBUTES_KEYS_MAX {
            return Err(Error::invalid(
                "attributes",
                format!("more keys than the limit of {ATTRIBUTES_KEYS_MAX}, from {place} on"),
            ));
        }
        check_value(value, &place, depth + 1, keys)?;
    }
    Ok(())
}

fn check_value(value: &Value, place: &Place<'_>, depth: usize, keys: &mut usize) -> Result<()> {
    match value {
        Value::Object(object) => check_object(object, place, depth, keys),
        Value::Array(array) => {
            check_depth(place, depth)?;
            array
                .iter()
                .enumerate()
                .try_for_each(|(i, element)| check_value(element, &place.index(i), depth + 1, keys))
        }
        _ => Ok(()),
    }
}

fn check_depth(place: &Place<'_>, depth: usize) -> Result<()> {
    if depth > ATTRIBUTES_DEPTH_MAX {
        return Err(Error::invalid(
            "attributes",
            format!("nested deeper than the limit of {ATTRIBUTES_DEPTH_MAX}, at {place}"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, why: &str) {
        let error = parse(json).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }

    fn nested(depth: usize, open: &str, close: &str) -> String {
        format!(
            "{{\"k\":{}1{}}}",
            open.repeat(depth - 1),
            close.repeat(depth - 1)
        )
    }

    #[test]
    fn an_object_is_kept_as_it_is() {
        let json = r#"{"z":1,"a":{"b":[1,{"c":null}]},"big":18446744073709551615,"x":-0.5}"#;
        assert_eq!(to_json(&parse(json).unwrap()).unwrap(), json);
    }

    #[test]
    fn what_is_not_an_object_is_refused() {
        check("[1]", "an array at the top, where an object must be");
        check("null", "null at the top");
        check("{", "not JSON: EOF");
        check(r#"{"a":NaN}"#, "not JSON: expected value at line 1");
        check(r#"{"a":1e999}"#, "not JSON: number out of range at line 1");
    }

    #[test]
    fn depth_eight_is_the_last() {
        for (open, close) in [(r#"{"k":"#, "}"), ("[", "]")] {
            parse(&nested(8, open, close)).unwrap();
            check(
                &nested(9, open, close),
                "nested deeper than the limit of 8, at \"k",
            );
        }
        check(&nested(9, r#"{"k":"#, "}"), "\"k.k.k.k.k.k.k.k\"");
        check(
            &nested(50_000, "[", "]")[..60_000],
            "not JSON: recursion limit",
        );
    }

    #[test]
    fn key_256_is_the_last_wherever_it_is() {
        let object = |count| {
            let keys: Vec<_> = (0..count).map(|i| format!("\"k{i}\":{i}")).collect();
            format!("{{\"list\":[{{{}}}]}}", keys.join(","))
        };
        parse(&object(255)).unwrap();
        check(
            &object(256),
            "more keys than the limit of 256, from \"list[0].k255\" on",
        );
    }

    #[test]
    fn byte_65536_is_the_last() {
        let json = |bytes: usize| format!("{{\"k\":\"{}\"}}", "x".repeat(bytes - 8));
        assert_eq!(json(100).len(), 100);
        let largest = parse(&json(ATTRIBUTES_BYTES_MAX)).unwrap();
        validate(&largest).unwrap();
        check(
            &json(ATTRIBUTES_BYTES_MAX + 1),
            "is 65537, more than the limit of 65536",
        );
    }

    #[test]
    fn attributes_made_in_memory_are_measured_as_json() {
        let mut attributes = Attributes::new();
        attributes.insert("k".into(), "\u{1}".repeat(20_000).into());
        let error = validate(&attributes).unwrap_err();
        assert!(
            matches!(error, Error::Limit { value: 120_008, .. }),
            "{error}"
        );
    }
}
