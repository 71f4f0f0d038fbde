//! The export of ChatGPT: conversations, each a tree of messages.
//!
//! Read is the branch from `current_node` to the root. Left out: what the other branches say, messages of weight 0 or
//! marked hidden, the system's, tools', and parts that are no texts.

use std::collections::HashSet;

use serde_json::Value;

use super::fields::{any_text, is_true, list, text};
use super::head::JsonHead;
use super::json_files::{each_element, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let is_one = head.has("mapping") && (head.has("current_node") || head.has("author"));
    is_one.then_some("conversations with a mapping")
}

pub(super) fn read_exports(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    missing_parts(tree, files, out)?;
    for file in files {
        let result = each_element(tree, file, out, |record, out| {
            conversation(&record.value, &record.place, out)
        });
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

/// Parts of an export (`conversations-000.json` and so on) that its numbers or its manifest promise.
fn missing_parts(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let mut promised: HashSet<String> = HashSet::new();
    let number = |name: &str| -> Option<(usize, usize)> {
        let digits = name.strip_prefix("conversations-")?.strip_suffix(".json")?;
        Some((digits.parse().ok()?, digits.len()))
    };
    let numbers: Vec<_> = files
        .iter()
        .filter_map(|file| number(file.name()))
        .collect();
    if let (Some(first), Some(last)) = (numbers.iter().min(), numbers.iter().max()) {
        // A wild number in a name must not promise millions of files.
        if last.0 - first.0 < 10_000 {
            promised.extend(
                (first.0..last.0)
                    .map(|n| format!("conversations-{n:0width$}.json", width = first.1)),
            );
        }
    }
    let manifests = tree
        .files
        .iter()
        .filter(|file| file.name().ends_with("manifest.json"));
    for manifest in manifests {
        let Ok(head) = tree.head(manifest) else {
            continue;
        };
        let head = String::from_utf8_lossy(&head);
        let names = head.split('"').filter_map(|text| text.rsplit('/').next());
        promised.extend(
            names
                .filter(|name| number(name).is_some())
                .map(str::to_owned),
        );
    }
    let mut missing: Vec<_> = promised
        .into_iter()
        .filter(|name| !files.iter().any(|f| f.name() == name))
        .collect();
    missing.sort();
    for name in missing {
        let place = ItemPlace {
            file: tree.path().display().to_string(),
            line: 0,
        };
        out.skip(
            place,
            SkipReason::Missing,
            format!("a part of the export: {name}"),
        )?;
    }
    Ok(())
}

fn conversation(
    value: &Value,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a conversation without a mapping",
        );
    };
    let Some(id) = any_text(value, &["conversation_id", "id"]) else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a conversation without an id",
        );
    };
    let current = text(value, "current_node").filter(|node| mapping.contains_key(*node));
    let Some(current) = current.or_else(|| last_leaf(mapping)) else {
        return out.skip(
            place.clone(),
            SkipReason::Blank,
            "a conversation without messages",
        );
    };
    let mut path = Vec::new();
    let mut known = HashSet::new();
    let mut at = Some(current);
    while let Some(name) = at {
        let Some(node) = mapping.get(name) else {
            out.skip(
                place.clone(),
                SkipReason::Dangling,
                format!("a parent that is missing: {name}"),
            )?;
            break;
        };
        if !known.insert(name) {
            out.skip(
                place.clone(),
                SkipReason::Malformed,
                "its messages go in a circle",
            )?;
            break;
        }
        path.push((name, node));
        at = text(node, "parent");
    }
    let aside = mapping
        .iter()
        .filter(|(name, node)| !known.contains(name.as_str()) && has_words(node))
        .count();
    for _ in 0..aside {
        out.skip(
            place.clone(),
            SkipReason::Hidden,
            "a branch that the user left",
        )?;
    }
    for (name, node) in path.into_iter().rev() {
        let Some(message) = node.get("message").filter(|message| message.is_object()) else {
            continue;
        };
        turn(value, id, name, message, place, out)?;
    }
    Ok(())
}

/// The newest message without children, for exports without `current_node`.
fn last_leaf(mapping: &serde_json::Map<String, Value>) -> Option<&str> {
    let leaves = mapping
        .iter()
        .filter(|(_, node)| list(node, "children").is_empty());
    let time = |node: &Value| {
        node.pointer("/message/create_time")
            .and_then(Value::as_f64)
            .unwrap_or(0.0)
    };
    leaves
        .max_by(|a, b| time(a.1).total_cmp(&time(b.1)))
        .map(|(name, _)| name.as_str())
}

fn has_words(node: &Value) -> bool {
    node.get("message")
        .is_some_and(|message| !words(message).trim().is_empty())
}

/// The parts that are texts.
fn words(message: &Value) -> String {
    let content = message.get("content").unwrap_or(&Value::Null);
    if !matches!(
        text(content, "content_type"),
        None | Some("text" | "multimodal_text")
    ) {
        return String::new();
    }
    let parts = list(content, "parts").iter().filter_map(|part| match part {
        Value::String(said) => Some(said.as_str()),
        // What was spoken.
        part => {
            text(part, "text").filter(|_| text(part, "content_type") == Some("audio_transcription"))
        }
    });
    parts
        .filter(|said| !said.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn turn(
    conversation: &Value,
    id: &str,
    node: &str,
    message: &Value,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let place = place.clone();
    let role = match message.pointer("/author/role").and_then(Value::as_str) {
        Some("user") => TurnRole::User,
        Some("assistant") => TurnRole::Assistant,
        Some("tool") => return out.skip(place, SkipReason::Machinery, "the result of a tool"),
        _ => return out.skip(place, SkipReason::Hidden, "a message of the system"),
    };
    let metadata = message.get("metadata").unwrap_or(&Value::Null);
    let weight = message.get("weight").and_then(Value::as_f64).unwrap_or(1.0);
    if weight == 0.0 || is_true(metadata, "is_visually_hidden_from_conversation") {
        return out.skip(place, SkipReason::Hidden, "a message that is not shown");
    }
    if text(message, "recipient").is_some_and(|recipient| recipient != "all") {
        return out.skip(place, SkipReason::Machinery, "a call of a tool");
    }
    let said = words(message);
    if said.is_empty() {
        return out.skip(
            place,
            SkipReason::Machinery,
            "pictures, files or reasoning, and no text",
        );
    }
    let time = out.time(
        message
            .get("create_time")
            .or(conversation.get("create_time")),
        &place,
    )?;
    let part = text(message, "id").unwrap_or(node);
    let mut item = SourceItem::new(out.id(id, part), ItemType::Turn, said, place);
    item.role = Some(role);
    item.title = text(conversation, "title").map(str::to_owned);
    item.time = time;
    item.set("model", text(metadata, "model_slug"));
    out.emit(item)
}
