//! An event, as the forms for people and other programs need it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// An outgoing edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportedEdge {
    /// The id of the other event.
    pub target: u64,
    /// As in JSON lines: `supports`, `part-of`.
    pub edge_type: String,
}

/// An event of a JSON line.
#[derive(Debug, Clone, PartialEq)]
pub struct ExportedEvent {
    /// Within the export.
    pub id: u64,
    /// `fact`, `decision` and so on.
    pub event_type: String,
    /// What it says.
    pub text: String,
    /// When it happened, else when it was recorded; as in the line.
    pub time: Option<String>,
    /// The key of its session.
    pub session: Option<String>,
    /// All of them.
    pub attributes: Map<String, Value>,
    /// In the order of the line.
    pub edges: Vec<ExportedEdge>,
}

/// What a form cannot hold: names in the plural, and how many.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportLoss(pub BTreeMap<&'static str, u64>);

impl ExportLoss {
    pub(super) fn add(&mut self, what: &'static str, count: u64) {
        if count > 0 {
            *self.0.entry(what).or_default() += count;
        }
    }
}

impl ExportedEvent {
    /// The event of a line. Fields that no form for people has are counted.
    #[must_use]
    pub fn of_line(mut line: Map<String, Value>, loss: &mut ExportLoss) -> Self {
        let number = |name: &str| line.get(name).and_then(Value::as_f64);
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        loss.add("vectors", u64::from(line.contains_key("vector")));
        let is_sure = number("confidence").is_none_or(|confidence| confidence == 1.0);
        loss.add("confidences", u64::from(!is_sure));
        let flags = line.get("flags").and_then(Value::as_array);
        loss.add("flags", flags.map_or(0, |flags| flags.len() as u64));
        let edges = line.get("edges").and_then(Value::as_array);
        let edges = edges.map(|edges| {
            let edge = |edge: &Value| {
                Some(ExportedEdge {
                    target: edge.get("target")?.as_u64()?,
                    edge_type: edge.get("type")?.as_str()?.to_owned(),
                })
            };
            edges.iter().filter_map(edge).collect()
        });
        let event = Self {
            id: line.get("id").and_then(Value::as_u64).unwrap_or_default(),
            event_type: text("type").unwrap_or_else(|| "fact".to_owned()),
            text: text("text").unwrap_or_default(),
            time: text("event_time").or_else(|| text("created_at")),
            session: text("session_key"),
            attributes: Map::new(),
            edges: edges.unwrap_or_default(),
        };
        let attributes = match line.remove("attributes") {
            Some(Value::Object(attributes)) => attributes,
            _ => Map::new(),
        };
        Self {
            attributes,
            ..event
        }
    }

    /// An attribute that is a text.
    #[must_use]
    pub fn text_attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).and_then(Value::as_str)
    }
}
