//! Events and edges: the same form in answers and in exported lines.

use amem_client::{Timestamp, v1};
use amem_format::attributes::ORIGIN;
use amem_format::event::{Attributes, Edge};
use amem_format::{EdgeType, EventType, Flags, Micros};
use amem_query::time;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

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

#[derive(Debug, Serialize)]
pub(crate) struct EventJson {
    pub(crate) id: u64,
    #[serde(rename = "type")]
    pub(crate) event_type: EventType,
    pub(crate) created_at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) event_time: Option<Time>,
    pub(crate) session: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_key: Option<String>,
    pub(crate) confidence: f32,
    pub(crate) strength: f32,
    pub(crate) lambda: f32,
    pub(crate) access_count: u32,
    pub(crate) last_accessed: Time,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) text: String,
    /// The principal that recorded it, and the agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<String>,
    /// Why it replaced another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attributes: Option<Attributes>,
    pub(crate) has_vector: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vector: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space: Option<Uuid>,
}

impl EventJson {
    pub(crate) fn of(event: &v1::Event) -> Result<Self, Failure> {
        let attributes = match event.attributes_json.as_str() {
            "" => None,
            json => Some(serde_json::from_str(json).map_err(|e| odd("attributes", e))?),
        };
        let vector = event.vector.as_ref();
        let (space, vector) = (
            vector.and_then(|v| v.space.parse().ok()),
            vector.map(|v| v.values.clone()),
        );
        Ok(Self {
            id: event.id,
            event_type: type_of(event.r#type)?,
            created_at: Time::of(event.created_at)?,
            event_time: Time::maybe(event.event_time)?,
            session: event.session_id,
            session_key: given(&event.session_key),
            confidence: event.confidence,
            strength: event.strength,
            lambda: event.lambda,
            access_count: event.access_count,
            last_accessed: Time::of(event.last_accessed)?,
            flags: flags_of(event),
            text: event.text.clone(),
            by: given(&event.by),
            agent: given(&event.agent),
            reason: given(&event.reason),
            attributes,
            has_vector: event.vector_present,
            vector,
            space,
        })
    }

    pub(crate) fn list(events: &[v1::Event]) -> Result<Vec<Self>, Failure> {
        events.iter().map(Self::of).collect()
    }

    /// Who recorded it, in words; empty if unknown.
    pub(crate) fn author(&self) -> String {
        let (by, agent) = self.author_names();
        authors::author(by, agent, !self.is_merged())
    }

    /// The agent that recorded it, else the user.
    pub(crate) fn author_short(&self) -> String {
        let (by, agent) = self.author_names();
        authors::short(by, agent, !self.is_merged())
    }

    pub(crate) fn author_names(&self) -> (&str, &str) {
        (
            self.by.as_deref().unwrap_or_default(),
            self.agent.as_deref().unwrap_or_default(),
        )
    }

    /// True if another brain recorded it first, perhaps on another machine.
    fn is_merged(&self) -> bool {
        let attributes = self.attributes.as_ref();
        attributes.is_some_and(|attributes| attributes.contains_key(ORIGIN))
    }

    /// The key, else the number.
    pub(crate) fn session_name(&self) -> String {
        match &self.session_key {
            Some(key) => key.clone(),
            None => self.session.to_string(),
        }
    }
}

/// A name that is not empty.
fn given(name: &str) -> Option<String> {
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// `None` for a stub: a forgotten event that others are reached through.
pub(crate) fn whole(event: &v1::Event) -> Result<Option<EventJson>, Failure> {
    event.created_at.map(|_| EventJson::of(event)).transpose()
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

fn flags_of(event: &v1::Event) -> Vec<&'static str> {
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

#[derive(Debug, Serialize)]
pub(crate) struct EdgeJson {
    pub(crate) source: u64,
    pub(crate) target: u64,
    #[serde(rename = "type")]
    pub(crate) edge_type: EdgeType,
    pub(crate) weight: f32,
    pub(crate) created_at: Time,
}

impl EdgeJson {
    pub(crate) fn of(edge: &v1::Edge) -> Result<Self, Failure> {
        Ok(Self {
            source: edge.source,
            target: edge.target,
            edge_type: edge_type_of(edge.r#type)?.ok_or_else(|| odd("edge", "it is of no type"))?,
            weight: edge.weight,
            created_at: Time::of(edge.created_at)?,
        })
    }
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
