//! An item as an event.

use amem_client::v1;
use amem_format::Micros;
use amem_sources::{ItemType, SourceItem};
use serde_json::{Map, Value, json};

use crate::when::timestamp;

/// The attribute with the id of the item.
pub(super) const ID: &str = "import_id";
/// The attribute with its hash.
pub(super) const HASH: &str = "import_hash";
/// The attribute with the name of its kind in ids: what a later import of the kind looks for.
pub(super) const KIND: &str = "import_kind";

/// The text of the event: what stands above a line of a note is lent to it, so that it is found by its title.
pub(super) fn text_of(item: &SourceItem) -> String {
    let is_part = matches!(item.item_type, ItemType::Block | ItemType::Observation);
    if !is_part {
        return item.text.clone();
    }
    let mut above: Vec<&str> = item.title.iter().map(String::as_str).collect();
    for heading in &item.headings {
        if above.last().is_none_or(|last| last != heading) {
            above.push(heading);
        }
    }
    match above.is_empty() {
        true => item.text.clone(),
        false => format!("{}: {}", above.join(" › "), item.text),
    }
}

/// The event of an item, without its session.
pub(super) fn event_of(item: &SourceItem) -> v1::NewEvent {
    let event_type = match item.item_type {
        ItemType::Document => v1::EventType::Episode,
        ItemType::Turn
        | ItemType::Block
        | ItemType::Memory
        | ItemType::Entity
        | ItemType::Observation
        | ItemType::Edge => v1::EventType::Fact,
    };
    let mut attributes = Map::new();
    attributes.insert(KIND.into(), json!(item.id.kind.id_name()));
    attributes.insert(ID.into(), json!(item.id.to_string()));
    attributes.insert(HASH.into(), json!(format!("{:032x}", item.hash)));
    attributes.insert("item".into(), json!(item.item_type.name()));
    attributes.insert("source".into(), json!(item.place.to_string()));
    if let Some(role) = &item.role {
        attributes.insert("speaker".into(), json!(role.name()));
    }
    if let Some(title) = &item.title {
        attributes.insert("title".into(), json!(title));
    }
    if !item.headings.is_empty() {
        attributes.insert("section".into(), json!(item.headings.join(" / ")));
    }
    for (name, value) in &item.attributes {
        // What the source says never replaces what the import says.
        if !attributes.contains_key(name) && !name.starts_with("amem.") && *value != Value::Null {
            attributes.insert(name.clone(), value.clone());
        }
    }
    v1::NewEvent {
        r#type: event_type.into(),
        text: text_of(item),
        event_time: item.time.map(|time| timestamp(Micros(time.0))),
        attributes_json: Value::Object(attributes).to_string(),
        ..v1::NewEvent::default()
    }
}

/// The edge of a relation: its type, and true if it leads from the other item to this one.
pub(super) fn edge_of(name: &str) -> (v1::EdgeType, bool) {
    match name {
        "part_of" => (v1::EdgeType::PartOf, false),
        "supersedes" => (v1::EdgeType::Supersedes, false),
        "follows" => (v1::EdgeType::TemporalNext, true),
        "supports" => (v1::EdgeType::Supports, false),
        "contradicts" => (v1::EdgeType::Contradicts, false),
        "caused_by" => (v1::EdgeType::CausedBy, false),
        _ => (v1::EdgeType::RelatedTo, false),
    }
}
