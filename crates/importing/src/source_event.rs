//! The event that an item becomes.

use amem_format::attributes::{self, ORIGIN};
use amem_format::limits::{NAME_BYTES_MAX, TIME_MICROS_MAX};
use amem_format::{EdgeType, EventType, Micros};
use amem_proto::v1;
use amem_query::time;
use amem_sources::{EventTime, ItemType, SourceId, SourceItem, SourceKind, TurnRole};
use serde_json::{Map, Value, json};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use crate::message::{event_type_number, timestamp};

/// Attributes by which a later import finds the event of an item: the name of its kind in ids, its document, its id,
/// and its hash.
pub(crate) const KIND: &str = "import_kind";
pub(crate) const SOURCE: &str = "source";
pub(crate) const ID: &str = "import_id";
pub(crate) const HASH: &str = "import_hash";
/// On an event that was hidden because its source no longer has it.
pub(crate) const GONE: &str = "import_gone";
/// Attributes of this prefix belong to amemd.
pub(crate) const RESERVED: &str = "amem.";

pub(crate) struct SourceEvent {
    pub(crate) event: v1::NewEvent,
    /// The key of its session; turns have one.
    pub(crate) session: Option<String>,
    pub(crate) edges: Vec<(EdgeType, SourceId)>,
    /// Properties that do not fit into the attributes of an event.
    pub(crate) is_cut: bool,
}

pub(crate) fn event_of(item: &SourceItem) -> SourceEvent {
    let (attributes, is_cut) = attributes_of(item);
    let event = v1::NewEvent {
        r#type: event_type_number(event_type(item)),
        text: text_of(item),
        event_time: item.time.and_then(bounded).map(timestamp),
        attributes_json: Value::Object(attributes).to_string(),
        ..Default::default()
    };
    SourceEvent {
        session: session_key(item),
        edges: edges_of(item),
        event,
        is_cut,
    }
}

/// The text of the event: what stands above a line of a note is lent to it, so that the line is found by its title and
/// says by itself what it is about. A turn has the name of its speaker.
pub(crate) fn text_of(item: &SourceItem) -> String {
    let mut above: Vec<&str> = Vec::new();
    if matches!(item.item_type, ItemType::Block | ItemType::Observation) && item.id.kind.is_notes()
    {
        above.extend(item.title.as_deref());
        for heading in item.headings.iter().chain(heading_of(item)) {
            if above.last() != Some(&heading.as_str()) {
                above.push(heading);
            }
        }
    }
    let above = above.join(" › ");
    match &item.role {
        Some(TurnRole::Speaker(name)) => format!("{name}: {}", item.text),
        _ if above.is_empty() => item.text.clone(),
        _ if heading_of(item).is_some() => above,
        _ => format!("{above}: {}", item.text),
    }
}

/// The text of a heading.
fn heading_of(item: &SourceItem) -> Option<&String> {
    let shape = item.attributes.get("shape").and_then(Value::as_str);
    (shape == Some("heading")).then_some(&item.text)
}

/// Types and targets of an item's edges.
pub(crate) fn edges_of(item: &SourceItem) -> Vec<(EdgeType, SourceId)> {
    // The import ties each turn to the one before.
    let relations = item
        .relations
        .iter()
        .filter(|relation| relation.name != "follows");
    let edges = relations.map(|relation| {
        let edge_type = match relation.name.as_str() {
            "part_of" | "about" => EdgeType::PART_OF,
            // Notes of an export name the types of edges. What a note says of another replaces no event.
            name => EdgeType::from_name(name)
                .filter(|named| !(item.id.kind.is_notes() && replaces(*named)))
                .unwrap_or(EdgeType::RELATED_TO),
        };
        (edge_type, relation.to.clone())
    });
    edges.collect()
}

fn replaces(edge_type: EdgeType) -> bool {
    edge_type == EdgeType::SUPERSEDES || edge_type == EdgeType::TEMPORAL_NEXT
}

/// What a brain can hold; times of other programs may lie beyond.
pub(crate) fn bounded(time: EventTime) -> Option<Micros> {
    (time.0.abs() <= TIME_MICROS_MAX).then_some(Micros(time.0))
}

/// The type that an observation of notes names; a fact otherwise.
fn event_type(item: &SourceItem) -> EventType {
    let named = |name: &str| item.attributes.get(name).and_then(Value::as_str);
    let name = match item.item_type {
        ItemType::Observation => named("category"),
        ItemType::Block => named("language"),
        _ => None,
    };
    name.and_then(EventType::from_name)
        .filter(|event_type| event_type.is_known())
        .unwrap_or(EventType::FACT)
}

fn attributes_of(item: &SourceItem) -> (Map<String, Value>, bool) {
    let mut all = Map::new();
    for (name, value) in &item.attributes {
        if !name.starts_with(RESERVED) && name != ORIGIN {
            all.insert(name.clone(), value.clone());
        }
    }
    let is_cut = attributes::validate(&all).is_err() || all.len() < item.attributes.len();
    if attributes::validate(&all).is_err() {
        all.clear();
    }
    let mut set = |name: &str, value: Value| {
        if !value.is_null() {
            all.insert(name.to_owned(), value);
        }
    };
    set("title", json!(item.title));
    if !item.headings.is_empty() {
        set("section", item.headings.join(" / ").into());
    }
    set("speaker", json!(item.role.as_ref().map(TurnRole::name)));
    if let Some(ends) = item.ends.and_then(bounded) {
        set("ends", time::display(ends).to_string().into());
    }
    set("item", item.item_type.name().into());
    set(KIND, item.id.kind.id_name().into());
    set(SOURCE, item.id.of_document().to_string().into());
    set(ID, item.id.to_string().into());
    set(HASH, format!("{:032x}", item.hash).into());
    (all, is_cut)
}

/// The conversation that a turn belongs to.
pub(crate) fn session_key(item: &SourceItem) -> Option<String> {
    if item.item_type != ItemType::Turn {
        return None;
    }
    let named = item.attributes.get("session").and_then(Value::as_str);
    let named = named.filter(|_| item.id.kind == SourceKind::Chat);
    let key = named.map_or_else(|| item.id.of_document().to_string(), str::to_owned);
    if key.len() <= NAME_BYTES_MAX {
        return Some(key);
    }
    // The end of a path says more than its beginning.
    let hash = format!("{:032x}…", xxh3_128(key.as_bytes()));
    let from = key.len() - (NAME_BYTES_MAX - hash.len());
    let from = (from..key.len()).find(|at| key.is_char_boundary(*at));
    Some(hash + &key[from.unwrap_or(key.len())..])
}

/// Of text and time: an event with another one is replaced, one with the same gets new attributes only.
pub(crate) fn said(text: &str, time: Option<amem_proto::Timestamp>) -> u64 {
    let time = time.map_or((0, 0), |time| (time.seconds, time.nanos));
    xxh3_64(format!("{time:?}\n{text}").as_bytes())
}
