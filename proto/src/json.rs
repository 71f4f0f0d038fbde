//! Messages of `amem.v1` as JSON: protobuf's canonical form, by the descriptors that the build compiled in.
//!
//! Promises: REST's answers and `amemctl --json` have one spelling of each field; a new field is there by itself. Not
//! here: reading requests (`amemd`), which is stricter than protobuf asks for.

use std::fmt;
use std::sync::LazyLock;

use prost::{DecodeError, Message, Name};
use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor};

use crate::v1;

static DESCRIPTORS: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let pool = DescriptorPool::decode(v1::DESCRIPTORS).unwrap_or_default();
    assert!(pool.files().next().is_some(), "the build makes descriptors");
    pool
});

/// Why a message has no JSON form.
#[derive(Debug)]
pub enum JsonError {
    /// The package has no message of this name.
    UnknownMessage(String),
    /// The bytes are not a message of this name.
    Bytes(String, DecodeError),
    /// A value has no form in JSON, such as a time outside the years 1 to 9999.
    Value(String, serde_json::Error),
}

impl fmt::Display for JsonError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownMessage(name) => write!(out, "there is no message {name}"),
            Self::Bytes(name, why) => write!(out, "{name}: {why}"),
            Self::Value(name, why) => write!(out, "{name}: {why}"),
        }
    }
}

impl std::error::Error for JsonError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::UnknownMessage(_) => None,
            Self::Bytes(_, why) => Some(why),
            Self::Value(_, why) => Some(why),
        }
    }
}

/// The descriptors of the package.
pub fn descriptors() -> &'static DescriptorPool {
    &DESCRIPTORS
}

/// The descriptor of a message by its name without the package.
pub fn descriptor(name: &str) -> Result<MessageDescriptor, JsonError> {
    let found = DESCRIPTORS.get_message_by_name(&format!("amem.v1.{name}"));
    found.ok_or_else(|| JsonError::UnknownMessage(name.to_owned()))
}

/// The JSON text of a message.
pub fn text<M: Message + Name>(message: &M) -> Result<String, JsonError> {
    let text = text_of_bytes(M::NAME, &message.encode_to_vec())?;
    // serde_json writes UTF-8.
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A message as JSON.
pub fn value<M: Message + Name>(message: &M) -> Result<serde_json::Value, JsonError> {
    // By way of the text: numbers of 32 bits keep their own digits, not those of their 64-bit neighbours.
    serde_json::from_str(&text(message)?).map_err(|why| JsonError::Value(M::NAME.to_owned(), why))
}

/// The JSON text of the message that these bytes encode; `name` is its name without the package.
pub fn text_of_bytes(name: &str, bytes: &[u8]) -> Result<Vec<u8>, JsonError> {
    let message = DynamicMessage::decode(descriptor(name)?, bytes);
    let message = message.map_err(|why| JsonError::Bytes(name.to_owned(), why))?;
    serde_json::to_vec(&message).map_err(|why| JsonError::Value(name.to_owned(), why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_canonical_form_of_json() {
        let event = v1::Event {
            id: 1 << 60,
            r#type: v1::EventType::Decision.into(),
            text: "ü".into(),
            confidence: 0.7,
            created_at: Some(crate::Timestamp {
                seconds: 1_700_000_000,
                nanos: 500_000,
            }),
            pinned: true,
            ..v1::Event::default()
        };
        let wanted = "{\"id\":\"1152921504606846976\",\"type\":\"EVENT_TYPE_DECISION\",\"text\":\"ü\",\
                      \"createdAt\":\"2023-11-14T22:13:20.000500Z\",\"confidence\":0.7,\"pinned\":true}";
        assert_eq!(value(&event).unwrap().to_string(), wanted);
        assert_eq!(text(&event).unwrap(), wanted);
        let bytes = event.encode_to_vec();
        assert_eq!(text_of_bytes("Event", &bytes).unwrap(), wanted.as_bytes());
        let unknown = text_of_bytes("Unheard", &bytes).unwrap_err();
        assert_eq!(unknown.to_string(), "there is no message Unheard");
    }

    #[test]
    fn a_time_that_rfc_3339_cannot_express_is_an_error() {
        let event = v1::Event {
            created_at: Some(crate::Timestamp {
                seconds: i64::MAX,
                nanos: 0,
            }),
            ..v1::Event::default()
        };
        assert!(matches!(value(&event), Err(JsonError::Value(..))));
    }
}
