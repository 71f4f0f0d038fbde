//! The part of the description that people write: `fragment.json`.
//!
//! An object with `"$use": ["scope"]` has the members of that entry of `parts` in its place, so that what many schemas
//! and operations have is stated once.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Map, Value};

/// Names the parts whose members stand in its place.
const USE: &str = "$use";

/// What no descriptor says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fragment {
    /// Of the whole.
    pub(super) description: String,
    /// The groups of `operations`.
    pub(super) tags: Vec<Value>,
    #[serde(rename = "securitySchemes")]
    pub(super) security_schemes: Value,
    /// Parameters that many operations have, by name.
    pub(super) parameters: Value,
    pub(super) responses: Value,
    /// By the names that `routes` gives them.
    pub(super) operations: HashMap<String, OperationDoc>,
    /// By name, in the order of the document.
    pub(super) schemas: Map<String, Value>,
}

/// What is said of a route.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperationDoc {
    pub(super) tag: String,
    pub(super) summary: String,
    /// Options of the query, as properties of a schema.
    #[serde(default)]
    pub(super) query: Map<String, Value>,
    /// Headers, by their names among the parameters.
    pub(super) headers: Vec<String>,
    /// The schema of the body.
    pub(super) body: Option<String>,
    /// `None` if the route refuses every request.
    pub(super) answer: Option<Answer>,
    /// What an answer 202 of the same schema says; `None` if there is none.
    pub(super) accepted: Option<String>,
}

/// The form of an answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Answer {
    /// JSON of this schema.
    Json(String),
    /// Text of this media type.
    Text(String),
    /// No body.
    Nothing,
}

impl Fragment {
    /// The one that the build compiled in.
    pub(super) fn read() -> Self {
        Self::of(include_str!("fragment.json")).expect("our own fragment")
    }

    fn of(json: &str) -> serde_json::Result<Self> {
        let mut fragment: Map<String, Value> = serde_json::from_str(json)?;
        let parts = fragment.shift_remove("parts").unwrap_or_default();
        serde_json::from_value(resolved(fragment.into(), &parts))
    }
}

/// A value with the members of the parts that its objects use.
fn resolved(value: Value, parts: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut out = Map::new();
            for (name, value) in object {
                if name != USE {
                    out.insert(name, resolved(value, parts));
                    continue;
                }
                for part in value.as_array().into_iter().flatten() {
                    let part = &parts[part.as_str().unwrap_or_default()];
                    let members = part.as_object().expect("a part that the fragment has");
                    out.extend(members.clone());
                }
            }
            out.into()
        }
        Value::Array(list) => list
            .into_iter()
            .map(|value| resolved(value, parts))
            .collect(),
        value => value,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::super::route::RouteInput;
    use super::super::super::routes;
    use super::*;
    use crate::webhooks::WebhookEvent;

    #[test]
    fn members_of_a_part_stand_where_it_is_used() {
        let parts = json!({"scope": {"user_id": 1, "run_id": 2}});
        let value = json!({"a": [{"before": 0, "$use": ["scope"], "after": 3}]});
        let text = resolved(value, &parts).to_string();
        assert_eq!(
            text,
            r#"{"a":[{"before":0,"user_id":1,"run_id":2,"after":3}]}"#
        );
    }

    #[test]
    fn the_fragment_describes_the_operations_of_the_table_and_no_others() {
        let mut described: Vec<_> = Fragment::read().operations.into_keys().collect();
        let mut routed: Vec<_> = routes::all()
            .filter_map(|route| match route.input {
                RouteInput::Options(name) => Some(name.to_owned()),
                RouteInput::Message(_) => None,
            })
            .collect();
        described.sort_unstable();
        routed.sort_unstable();
        routed.dedup();
        assert_eq!(described, routed);
    }

    #[test]
    fn events_of_webhooks_are_those_that_the_code_knows() {
        let fragment = Fragment::read();
        let names = WebhookEvent::ALL.map(WebhookEvent::name);
        for name in ["Webhook", "CreateWebhook", "UpdateWebhook"] {
            let events = &fragment.schemas[name]["properties"]["event_types"]["items"]["enum"];
            assert_eq!(*events, json!(names), "{name}");
        }
    }
}
