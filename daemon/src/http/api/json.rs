//! Bodies as JSON: strict, so that two readers of one body cannot disagree.
//!
//! Promises: an object with one key twice is refused, and so are values beyond the limits, before they take memory.

use std::cell::Cell;
use std::fmt;

use amem_proto::answer::Code;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::limits::{HTTP_JSON_DEPTH_MAX, HTTP_JSON_VALUES_MAX};
use crate::refusal::{Refusal, Result};

/// An object, and how many values it has in all.
pub(super) fn object(bytes: &[u8]) -> Result<(Map<String, Value>, usize)> {
    let refused = |why: &dyn fmt::Display| {
        let message = format!("the body is not what it must be, an object in JSON: {why}");
        Refusal::new(Code::InvalidArgument, "JSON", message)
    };
    let text = std::str::from_utf8(bytes).map_err(|e| refused(&e))?;
    let values = Cell::new(0);
    let seed = StrictValue {
        depth: 0,
        values: &values,
    };
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = seed.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    match value.map_err(|e| refused(&e))? {
        Value::Object(object) => Ok((object, values.get())),
        _ => Err(refused(&"it is another value")),
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct StrictValue<'c> {
    /// Objects and lists around it.
    depth: usize,
    /// Values so far.
    values: &'c Cell<usize>,
}

impl StrictValue<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        if self.values.get() > HTTP_JSON_VALUES_MAX {
            return Err(E::custom(format_args!(
                "it has more than {HTTP_JSON_VALUES_MAX} values"
            )));
        }
        Ok(())
    }

    fn inner<E: Error>(self) -> Result<Self, E> {
        let depth = self.depth + 1;
        if depth > HTTP_JSON_DEPTH_MAX {
            return Err(E::custom(format_args!(
                "it has more than {HTTP_JSON_DEPTH_MAX} objects and lists inside each other"
            )));
        }
        Ok(Self { depth, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for StrictValue<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        self.count()?;
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number is not finite"))?;
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!(
                    "the key {key:?} is there twice"
                )));
            }
            let value = entries.next_value_seed(inner)?;
            object.insert(key, value);
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_object_is_read_as_serde_json_reads_it() {
        let text = r#"{"a": [1, -2, 2.5, "x\u00e9", null, true, {"b": {}}], "c": "ü"}"#;
        let (object, values) = object(text.as_bytes()).unwrap();
        assert_eq!(
            Value::Object(object),
            serde_json::from_str::<Value>(text).unwrap()
        );
        assert_eq!(values, 11);
    }

    #[test]
    fn what_two_readers_may_read_differently_is_refused_and_so_is_too_much() {
        let deep =
            |depth: usize| format!("{}{}{}", "{\"a\":".repeat(depth), "1", "}".repeat(depth));
        let wide = json!({"a": vec![1; HTTP_JSON_VALUES_MAX]}).to_string();
        for (text, words) in [
            (r#"{"a": 1, "a": 2}"#.into(), "\"a\" is there twice"),
            (r#"{"a": {"b": 1, "b": 1}}"#.into(), "\"b\" is there twice"),
            (deep(HTTP_JSON_DEPTH_MAX + 1), "inside each other"),
            (deep(100_000), "inside each other"),
            (wide, "values"),
            ("[1]".into(), "another value"),
            (r#"{"a": 1} x"#.into(), "trailing"),
            (r#"{"a": 1"#.into(), "EOF"),
            (r#"{"a": NaN}"#.into(), "line 1"),
            (String::new(), "EOF"),
        ] {
            let refusal = object(text.as_bytes()).unwrap_err();
            assert_eq!(refusal.reason, "JSON");
            assert!(
                refusal.message.contains(words),
                "{words}: {}",
                refusal.message
            );
        }
        assert!(object(deep(HTTP_JSON_DEPTH_MAX).as_bytes()).is_ok());
        assert!(
            object(b"{\"a\": \"\xff\"}")
                .unwrap_err()
                .message
                .contains("utf-8")
        );
    }
}
