//! Reads messages from JSON: the canonical form of protobuf, as `amem_proto::json` writes it.
//!
//! Promises: an unknown field is refused, and so is one that is there in both of its spellings; a message that would
//! take more memory than by gRPC is refused before it is made.

use amem_proto::answer::Code;
use amem_proto::json::{self, JsonError};
use prost::Message;
use prost_reflect::{DeserializeOptions, DynamicMessage, Kind, MessageDescriptor, Value as Field};
use serde_json::{Map, Value};

use crate::grpc::decoded_bytes;
use crate::ingress::load::HeldBytes;
use crate::limits::{DECODED_TIMES_MAX, MESSAGE_BYTES_MAX};
use crate::refusal::{Refusal, Result};

/// The descriptor of a message by its name without the package.
fn descriptor(name: &str) -> Result<MessageDescriptor> {
    json::descriptor(name).map_err(internal)
}

/// A message that the build should have, or that a call should not answer.
fn internal(why: JsonError) -> Refusal {
    Refusal::internal(why.to_string())
}

/// Reads a message, as bytes; `complete` adds what is not in the body. What is the same for every message is compiled
/// once.
pub(super) fn read(
    name: &str,
    body: Map<String, Value>,
    held: &HeldBytes,
    complete: &dyn Fn(&mut DynamicMessage) -> Result<()>,
) -> Result<Vec<u8>> {
    const STRICT: DeserializeOptions = DeserializeOptions::new().deny_unknown_fields(true);
    let descriptor = descriptor(name)?;
    let body = Value::Object(body);
    check_spellings(&descriptor, &body)?;
    let read = DynamicMessage::deserialize_with_options(descriptor, body, &STRICT);
    let mut message = read.map_err(|why| {
        Refusal::invalid(
            "body",
            format!("it is not {name} of amem.v1 as JSON: {why}"),
        )
    })?;
    complete(&mut message)?;
    let bytes = message.encode_to_vec();
    drop(message);
    let decoded = decoded_bytes(name, &bytes).unwrap_or_default();
    let decoded_max = MESSAGE_BYTES_MAX as u64 * DECODED_TIMES_MAX;
    if decoded > decoded_max {
        let message = format!(
            "the message would take more than {decoded_max} bytes of memory, the limit: send fewer parts per request"
        );
        return Err(Refusal::new(
            Code::ResourceExhausted,
            "MESSAGE_SIZE",
            message,
        ));
    }
    held.hold(bytes.len() as u64 + decoded)?;
    Ok(bytes)
}

/// A field may be written as `eventIds` and as `event_ids`: refuses both in one object.
fn check_spellings(descriptor: &MessageDescriptor, value: &Value) -> Result<()> {
    let Value::Object(object) = value else {
        return Ok(());
    };
    for (name, value) in object {
        let field = descriptor.get_field_by_json_name(name);
        let Some(field) = field.or_else(|| descriptor.get_field_by_name(name)) else {
            continue;
        };
        let other = match name == field.name() {
            true => field.json_name(),
            false => field.name(),
        };
        if other != name && object.contains_key(other) {
            let why = format!("it is there twice, also as {other}: send it once");
            return Err(Refusal::invalid(name, why));
        }
        let Kind::Message(inner) = field.kind() else {
            continue;
        };
        match value {
            Value::Array(list) => {
                for item in list {
                    check_spellings(&inner, item)?;
                }
            }
            // The keys of a map are the caller's own. No message of amem.v1 has one.
            value if !field.is_map() => check_spellings(&inner, value)?,
            _ => {}
        }
    }
    Ok(())
}

/// A message of these bytes as JSON.
pub(super) fn encoded(name: &str, bytes: &[u8]) -> Result<Vec<u8>> {
    json::text_of_bytes(name, bytes).map_err(internal)
}

/// Sets a text; an error if the message has another one.
pub(super) fn set_text(
    message: &mut DynamicMessage,
    field: &str,
    text: &str,
    given_by: &str,
) -> Result<()> {
    let before = message.get_field_by_name(field);
    let before = before.and_then(|value| value.as_str().map(str::to_owned));
    match before {
        None => Err(Refusal::internal(format!(
            "the message has no text {field}"
        ))),
        Some(before) if !before.is_empty() && before != text => {
            let why = format!("{given_by} has another value: name one");
            Err(Refusal::invalid(field, why))
        }
        Some(_) => {
            message.set_field_by_name(field, Field::String(text.to_owned()));
            Ok(())
        }
    }
}

/// The options of a query as the body of a message: fields of messages inside as `scope.user`.
pub(super) fn body_of_query(name: &str, options: Map<String, Value>) -> Result<Map<String, Value>> {
    let mut body = Map::new();
    for (option, value) in options {
        let mut parts: Vec<_> = option.split('.').collect();
        let last = parts.pop().unwrap_or_default();
        let (mut at, mut inside) = (Some(descriptor(name)?), &mut body);
        for part in parts {
            at = at.and_then(|at| match field(&at, part)?.kind() {
                Kind::Message(inner) => Some(inner),
                _ => None,
            });
            let object = inside
                .entry(part)
                .or_insert_with(|| Value::Object(Map::new()));
            inside = object.as_object_mut().ok_or_else(|| {
                Refusal::invalid(&option, "it is there twice, with and without a dot")
            })?;
        }
        let value = match at.and_then(|at| field(&at, last)) {
            Some(field) => of_query(&option, &field, value)?,
            // Reading the message refuses it.
            None => value,
        };
        if inside.insert(last.to_owned(), value).is_some() {
            return Err(Refusal::invalid(&option, "it is there twice: send it once"));
        }
    }
    Ok(body)
}

fn field(message: &MessageDescriptor, name: &str) -> Option<prost_reflect::FieldDescriptor> {
    let field = message.get_field_by_json_name(name);
    field.or_else(|| message.get_field_by_name(name))
}

/// A text of a query, or several, as the JSON of a field. Numbers may be texts in JSON of protobuf.
fn of_query(option: &str, field: &prost_reflect::FieldDescriptor, value: Value) -> Result<Value> {
    let one = |value: Value| match (field.kind(), value) {
        (Kind::Bool, Value::String(text)) if text == "true" => Ok(Value::Bool(true)),
        (Kind::Bool, Value::String(text)) if text == "false" => Ok(Value::Bool(false)),
        (Kind::Bool, _) => Err(Refusal::invalid(option, "it must be true or false")),
        (_, value) => Ok(value),
    };
    match (field.is_list(), value) {
        (true, Value::Array(list)) => {
            let list: Result<Vec<_>> = list.into_iter().map(one).collect();
            Ok(Value::Array(list?))
        }
        (true, value) => Ok(Value::Array(vec![one(value)?])),
        (false, Value::Array(_)) => Err(Refusal::invalid(
            option,
            "it is there twice, with different values: send it once",
        )),
        (false, value) => one(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn body(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn options_of_a_query_become_fields() {
        let options = json!({
            "after_lsn": "7",
            "types": ["EVENT_TYPE_FACT", "EVENT_TYPE_SKILL"],
            "session_ids": "3",
            "includeVectors": "true",
            "scope.user": "ada",
            "unheard": "x",
        });
        let read = body_of_query("SubscribeRequest", body(options)).unwrap();
        let wanted = json!({
            "after_lsn": "7",
            "types": ["EVENT_TYPE_FACT", "EVENT_TYPE_SKILL"],
            "session_ids": ["3"],
            "includeVectors": true,
            "scope": {"user": "ada"},
            "unheard": "x",
        });
        assert_eq!(Value::Object(read), wanted);
        for bad in [
            json!({"include_vectors": "yes"}),
            json!({"instance": ["a", "b"]}),
            json!({"scope": "x", "scope.user": "ada"}),
        ] {
            assert!(
                body_of_query("SubscribeRequest", body(bad.clone())).is_err(),
                "{bad}"
            );
        }
    }

    #[test]
    fn both_spellings_of_a_field_are_refused_at_any_depth() {
        let descriptor = descriptor("IngestRequest").unwrap();
        for (value, good) in [
            (json!({"events": [{"attributesJson": "{}"}]}), true),
            (json!({"events": [{"attributes_json": "{}"}]}), true),
            (
                json!({"events": [{"attributesJson": "{}", "attributes_json": "{}"}]}),
                false,
            ),
            (
                json!({"options": {"requestId": "a", "request_id": "b"}}),
                false,
            ),
            (json!({"events": "x", "unheard": {"a": 1}}), true),
        ] {
            let checked = check_spellings(&descriptor, &value);
            assert_eq!(checked.is_ok(), good, "{value}");
        }
    }
}
