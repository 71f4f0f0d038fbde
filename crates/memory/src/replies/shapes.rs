//! The shapes of answers to calls A and B: facts and decisions.

use serde_json::{Map, Value};

use super::reader::read_values;
use crate::graph::{EntityKind, EntityMention, EntityRelation, FactGraph};
use crate::kind::FactKind;

/// A fact of a model's answer, unchecked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ModelFact {
    pub(crate) text: String,
    /// The turns that it cites; empty if the answer has none.
    pub(crate) turns: Vec<usize>,
    pub(crate) kind: FactKind,
    /// Indexes of earlier facts of the answer.
    pub(crate) because: Vec<usize>,
    /// The entities and relations of the answer that its text names.
    pub(crate) graph: FactGraph,
}

/// Names under which models put the list of facts.
const LISTS: [&str; 8] = [
    "facts",
    "memories",
    "memory",
    "results",
    "items",
    "data",
    "output",
    "extracted_facts",
];
/// Names under which models put the text of a fact.
const TEXTS: [&str; 8] = [
    "text",
    "fact",
    "memory",
    "content",
    "statement",
    "data",
    "value",
    "sentence",
];

/// The facts of an answer to call A, or to a custom prompt; `None` if the answer has no such shape.
///
/// A list of strings, a list of objects with a text, an object with such a list under a usual name. An object of other
/// members (`{"name": "Bob"}`) is no answer: its members are not sentences.
pub(crate) fn facts_in_reply(reply: &str) -> Option<Vec<ModelFact>> {
    let values = read_values(reply);
    let found: Vec<_> = values.iter().filter_map(facts_of).collect();
    // Prose may have a list as well ("[1]"): the longest counts.
    found.into_iter().max_by_key(Vec::len)
}

fn facts_of(value: &Value) -> Option<Vec<ModelFact>> {
    match value {
        Value::Array(items) => {
            let facts: Vec<_> = items.iter().filter_map(fact).collect();
            (items.is_empty() || !facts.is_empty()).then_some(facts)
        }
        Value::Object(object) => {
            let list = LISTS.iter().find_map(|name| object.get(*name)?.as_array());
            match list {
                Some(items) => {
                    let mut facts = facts_of(&Value::Array(items.clone()))?;
                    let graph = graph_of(object);
                    for fact in &mut facts {
                        fact.graph = graph.of_text(&fact.text);
                    }
                    Some(facts)
                }
                None => fact(value).map(|fact| vec![fact]),
            }
        }
        _ => None,
    }
}

/// The entities and relations of an answer: `{"name", "type", "description"}` and `{"s", "r", "o"}`, or the words of
/// the specification for the latter.
fn graph_of(object: &Map<String, Value>) -> FactGraph {
    let objects = |name: &str| {
        let list = object.get(name).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_object)
    };
    let text = |object: &Map<String, Value>, names: &[&str]| {
        let found = names.iter().find_map(|name| object.get(*name)?.as_str());
        found.map(|text| text.trim().to_owned())
    };
    let entity = |object: &Map<String, Value>| {
        let kind = text(object, &["type", "kind"]).unwrap_or_default();
        Some(EntityMention {
            name: text(object, &["name"])?,
            kind: EntityKind::of_name(&kind.to_lowercase()),
            description: text(object, &["description"]).unwrap_or_default(),
        })
    };
    let relation = |object: &Map<String, Value>| {
        Some(EntityRelation {
            source: text(object, &["s", "source"])?,
            relation: text(object, &["r", "relation", "relationship"])?,
            target: text(object, &["o", "target", "destination"])?,
        })
    };
    FactGraph {
        entities: objects("entities").filter_map(entity).collect(),
        relations: objects("relations").filter_map(relation).collect(),
        aliases: Vec::new(),
    }
}

fn fact(value: &Value) -> Option<ModelFact> {
    let plain = |text: &str| ModelFact {
        text: text.trim().to_owned(),
        turns: Vec::new(),
        kind: FactKind::Fact,
        because: Vec::new(),
        graph: FactGraph::default(),
    };
    match value {
        Value::String(text) => Some(plain(text)),
        Value::Object(object) => {
            let text = TEXTS.iter().find_map(|name| object.get(*name)?.as_str())?;
            Some(ModelFact {
                turns: indexes(object, &["turns", "turn", "source", "sources"]),
                because: indexes(object, &["because"]),
                kind: object
                    .get("kind")
                    .or_else(|| object.get("type"))
                    .and_then(Value::as_str)
                    .map_or(FactKind::Fact, kind_named),
                ..plain(text)
            })
        }
        _ => None,
    }
}

fn indexes(object: &Map<String, Value>, names: &[&str]) -> Vec<usize> {
    let index = |value: &Value| {
        let number = value
            .as_u64()
            .or_else(|| value.as_str()?.trim().parse().ok())?;
        usize::try_from(number).ok()
    };
    match names.iter().find_map(|name| object.get(*name)) {
        Some(Value::Array(list)) => list.iter().filter_map(index).collect(),
        Some(value) => index(value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn kind_named(name: &str) -> FactKind {
    match name.to_lowercase().as_str() {
        "preference" => FactKind::Preference,
        "event" => FactKind::Event,
        "plan" | "goal" => FactKind::Plan,
        "decision" => FactKind::Decision,
        "inference" => FactKind::Inference,
        "correction" => FactKind::Correction,
        "skill" => FactKind::Skill,
        "episode" => FactKind::Episode,
        _ => FactKind::Fact,
    }
}

/// What a model says about one fact in call B.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DecisionOp {
    New,
    Same,
    Replaces,
    Extends,
    Ends,
}

/// One entry of an answer to call B, unchecked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelDecision {
    pub(crate) fact: usize,
    pub(crate) op: DecisionOp,
    /// The number of the candidate, from 1; 0 is none.
    pub(crate) memory: usize,
    pub(crate) text: Option<String>,
}

/// The decisions of an answer to call B; `None` if it has no such shape.
pub(crate) fn decisions_in(reply: &str) -> Option<Vec<ModelDecision>> {
    let values = read_values(reply);
    let list = values.iter().find_map(|value| match value {
        Value::Object(object) => ["d", "decisions", "results"]
            .iter()
            .find_map(|name| object.get(*name)?.as_array()),
        Value::Array(items) if items.iter().any(Value::is_object) => Some(items),
        _ => None,
    })?;
    let decision = |value: &Value| {
        let object = value.as_object()?;
        let op = match object
            .get("op")
            .or_else(|| object.get("event"))?
            .as_str()?
            .to_lowercase()
            .as_str()
        {
            "new" | "add" => DecisionOp::New,
            "same" | "none" => DecisionOp::Same,
            "replaces" | "update" => DecisionOp::Replaces,
            "extends" => DecisionOp::Extends,
            "ends" | "delete" => DecisionOp::Ends,
            _ => return None,
        };
        Some(ModelDecision {
            fact: indexes(object, &["f", "fact"]).first().copied()?,
            op,
            memory: indexes(object, &["m", "memory"])
                .first()
                .copied()
                .unwrap_or(0),
            text: object
                .get("text")
                .and_then(Value::as_str)
                .map(str::to_owned),
        })
    };
    Some(list.iter().filter_map(decision).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(reply: &str) -> Option<Vec<String>> {
        facts_in_reply(reply).map(|facts| facts.into_iter().map(|fact| fact.text).collect())
    }

    #[test]
    fn facts_are_found_in_every_usual_shape() {
        for reply in [
            r#"["User likes tea"]"#,
            r#"{"facts": [{"text": "User likes tea", "turns": [0], "kind": "preference", "because": [], "about": "User"}]}"#,
            r#"{"memories": ["User likes tea"]}"#,
            r#"[{"fact": "User likes tea"}]"#,
            r#"As said in [1]: ["User likes tea"]"#,
        ] {
            assert_eq!(
                texts(reply),
                Some(vec!["User likes tea".to_owned()]),
                "{reply}"
            );
        }
        assert_eq!(texts("[]"), Some(Vec::new()));
        assert_eq!(texts(r#"{"facts": []}"#), Some(Vec::new()));
        for reply in [
            r#"{"name": "Bob", "occupation": "Engineer"}"#,
            "Bob.",
            "",
            "[1, 2]",
        ] {
            assert_eq!(texts(reply), None, "{reply}");
        }
        let typed = facts_in_reply(
            r#"{"facts": [{"text": "a", "turns": ["3", 4], "kind": "plan", "because": 0}]}"#,
        )
        .unwrap();
        assert_eq!(
            (
                typed[0].turns.as_slice(),
                typed[0].kind,
                typed[0].because.as_slice()
            ),
            (&[3, 4][..], FactKind::Plan, &[0][..])
        );
    }

    #[test]
    fn entities_and_relations_belong_to_the_facts_that_name_them() {
        let reply = r#"{"facts": [{"text": "Alice works at Google"}, {"text": "User likes tea"}],
            "entities": [{"name": "Alice", "type": "person", "description": "a colleague"}, {"name": "Google", "type": "Organization"},
                {"name": "Murmansk", "type": "location"}, {"type": "person"}],
            "relations": [{"s": "Alice", "r": "Works at", "o": "Google"}, {"s": "Alice", "r": "lives_in", "o": "Murmansk"}, {"s": "Alice"}]}"#;
        let facts = facts_in_reply(reply).unwrap();
        let graph = &facts[0].graph;
        let names: Vec<_> = graph
            .entities
            .iter()
            .map(|one| (one.name.as_str(), one.kind))
            .collect();
        assert_eq!(
            names,
            [
                ("Alice", Some(EntityKind::Person)),
                ("Google", Some(EntityKind::Organization))
            ]
        );
        let relations: Vec<_> = graph
            .relations
            .iter()
            .map(|one| one.relation.as_str())
            .collect();
        assert_eq!(relations, ["works_at"]);
        assert!(facts[1].graph.is_empty());
    }

    #[test]
    fn decisions_are_read() {
        let found = decisions_in(
            r#"{"d": [{"f": 0, "op": "replaces", "m": 2}, {"f": 1, "op": "dances", "m": 1}]}"#,
        )
        .unwrap();
        assert_eq!(
            found,
            [ModelDecision {
                fact: 0,
                op: DecisionOp::Replaces,
                memory: 2,
                text: None
            }]
        );
        assert_eq!(decisions_in("I would say ADD"), None);
    }
}
