//! Graphs of Graphiti and Zep: nodes, edges that hold from `valid_at` to `invalid_at`, episodes.

use std::collections::HashSet;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::fields::{any, any_text, text};
use super::head::{JsonHead, LineHead};
use super::json_files::{each_element, each_line, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, JsonElements, JsonLine, JsonLines, TreeFile};
use crate::item::{ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem};
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let is_edge = head.has("source_node_uuid") || head.has("valid_at") || head.has("uuid");
    (head.has("fact") && is_edge).then_some("lines of edges with facts")
}

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let is_edge = head.has("source_node_uuid") || head.has("valid_at");
    (head.has("fact") && is_edge || head.has("episodic_edges")).then_some("edges with facts")
}

pub(super) fn read_graphs(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let mut nodes = HashSet::new();
    for file in files {
        // A file that fails is reported by the second pass.
        let _first = node_ids(tree, file, &mut nodes);
    }
    for file in files {
        let is_lines = matches!(file.ending().as_str(), "jsonl" | "ndjson");
        let result = if is_lines {
            each_line(tree, file, out, |value, place, out| {
                record_item(&value, &nodes, &place, out)
            })
        } else {
            each_element(tree, file, out, |record, out| {
                // Fields of the outer object are no records.
                if !record.value.is_object() {
                    return Ok(());
                }
                record_item(&record.value, &nodes, &record.place, out)
            })
        };
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

fn node_ids(tree: &FileTree, file: &TreeFile, nodes: &mut HashSet<u128>) -> std::io::Result<()> {
    let mut add = |value: &Value| {
        if is_node(value)
            && let Some(id) = text(value, "uuid")
        {
            nodes.insert(xxh3_128(id.as_bytes()));
        }
    };
    if matches!(file.ending().as_str(), "jsonl" | "ndjson") {
        let mut lines = JsonLines::new(tree.read(file)?);
        while let Some(line) = lines.next()? {
            if let JsonLine::Value(value) = line {
                add(&value);
            }
        }
        return Ok(());
    }
    let mut elements = JsonElements::new(tree.read(file)?);
    while let Some(element) = elements.next()? {
        if let Ok(value) = element.value {
            add(&value);
        }
    }
    Ok(())
}

fn is_node(value: &Value) -> bool {
    value.get("name").is_some()
        && value.get("fact").is_none()
        && value.get("content").is_none()
        && (value.get("summary").is_some() || value.get("labels").is_some())
}

fn record_item(
    value: &Value,
    nodes: &HashSet<u128>,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let place = place.clone();
    let Some(id) = any_text(value, &["uuid", "id"]) else {
        return out.skip(place, SkipReason::Malformed, "a record without a uuid");
    };
    if let Some(fact) = text(value, "fact") {
        let mut item = SourceItem::new(out.id("graph", id), ItemType::Edge, fact, place.clone());
        item.time = out.time(any(value, &["valid_at", "created_at"]), &place)?;
        item.ends = out.time(any(value, &["invalid_at", "expired_at"]), &place)?;
        item.set("relation", text(value, "name"));
        item.set("group", text(value, "group_id"));
        for (name, role) in [("source_node_uuid", "from"), ("target_node_uuid", "to")] {
            let Some(node) = text(value, name) else {
                continue;
            };
            if nodes.contains(&xxh3_128(node.as_bytes())) {
                item.relations.push(ItemRelation {
                    name: role.to_owned(),
                    to: out.id("graph", node),
                });
            } else {
                item.set(role, node);
                let why = format!("an edge with the node {node:?}, which is not there");
                out.skip(place.clone(), SkipReason::Dangling, why)?;
            }
        }
        return out.emit(item);
    }
    let name = text(value, "name");
    let (item_type, said) = match (text(value, "content"), text(value, "summary"), name) {
        (Some(content), _, _) => (ItemType::Memory, content.to_owned()),
        (None, Some(summary), Some(name)) => (ItemType::Entity, format!("{name}: {summary}")),
        (None, None, Some(name)) => (ItemType::Entity, name.to_owned()),
        (None, Some(summary), None) => (ItemType::Entity, summary.to_owned()),
        (None, None, None) => {
            return out.skip(
                place,
                SkipReason::Malformed,
                "neither an edge, a node nor an episode",
            );
        }
    };
    let mut item = SourceItem::new(out.id("graph", id), item_type, said, place.clone());
    item.title = name.map(str::to_owned);
    item.time = out.time(any(value, &["valid_at", "created_at"]), &place)?;
    item.set("entity", name.filter(|_| item_type == ItemType::Entity));
    item.set(
        "labels",
        value.get("labels").cloned().unwrap_or(Value::Null),
    );
    item.set("group", text(value, "group_id"));
    out.emit(item)
}
