//! Events, edges and times in words, and as exported lines have them.

use std::collections::HashMap;

use amem_client::{Timestamp, v1};
use amem_format::attributes::ORIGIN;
use amem_format::event::Edge;
use amem_format::{EdgeType, EventType, Flags, Micros};
use amem_query::time;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::authors;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::when;

/// RFC 3339, or microseconds since 1970 for years that it cannot express.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Micros);

impl Time {
    /// Fails if the answer lacks the time.
    pub(crate) fn of(time: Option<Timestamp>) -> Result<Self, Failure> {
        let time = time.ok_or_else(|| odd("time", "it is not there"))?;
        let micros = time
            .seconds
            .checked_mul(1_000_000)
            .and_then(|at| at.checked_add(i64::from(time.nanos) / 1000));
        micros
            .map(|at| Self(Micros(at)))
            .ok_or_else(|| odd("time", "it is out of range"))
    }
}

impl Time {
    pub(crate) fn maybe(time: Option<Timestamp>) -> Result<Option<Self>, Failure> {
        time.map(|time| Self::of(Some(time))).transpose()
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match time::format(self.0) {
            Ok(text) => serializer.serialize_str(&text),
            Err(_) => serializer.serialize_i64(self.0.0),
        }
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum TimeForm {
            Micros(i64),
            Text(String),
        }
        match TimeForm::deserialize(deserializer)? {
            TimeForm::Micros(micros) => Ok(Self(Micros(micros))),
            TimeForm::Text(text) => when::parse_time(&text)
                .map(Self)
                .map_err(serde::de::Error::custom),
        }
    }
}

const FLAGS: [(Flags, &str); 4] = [
    (Flags::PINNED, "pinned"),
    (Flags::FORGOTTEN, "forgotten"),
    (Flags::COMPRESSED, "compressed"),
    (Flags::ERASED, "erased"),
];

/// Without the flags that only say which other fields exist.
pub(crate) fn flag_names(flags: Flags) -> Vec<&'static str> {
    let set = FLAGS.iter().filter(|(flag, _)| flags.has(*flag));
    set.map(|(_, name)| *name).collect()
}

pub(crate) fn flag_of(name: &str) -> Option<Flags> {
    let found = FLAGS.iter().find(|(_, known)| *known == name);
    found.map(|(flag, _)| *flag)
}

/// A 32-bit number with its shortest digits, not those of its 64-bit neighbour.
pub(crate) fn number(value: f32) -> serde_json::Value {
    serde_json::from_str(&value.to_string()).unwrap_or(serde_json::Value::Null)
}

/// True for a forgotten event that others are reached through: it has no more than an id.
pub(crate) fn is_stub(event: &v1::Event) -> bool {
    event.created_at.is_none()
}

/// Who recorded an event, in words; empty if unknown.
pub(crate) fn author(event: &v1::Event) -> String {
    authors::author(&event.by, &event.agent, !is_merged(event))
}

/// The agent that recorded an event, else the user.
pub(crate) fn author_short(event: &v1::Event) -> String {
    authors::short(&event.by, &event.agent, !is_merged(event))
}

/// True if another brain recorded it first, perhaps on another machine.
fn is_merged(event: &v1::Event) -> bool {
    let keys = serde_json::from_str::<HashMap<String, IgnoredAny>>(&event.attributes_json);
    keys.is_ok_and(|keys| keys.contains_key(ORIGIN))
}

/// The key of an event's session, else its number.
pub(crate) fn session_name(event: &v1::Event) -> String {
    match event.session_key.as_str() {
        "" => event.session_id.to_string(),
        key => key.to_owned(),
    }
}

/// The name of a type of events; `?` if no version has it.
pub(crate) fn type_name(number: i32) -> String {
    type_of(number).map_or_else(|_| "?".to_owned(), |event_type| event_type.to_string())
}

/// The name of a type of edges; `None` for a step that no edge led to.
pub(crate) fn edge_name(number: i32) -> Option<String> {
    let edge_type = edge_type_of(number);
    edge_type.map_or_else(
        |_| Some("?".to_owned()),
        |edge| edge.map(|edge| edge.to_string()),
    )
}

pub(crate) fn type_of(number: i32) -> Result<EventType, Failure> {
    let type_number = number.checked_sub(1).map(u8::try_from);
    match type_number {
        Some(Ok(number)) => Ok(EventType(number)),
        _ => Err(odd("type", format!("{number} is not a type"))),
    }
}

/// `None` for a step that no edge led to.
pub(crate) fn edge_type_of(number: i32) -> Result<Option<EdgeType>, Failure> {
    match number {
        0 => Ok(None),
        number => match number.checked_sub(1).map(u8::try_from) {
            Some(Ok(number)) => Ok(Some(EdgeType(number))),
            _ => Err(odd("type", format!("{number} is not a type"))),
        },
    }
}

/// The flags of an event by name.
pub(crate) fn flags_of(event: &v1::Event) -> Vec<&'static str> {
    let set = [
        (event.pinned, Flags::PINNED),
        (event.forgotten, Flags::FORGOTTEN),
        (event.compressed, Flags::COMPRESSED),
        (event.erased, Flags::ERASED),
    ];
    let flags = set.iter().fold(Flags::default(), |all, &(is_set, flag)| {
        all.set(flag, is_set)
    });
    flag_names(flags)
}

/// An answer that no daemon of this version gives.
pub(crate) fn odd(what: &str, why: impl std::fmt::Display) -> Failure {
    Failure::new(
        Exit::Io,
        "answer",
        format!("the answer is invalid: its {what}: {why}"),
        "check that amemctl and amemd have the same version (`amemctl status`)",
    )
}

/// An edge of a file that is not open as a brain.
#[derive(Debug, Serialize)]
pub(crate) struct EdgeJson {
    pub(crate) source: u64,
    pub(crate) target: u64,
    #[serde(rename = "type")]
    pub(crate) edge_type: EdgeType,
    pub(crate) weight: f32,
    pub(crate) created_at: Time,
}

impl From<&Edge> for EdgeJson {
    fn from(edge: &Edge) -> Self {
        Self {
            source: edge.source.0,
            target: edge.target.0,
            edge_type: edge.edge_type,
            weight: edge.weight,
            created_at: Time(edge.created_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_even_those_without_a_date() {
        for micros in [0, -1, 1_700_000_000_000_001, i64::MAX, i64::MIN] {
            let json = serde_json::to_string(&Time(Micros(micros))).unwrap();
            let back: Time = serde_json::from_str(&json).unwrap();
            assert_eq!(back.0.0, micros, "{json}");
        }
    }

    #[test]
    fn flags_have_names_both_ways() {
        let all = Flags::KNOWN;
        let back = flag_names(all).into_iter().filter_map(flag_of);
        let sum = back.fold(Flags::default(), Flags::with);
        assert_eq!(sum, all.without(Flags::VECTOR).without(Flags::ATTRIBUTES));
    }
}
