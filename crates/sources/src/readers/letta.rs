//! Agent files of Letta: memory blocks become memories, messages become turns.
//!
//! Two layouts: one agent with `core_memory` and `messages`, or lists of `agents` and `blocks`. What the agent says may
//! be the argument of a call of `send_message`; what the user says may be wrapped in JSON.

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::fields::{any, any_text, content_text, list, loose_text, text};
use super::head::JsonHead;
use super::json_files::{each_element, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let is_one = head.ending == "af"
        || head.has("core_memory")
        || head.has("agent_type") && head.has("messages");
    is_one.then_some("an agent with core memory")
}

pub(super) fn read_agents(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let document = out.document(tree, file);
        let result = each_element(tree, file, out, |record, out| {
            let (value, place) = (&record.value, &record.place);
            match record.key {
                Some("agents") | None => {
                    let name = any_text(value, &["id", "name"]).unwrap_or("agent");
                    let prefix = format!("{name}/");
                    for one in list(value, "core_memory")
                        .iter()
                        .chain(list(value, "blocks"))
                    {
                        block(one, &document, &prefix, place, out)?;
                    }
                    for (number, one) in list(value, "messages").iter().enumerate() {
                        message(
                            one,
                            &document,
                            &format!("{prefix}message {}", number + 1),
                            place,
                            out,
                        )?;
                    }
                    Ok(())
                }
                Some("blocks" | "core_memory") => block(value, &document, "", place, out),
                Some("messages") => message(
                    value,
                    &document,
                    &format!("message {}", place.line),
                    place,
                    out,
                ),
                _ => Ok(()),
            }
        });
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

/// Each paragraph of a block is a memory.
fn block(
    value: &Value,
    document: &str,
    prefix: &str,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let label = any_text(value, &["label", "name"]).unwrap_or("block");
    let Some(said) = any_text(value, &["value", "content"]) else {
        return out.skip(
            place.clone(),
            SkipReason::Blank,
            format!("the block {label:?} has no text"),
        );
    };
    let said = said.replace("\r\n", "\n");
    for paragraph in said.split("\n\n").map(str::trim).filter(|p| !p.is_empty()) {
        let part = format!(
            "{prefix}block {label}/{:016x}",
            xxh3_64(paragraph.as_bytes())
        );
        let mut item = SourceItem::new(
            out.id(document, part),
            ItemType::Memory,
            paragraph,
            place.clone(),
        );
        item.title = Some(label.to_owned());
        item.set("label", label);
        item.set("description", text(value, "description"));
        out.emit(item)?;
    }
    Ok(())
}

fn message(
    value: &Value,
    document: &str,
    fallback: &str,
    place: &ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let place = place.clone();
    let content = any(value, &["content", "text"]).unwrap_or(&Value::Null);
    let (role, said) = match text(value, "role") {
        Some("user") => match unwrapped(&content_text(content)) {
            Some(said) => (TurnRole::User, said),
            None => return out.skip(place, SkipReason::Injected, "an event of the client"),
        },
        Some("assistant") => {
            let sent = sent_messages(value);
            // With calls, the content is what the agent thinks.
            let has_calls = !list(value, "tool_calls").is_empty();
            let said = if has_calls {
                sent
            } else {
                content_text(content)
            };
            (TurnRole::Assistant, said)
        }
        Some("tool") => return out.skip(place, SkipReason::Machinery, "the result of a tool"),
        Some("system") => return out.skip(place, SkipReason::Hidden, "a message of the system"),
        _ => return out.skip(place, SkipReason::Malformed, "a message without a role"),
    };
    if said.trim().is_empty() {
        return out.skip(
            place,
            SkipReason::Machinery,
            "tools or reasoning, and no text",
        );
    }
    let time = out.time(any(value, &["created_at", "date"]), &place)?;
    let part = loose_text(value, "id").unwrap_or_else(|| fallback.to_owned());
    let mut item = SourceItem::new(out.id(document, part), ItemType::Turn, said, place);
    item.role = Some(role);
    item.time = time;
    item.set("model", text(value, "model"));
    out.emit(item)
}

/// The user's words; none for heartbeats and the like.
fn unwrapped(said: &str) -> Option<String> {
    let trimmed = said.trim();
    let wrapped = trimmed
        .starts_with('{')
        .then(|| serde_json::from_str::<Value>(trimmed).ok())
        .flatten();
    match wrapped {
        None => Some(said.to_owned()),
        Some(value) => match text(&value, "type") {
            Some("user_message") | None => Some(text(&value, "message").unwrap_or(said).to_owned()),
            Some(_) => None,
        },
    }
}

fn sent_messages(value: &Value) -> String {
    let calls = list(value, "tool_calls")
        .iter()
        .filter_map(|call| call.get("function"));
    let sent = calls
        .filter(|call| text(call, "name") == Some("send_message"))
        .filter_map(|call| {
            let arguments: Value = serde_json::from_str(text(call, "arguments")?).ok()?;
            text(&arguments, "message").map(str::to_owned)
        });
    sent.collect::<Vec<_>>().join("\n\n")
}
