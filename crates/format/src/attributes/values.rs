//! Hashes for the attribute index: one per path and value of an event, and one of its speaker's first name.
//!
//! Promises: equal values under one path have the same hash; different ones may collide.

use xxhash_rust::xxh3::xxh3_64;

use super::number::Number;
use super::object::{SPEAKER, speaker_of};
use crate::event::Attributes;
use crate::limits::INDEXED_VALUES_MAX;

/// Separates path and value: UTF-8 never contains this byte.
const SEPARATOR: u8 = 0xFF;

/// A JSON value that is neither an array nor an object.
#[derive(Debug, Clone, Copy)]
pub enum ScalarValue<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(&'a str),
}

impl<'a> ScalarValue<'a> {
    fn new(value: &'a serde_json::Value) -> Option<Self> {
        match value {
            serde_json::Value::Null => Some(Self::Null),
            serde_json::Value::Bool(b) => Some(Self::Bool(*b)),
            serde_json::Value::Number(n) => Number::new(n).map(Self::Number),
            serde_json::Value::String(s) => Some(Self::Text(s)),
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => None,
        }
    }
}

/// The hashes of all values of an event, ascending, without duplicates; `None` if the index does not cover the event:
/// it has more than `INDEXED_VALUES_MAX` values, or `json` is not an object.
pub fn values_of(json: &str) -> Option<Vec<u64>> {
    let attributes: Attributes = serde_json::from_str(json).ok()?;
    let mut values = ValueHashes::default();
    values.object(&attributes).then_some(())?;
    let mut hashes = values.hashes;
    let speaker = speaker_of(&attributes).and_then(first_name);
    hashes.extend(speaker.as_deref().map(speaker_hash));
    hashes.sort_unstable();
    hashes.dedup();
    Some(hashes)
}

/// Collects hashes; `path` leads to the current value.
#[derive(Default)]
struct ValueHashes {
    path: Vec<u8>,
    hashes: Vec<u64>,
}

impl ValueHashes {
    /// False once there are more than `INDEXED_VALUES_MAX`.
    fn object(&mut self, object: &Attributes) -> bool {
        let len = self.path.len();
        object.iter().all(|(key, value)| {
            self.path.extend_from_slice(key.as_bytes());
            let goes_on = self.value(value);
            self.path.truncate(len);
            goes_on
        })
    }

    fn value(&mut self, value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Array(elements) => {
                elements.iter().all(|element| self.value(element))
            }
            serde_json::Value::Object(object) => {
                let len = self.path.len();
                self.path.push(b'.');
                let goes_on = self.object(object);
                self.path.truncate(len);
                goes_on
            }
            _ => {
                let value = ScalarValue::new(value);
                self.hashes
                    .extend(value.map(|value| hash(&mut self.path, &value)));
                self.hashes.len() <= INDEXED_VALUES_MAX
            }
        }
    }
}

/// The hash of a value under a path; restores `path`.
pub fn hash(path: &mut Vec<u8>, value: &ScalarValue<'_>) -> u64 {
    let len = path.len();
    path.push(SEPARATOR);
    match value {
        ScalarValue::Null => path.push(0),
        ScalarValue::Bool(b) => path.extend_from_slice(&[1, u8::from(*b)]),
        ScalarValue::Number(n) => {
            path.push(2);
            path.extend_from_slice(&n.canonical());
        }
        ScalarValue::Text(text) => {
            path.push(3);
            path.extend_from_slice(text.as_bytes());
        }
    }
    let hash = xxh3_64(path);
    path.truncate(len);
    hash
}

/// The first name of a speaker, in lower case; `None` if there is no letter or digit.
pub fn first_name(speaker: &str) -> Option<String> {
    let mut names = speaker.split(|c: char| !c.is_alphanumeric());
    names.find(|name| !name.is_empty()).map(str::to_lowercase)
}

/// The hash under which events are listed by the first name of their speaker (`first_name`), whatever else it says.
pub fn speaker_hash(first_name: &str) -> u64 {
    let mut path = SPEAKER.as_bytes().to_vec();
    path.extend_from_slice(&[SEPARATOR, 4]);
    path.extend_from_slice(first_name.as_bytes());
    xxh3_64(&path)
}
