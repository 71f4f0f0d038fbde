//! The export of Claude.ai: `conversations.json`, `projects.json`, `memories.json`.
//!
//! A message's `text` may be empty or a placeholder while `content` has the words. Projects are documents.

use serde_json::Value;

use super::fields::{any, any_text, content_text, list, text};
use super::head::JsonHead;
use super::json_files::{each_element, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    if head.has("chat_messages") {
        return Some("conversations with chat_messages");
    }
    let others = ["prompt_template", "conversations_memory", "docs"];
    let is_one = head.has("uuid") && others.iter().any(|key| head.has(key));
    is_one.then_some("projects or memories of Claude.ai")
}

pub(super) fn read_exports(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let result = each_element(tree, file, out, |record, out| {
            let value = &record.value;
            if value.get("chat_messages").is_some() {
                conversation(value, &record.place, out)
            } else if value.get("prompt_template").is_some() || value.get("docs").is_some() {
                project(value, &record.place, out)
            } else if value.get("conversations_memory").is_some()
                || value.get("project_memories").is_some()
            {
                memories(value, &record.place, out)
            } else {
                out.skip(
                    record.place,
                    SkipReason::Malformed,
                    "neither a conversation nor a project",
                )
            }
        });
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

fn conversation(
    value: &Value,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let Some(id) = text(value, "uuid") else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a conversation without a uuid",
        );
    };
    for (number, message) in list(value, "chat_messages").iter().enumerate() {
        let role = match text(message, "sender") {
            Some("human" | "user") => TurnRole::User,
            Some("assistant") => TurnRole::Assistant,
            _ => {
                out.skip(
                    place.clone(),
                    SkipReason::Malformed,
                    "a message without a sender",
                )?;
                continue;
            }
        };
        let blocks = content_text(message.get("content").unwrap_or(&Value::Null));
        let said = if blocks.trim().is_empty() {
            text(message, "text").unwrap_or_default().to_owned()
        } else {
            blocks
        };
        let files: Vec<&str> = ["attachments", "files"]
            .iter()
            .flat_map(|name| list(message, name))
            .filter_map(|file| text(file, "file_name"))
            .collect();
        if said.trim().is_empty() {
            out.skip(
                place.clone(),
                SkipReason::Machinery,
                "files or tools, and no text",
            )?;
            continue;
        }
        let time = out.time(
            any(message, &["created_at"]).or(any(value, &["created_at"])),
            place,
        )?;
        let part =
            text(message, "uuid").map_or_else(|| format!("message {}", number + 1), str::to_owned);
        let mut item = SourceItem::new(out.id(id, part), ItemType::Turn, said, place.clone());
        item.role = Some(role);
        item.title = text(value, "name").map(str::to_owned);
        item.time = time;
        item.set("files", files);
        out.emit(item)?;
    }
    Ok(())
}

fn project(value: &Value, place: &ItemPlace, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
    let Some(id) = text(value, "uuid") else {
        return out.skip(
            place.clone(),
            SkipReason::Malformed,
            "a project without a uuid",
        );
    };
    let document = format!("project {id}");
    let name = text(value, "name").unwrap_or("project");
    let mut said = name.to_owned();
    for field in ["description", "prompt_template"] {
        if let Some(more) = text(value, field) {
            said.push_str("\n\n");
            said.push_str(more);
        }
    }
    let mut item = SourceItem::new(
        out.id(document.as_str(), ""),
        ItemType::Document,
        said,
        place.clone(),
    );
    item.title = Some(name.to_owned());
    item.time = out.time(value.get("created_at"), place)?;
    out.emit(item)?;
    for (number, doc) in list(value, "docs").iter().enumerate() {
        let part = text(doc, "uuid").map_or_else(|| format!("doc {}", number + 1), str::to_owned);
        let said = text(doc, "content").unwrap_or_default();
        let mut item = SourceItem::new(
            out.id(document.as_str(), part),
            ItemType::Document,
            said,
            place.clone(),
        );
        item.title = any_text(doc, &["filename", "name"]).map(str::to_owned);
        item.time = out.time(doc.get("created_at"), place)?;
        item.set("project", name);
        item.relations.push(ItemRelation {
            name: "part_of".to_owned(),
            to: out.id(document.as_str(), ""),
        });
        out.emit(item)?;
    }
    Ok(())
}

/// What Claude.ai wrote about its user.
fn memories(value: &Value, place: &ItemPlace, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
    let mut all = Vec::new();
    if let Some(said) = text(value, "conversations_memory") {
        all.push(("conversations".to_owned(), said));
    }
    if let Some(projects) = value.get("project_memories").and_then(Value::as_object) {
        let texts = projects
            .iter()
            .filter_map(|(id, said)| Some((format!("project {id}"), said.as_str()?)));
        all.extend(texts);
    }
    for (part, said) in all {
        out.emit(SourceItem::new(
            out.id("memories", part),
            ItemType::Memory,
            said,
            place.clone(),
        ))?;
    }
    Ok(())
}
