//! The graph of the MCP memory server, as JSON lines.
//!
//! Events that came from such a graph, or from notes about an entity, are observations of their entity again. Every
//! other chain of events is an entity, named by its title, with what it says now as its observation.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};

use serde_json::json;

use super::chains::{EventChain, chains};
use super::event::{ExportLoss, ExportedEvent};

#[derive(Default)]
struct GraphEntity {
    entity_type: String,
    observations: Vec<String>,
}

/// Writes all events, and counts what a graph cannot hold.
///
/// # Errors
///
/// If `out` fails.
pub fn write_server_memory(
    events: &[ExportedEvent],
    mut out: impl Write,
    loss: &mut ExportLoss,
) -> io::Result<()> {
    let all = chains(events);
    let mut entities: BTreeMap<String, GraphEntity> = BTreeMap::new();
    let mut order: Vec<String> = Vec::new();
    let mut relations: Vec<(String, String, String)> = Vec::new();
    // The entity of each event.
    let mut owners: HashMap<u64, String> = HashMap::new();
    for chain in &all {
        let head = chain.head;
        loss.add("earlier versions", chain.before.len() as u64);
        let relation = ["from", "relation", "to"].map(|name| head.text_attribute(name));
        if let [Some(from), Some(relation), Some(to)] = relation {
            relations.push((from.to_owned(), relation.to_owned(), to.to_owned()));
            continue;
        }
        let (name, entity_type) = named(chain);
        for event in std::iter::once(&head).chain(&chain.before) {
            owners.insert(event.id, name.clone());
        }
        let entity = entities.entry(name.clone()).or_insert_with(|| {
            order.push(name.clone());
            GraphEntity::default()
        });
        if entity.entity_type.is_empty() {
            entity.entity_type = entity_type.clone();
        }
        let is_its_name = head.text == name || head.text == format!("{name} ({entity_type})");
        let is_entity = is_its_name && head.text_attribute("entity").is_some();
        if head.text.trim().is_empty() {
            loss.add("erased events", 1);
        } else if !is_entity && !entity.observations.contains(&head.text) {
            entity.observations.push(head.text.clone());
        }
        loss.add("times", u64::from(head.time.is_some()));
    }
    for event in events {
        let Some(from) = owners.get(&event.id) else {
            continue;
        };
        for edge in &event.edges {
            match owners.get(&edge.target) {
                Some(to) if to != from => {
                    relations.push((from.clone(), edge.edge_type.clone(), to.clone()));
                }
                Some(_) => {}
                None => loss.add("edges to events that are not exported", 1),
            }
        }
    }
    for name in order {
        let entity = &entities[&name];
        let line = json!({
            "type": "entity", "name": name, "entityType": entity.entity_type, "observations": entity.observations,
        });
        writeln!(out, "{line}")?;
    }
    let mut known = HashSet::new();
    for relation in relations {
        if !known.insert(relation.clone()) {
            continue;
        }
        let (from, name, to) = relation;
        let line = json!({"type": "relation", "from": from, "to": to, "relationType": name});
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Name and type of the entity that a chain belongs to.
fn named(chain: &EventChain<'_>) -> (String, String) {
    let head = chain.head;
    match head.text_attribute("entity") {
        Some(name) => {
            let entity_type = head.text_attribute("entity_type").unwrap_or("entity");
            (name.to_owned(), entity_type.to_owned())
        }
        None => (chain.title.clone(), head.event_type.clone()),
    }
}
