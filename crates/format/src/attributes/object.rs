//! Validation of attributes against their limits.
//!
//! Promises: a validated object is within `limits::ATTRIBUTES_*`, also after it is written and read again. `ORIGIN` has
//! a limit of its own, so that a merge can add it to any event. Numbers are finite: `serde_json::Number` holds no
//! others; a text whose numbers or keys a value would lose is refused (`lossless`).
//! Not here: filters (`amem-query`).

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use super::json_path::{JsonPath, kind_of};
use super::lossless;
use crate::error::{Error, Result};
use crate::event::Attributes;
use crate::limits::{
    ATTRIBUTES_BYTES_MAX, ATTRIBUTES_DEPTH_MAX, ATTRIBUTES_KEYS_MAX, ORIGIN_BYTES_MAX,
};

/// The attribute that names where a merged event was first recorded. Only the writer sets it. It does not count towards
/// the limits of other attributes, and an erase preserves it.
pub const ORIGIN: &str = "amem.origin";

/// The attribute that says why a correction was made.
pub const REASON: &str = "amem.reason";

/// The attribute that says who spoke, in conversations.
pub(super) const SPEAKER: &str = "speaker";

/// Why an event replaced another, by its attributes as JSON; `None` if they give no reason, or are damaged.
pub fn reason(json: &str) -> Option<String> {
    text_of(json, REASON)
}

/// Who spoke, by an event's attributes as JSON; `None` if they do not say it, or are damaged.
pub fn speaker(json: &str) -> Option<String> {
    text_of(json, SPEAKER)
}

/// Who spoke, by an event's attributes; `None` if they do not say it.
pub(super) fn speaker_of(attributes: &Attributes) -> Option<&str> {
    let speaker = attributes.get(SPEAKER)?.as_str()?;
    Some(speaker).filter(|speaker| !speaker.is_empty())
}

fn text_of(json: &str, key: &str) -> Option<String> {
    if !json.contains(key) {
        return None;
    }
    let mut reader = serde_json::Deserializer::from_str(json);
    match KeyValue(key).deserialize(&mut reader).ok()? {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Reads the value of one key of an object, and passes over the others without building them.
struct KeyValue<'k>(&'k str);

impl<'de> DeserializeSeed<'de> for KeyValue<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for KeyValue<'_> {
    type Value = Option<Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == self.0 {
                found = Some(map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// True if attributes consist of `ORIGIN`, the only attribute that an erased event may have.
pub fn is_only_origin(json: &str) -> bool {
    parse(json).is_ok_and(|object| !object.is_empty() && object.keys().all(|key| key == ORIGIN))
}

/// Parses and validates attributes.
pub fn parse(json: &str) -> Result<Attributes> {
    if json.len() > ATTRIBUTES_BYTES_MAX + ORIGIN_BYTES_MAX {
        check_bytes(json.len())?;
    }
    let value: Value = serde_json::from_str(json)
        .map_err(|e| Error::invalid("attributes", format!("not JSON: {e}")))?;
    lossless::check(json)?;
    let Value::Object(attributes) = value else {
        return Err(Error::invalid(
            "attributes",
            format!("{} at the top, where an object must be", kind_of(&value)),
        ));
    };
    validate(&attributes)?;
    Ok(attributes)
}

/// Validates attributes and returns their stored form: JSON without spaces, keys in their order.
pub fn to_json(attributes: &Attributes) -> Result<String> {
    let mut keys = 0;
    check_object(attributes, &JsonPath::Top, 1, &mut keys)?;
    let json = serde_json::to_string(attributes)
        .map_err(|e| Error::invalid("attributes", e.to_string()))?;
    check_bytes(json.len() - origin_bytes(attributes)?)?;
    Ok(json)
}

/// The bytes of `ORIGIN` in the JSON, its name included.
fn origin_bytes(attributes: &Attributes) -> Result<usize> {
    let Some(origin) = attributes.get(ORIGIN) else {
        return Ok(0);
    };
    // The quoted name, a colon, and a comma if there are other attributes.
    let around = ORIGIN.len() + 3 + usize::from(attributes.len() > 1);
    let bytes = origin.to_string().len() + around;
    Error::check_limit(
        "the length of amem.origin in bytes",
        bytes as u64,
        ORIGIN_BYTES_MAX as u64,
    )?;
    Ok(bytes)
}

/// Checks the limits: bytes as JSON, depth (the object itself is 1, arrays count), keys.
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
    place: &JsonPath<'_>,
    depth: usize,
    keys: &mut usize,
) -> Result<()> {
    check_depth(place, depth)?;
    for (key, value) in object {
        if depth == 1 && key == ORIGIN {
            check_value(value, &place.key(key), depth + 1, &mut 0)?;
            continue;
        }
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

fn check_value(value: &Value, place: &JsonPath<'_>, depth: usize, keys: &mut usize) -> Result<()> {
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

fn check_depth(place: &JsonPath<'_>, depth: usize) -> Result<()> {
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
        check(r#"{"a":1e-400}"#, "the number 1e-400 would lose digits");
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
    fn where_an_event_comes_from_has_room_of_its_own() {
        let mut full = Attributes::new();
        for at in 0..ATTRIBUTES_KEYS_MAX {
            full.insert(format!("k{at:03}"), "x".into());
        }
        let rest = ATTRIBUTES_BYTES_MAX - to_json(&full).unwrap().len();
        full.insert("k000".into(), "x".repeat(rest + 1).into());
        assert_eq!(to_json(&full).unwrap().len(), ATTRIBUTES_BYTES_MAX);
        full.insert(ORIGIN.into(), serde_json::json!({"time": 1, "agent": "a"}));
        let json = to_json(&full).unwrap();
        assert_eq!(parse(&json).unwrap(), full);
        full.insert("k000".into(), "x".repeat(rest + 2).into());
        assert!(validate(&full).is_err());
        let alone = |len| Attributes::from_iter([(ORIGIN.to_owned(), "x".repeat(len).into())]);
        validate(&alone(ORIGIN_BYTES_MAX - ORIGIN.len() - 5)).unwrap();
        assert!(validate(&alone(ORIGIN_BYTES_MAX)).is_err());
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
