//! An event and an edge as JSON: the same form in answers and in exported lines.

use amem_core::event::{Attributes, Edge};
use amem_core::query::time;
use amem_core::view::{Node, View};
use amem_core::{EdgeType, EventType, Flags, Micros, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

/// A time in JSON: RFC 3339, or microseconds since 1970 where that has no words for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time(pub(crate) Micros);

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
        enum Written {
            Micros(i64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Micros(micros) => Ok(Self(Micros(micros))),
            Written::Text(text) => time::parse(&text)
                .map(Self)
                .map_err(serde::de::Error::custom),
        }
    }
}

/// Flags by name.
const FLAGS: [(Flags, &str); 4] = [
    (Flags::PINNED, "pinned"),
    (Flags::FORGOTTEN, "forgotten"),
    (Flags::COMPRESSED, "compressed"),
    (Flags::ERASED, "erased"),
];

/// The names of flags; those that tell of other fields are left out.
pub(crate) fn flag_names(flags: Flags) -> Vec<&'static str> {
    let set = FLAGS.iter().filter(|(flag, _)| flags.has(*flag));
    set.map(|(_, name)| *name).collect()
}

/// The flag of a name.
pub(crate) fn flag_of(name: &str) -> Option<Flags> {
    let found = FLAGS.iter().find(|(_, known)| *known == name);
    found.map(|(flag, _)| *flag)
}

/// A 32-bit number by its own digits, not by those of its 64-bit neighbour.
pub(crate) fn number(value: f32) -> serde_json::Value {
    serde_json::from_str(&value.to_string()).unwrap_or(serde_json::Value::Null)
}

/// An event, whole.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) attributes: Option<Attributes>,
    pub(crate) has_vector: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vector: Option<Vec<f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) space: Option<Uuid>,
}

impl EventJson {
    /// An event of a view.
    pub(crate) fn of(view: &View, node: &Node<'_>, with_vector: bool) -> Result<Self> {
        let vector = node.vector()?;
        let shown = vector.filter(|_| with_vector).map(<[f32]>::to_vec);
        let session = view.session(node.session())?;
        Ok(Self {
            id: node.id().0,
            event_type: node.event_type(),
            created_at: Time(node.created_at()),
            event_time: node.event_time()?.map(Time),
            session: node.session().0,
            session_key: session.map(|s| s.key.to_owned()).filter(|k| !k.is_empty()),
            confidence: node.confidence(),
            strength: node.strength(),
            lambda: node.lambda(),
            access_count: node.access_count(),
            last_accessed: Time(node.last_accessed()),
            flags: flag_names(node.flags()),
            text: node.text()?.into_owned(),
            attributes: node.attributes()?,
            has_vector: vector.is_some(),
            space: shown.as_ref().map(|_| view.identity().space),
            vector: shown,
        })
    }
}

/// An edge, seen from one of its ends.
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
