//! The graph of the MCP memory server: JSON lines of entities and relations, or one object with both lists.
//!
//! An entity's observations are items of their own. Relations may come before their entities, and may name entities
//! that do not exist; those are reported. There are no times, but some dialects give observations one.

use std::collections::HashSet;

use serde_json::Value;
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::fields::{any, any_text, list, text};
use super::head::{JsonHead, LineHead};
use crate::error::SourceError;
use crate::input::{FileTree, JsonLine, JsonLines, TreeFile, decode_head};
use crate::item::{ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem};
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let is_one = matches!(head.type_name(), "entity" | "relation" | "_aim");
    is_one.then_some("lines of entities and relations")
}

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let is_one = head.has("entities") && head.has("observations")
        || head.has("relationType") && head.has("from");
    is_one.then_some("entities with observations")
}

pub(super) fn read_graphs(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let place = tree.place(file, 0);
        let document = out.document(tree, file);
        let mut names = HashSet::new();
        // What is wrong with a line is reported by the second pass.
        let first = each_record(tree, file, |record, _| {
            if let Ok(Record::Entity(entity)) = record
                && let Some(name) = entity_name(entity)
            {
                names.insert(xxh3_128(name.as_bytes()));
            }
            Ok(())
        });
        if let Err(ReadFailure::Io(error)) = first {
            out.skip_file(place, &error)?;
            continue;
        }
        out.counts.files += 1;
        let mut graph = GraphReading {
            document,
            names,
            entities: HashSet::new(),
            edges: HashSet::new(),
        };
        let second = each_record(tree, file, |record, line| {
            let place = tree.place(file, line);
            match record {
                Ok(Record::Entity(entity)) => graph.entity(entity, place, out),
                Ok(Record::Relation(relation)) => graph.relation(relation, place, out),
                Ok(Record::Marker) => Ok(()),
                Err((reason, why)) => out.skip(place, reason, why),
            }
        });
        match second {
            Ok(()) => {}
            Err(ReadFailure::Io(error)) => out.skip_file(place, &error)?,
            Err(ReadFailure::Source(error)) => return Err(error),
        }
    }
    Ok(())
}

enum Record<'v> {
    Entity(&'v Value),
    Relation(&'v Value),
    /// A line by which a server marks its file.
    Marker,
}

enum ReadFailure {
    Io(std::io::Error),
    Source(SourceError),
}

/// Calls with each record and its line.
fn each_record(
    tree: &FileTree,
    file: &TreeFile,
    mut call: impl FnMut(Result<Record<'_>, (SkipReason, String)>, u64) -> Result<(), SourceError>,
) -> Result<(), ReadFailure> {
    let is_whole = is_one_object(tree, file).map_err(ReadFailure::Io)?;
    let bytes = tree.read(file).map_err(ReadFailure::Io)?;
    let mut call = |record: Result<Record<'_>, (SkipReason, String)>, line| {
        call(record, line).map_err(ReadFailure::Source)
    };
    if is_whole {
        let mut elements = crate::input::JsonElements::new(bytes);
        while let Some(element) = elements.next().map_err(ReadFailure::Io)? {
            let number = element.number;
            let value = match element.value {
                Ok(value) => value,
                Err(error) => {
                    call(Err(error.reason()), number)?;
                    continue;
                }
            };
            match element.key.as_deref() {
                Some("entities") => call(Ok(Record::Entity(&value)), number)?,
                Some("relations") => call(Ok(Record::Relation(&value)), number)?,
                _ => {}
            }
        }
        return Ok(());
    }
    let mut lines = JsonLines::new(bytes);
    while let Some(line) = lines.next().map_err(ReadFailure::Io)? {
        let number = lines.number();
        let value = match line {
            JsonLine::Value(value) => value,
            JsonLine::Bad(reason, why) => {
                call(Err((reason, why)), number)?;
                continue;
            }
        };
        call(record(&value), number)?;
    }
    Ok(())
}

/// The answer of `read_graph`, rather than lines.
fn is_one_object(tree: &FileTree, file: &TreeFile) -> std::io::Result<bool> {
    let head = tree.head(file)?;
    let head = decode_head(&head).unwrap_or_default();
    let flat: String = head
        .chars()
        .filter(|c| !c.is_whitespace())
        .take(40)
        .collect();
    let flat = flat.trim_start_matches('\u{feff}');
    Ok(flat.starts_with("{\"entities\":") || flat.starts_with("{\"relations\":"))
}

fn record(value: &Value) -> Result<Record<'_>, (SkipReason, String)> {
    match text(value, "type") {
        Some("entity") => Ok(Record::Entity(value)),
        Some("relation") => Ok(Record::Relation(value)),
        Some("_aim") => Ok(Record::Marker),
        _ if value.get("observations").is_some() => Ok(Record::Entity(value)),
        _ if value.get("from").is_some() && value.get("to").is_some() => {
            Ok(Record::Relation(value))
        }
        other => {
            let what = other.unwrap_or("no type");
            Err((
                SkipReason::Malformed,
                format!("neither an entity nor a relation: {what}"),
            ))
        }
    }
}

fn entity_name(entity: &Value) -> Option<&str> {
    any_text(entity, &["name", "entityName", "entity_name"])
}

struct GraphReading {
    document: String,
    /// Of all entities of the file.
    names: HashSet<u128>,
    /// Given out.
    entities: HashSet<u128>,
    edges: HashSet<u128>,
}

impl GraphReading {
    fn entity(
        &mut self,
        entity: &Value,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let Some(name) = entity_name(entity) else {
            return out.skip(place, SkipReason::Malformed, "an entity without a name");
        };
        let entity_type = any_text(entity, &["entityType", "entity_type", "kind"]);
        let id = out.id(self.document.as_str(), format!("entity {name}"));
        if self.entities.insert(xxh3_128(name.as_bytes())) {
            let said = match entity_type {
                Some(entity_type) => format!("{name} ({entity_type})"),
                None => name.to_owned(),
            };
            let mut item = SourceItem::new(id.clone(), ItemType::Entity, said, place.clone());
            item.title = Some(name.to_owned());
            item.time = out.time(
                any(entity, &["createdAt", "created_at", "timestamp"]),
                &place,
            )?;
            item.set("entity", name);
            item.set("entity_type", entity_type);
            out.emit(item)?;
        }
        for observation in list(entity, "observations") {
            let said = match observation {
                Value::String(said) => Some(said.as_str()),
                other => any_text(other, &["content", "text", "observation"]),
            };
            let Some(said) = said else {
                out.skip(
                    place.clone(),
                    SkipReason::Malformed,
                    "an observation that is no text",
                )?;
                continue;
            };
            let part = format!("entity {name}/{:016x}", xxh3_64(said.as_bytes()));
            if !self.entities.insert(xxh3_128(part.as_bytes())) {
                out.skip(
                    place.clone(),
                    SkipReason::Repeated,
                    "the entity has the observation already",
                )?;
                continue;
            }
            let mut item = SourceItem::new(
                out.id(self.document.as_str(), part),
                ItemType::Observation,
                said,
                place.clone(),
            );
            item.title = Some(name.to_owned());
            item.time = out.time(
                any(observation, &["timestamp", "createdAt", "created_at"]),
                &place,
            )?;
            item.set("entity", name);
            item.set("entity_type", entity_type);
            item.relations.push(ItemRelation {
                name: "about".to_owned(),
                to: id.clone(),
            });
            out.emit(item)?;
        }
        Ok(())
    }

    fn relation(
        &mut self,
        relation: &Value,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let from = any_text(relation, &["from", "source"]);
        let to = any_text(relation, &["to", "target"]);
        let name = any_text(relation, &["relationType", "relation_type", "relation"]);
        let (Some(from), Some(to), Some(name)) = (from, to, name) else {
            return out.skip(
                place,
                SkipReason::Malformed,
                "a relation without its ends or its name",
            );
        };
        for end in [from, to] {
            if !self.names.contains(&xxh3_128(end.as_bytes())) {
                let why = format!("a relation with {end:?}, which is no entity");
                return out.skip(place, SkipReason::Dangling, why);
            }
        }
        let part = format!("relation {from}/{name}/{to}");
        if !self.edges.insert(xxh3_128(part.as_bytes())) {
            return out.skip(
                place,
                SkipReason::Repeated,
                "the relation stands in the file already",
            );
        }
        let said = format!("{from} {} {to}", name.replace('_', " "));
        let mut item = SourceItem::new(
            out.id(self.document.as_str(), part),
            ItemType::Edge,
            said,
            place,
        );
        item.set("relation", name);
        item.set("from", from);
        item.set("to", to);
        for (end, role) in [(from, "from"), (to, "to")] {
            item.relations.push(ItemRelation {
                name: role.to_owned(),
                to: out.id(self.document.as_str(), format!("entity {end}")),
            });
        }
        out.emit(item)
    }
}
