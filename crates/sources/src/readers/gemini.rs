//! Sessions of Gemini CLI: one JSON object, or JSON lines whose later lines change earlier ones.
//!
//! A line with the id of an earlier message replaces it, `$set` changes fields of the session, `$rewindTo` takes back
//! everything from a message on. So a session is held as a whole, within a bound.

use std::collections::HashMap;

use serde_json::Value;

use super::fields::{any_text, content_text, list, text};
use super::head::{JsonHead, LineHead};
use super::json_files::{RecordFailure, each_line, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, JsonElements, TreeFile};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::limits;
use crate::output::ItemOutput;

/// Why a file is a session.
const BY_HASH: &str = "a session with projectHash";

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    (head.has("projectHash") && head.has("sessionId")).then_some(BY_HASH)
}

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    let is_one = head.has("projectHash") && head.has("messages")
        || head.has("sessionId") && head.has("gemini");
    is_one.then_some(BY_HASH)
}

pub(super) fn read_sessions(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let mut session = GeminiSession::default();
        let result = if file.ending() == "json" {
            session.read_object(tree, file, out)
        } else {
            each_line(tree, file, out, |value, place, out| {
                session.line(value, place, out)
            })
        };
        // What came before a failure counts.
        session.emit(file, out)?;
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

#[derive(Default)]
struct GeminiSession {
    id: Option<String>,
    project: Option<String>,
    /// None for a message that was taken back.
    messages: Vec<Option<(Value, ItemPlace)>>,
    by_id: HashMap<String, usize>,
    bytes: usize,
}

impl GeminiSession {
    fn read_object(
        &mut self,
        tree: &FileTree,
        file: &TreeFile,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), RecordFailure> {
        let mut elements = JsonElements::new(tree.read(file)?);
        while let Some(element) = elements.next()? {
            let place = tree.place(file, element.number);
            match (element.key.as_deref(), element.value) {
                (Some("sessionId"), Ok(Value::String(id))) => self.id = Some(id),
                (Some("projectHash"), Ok(Value::String(hash))) => self.project = Some(hash),
                (Some("messages"), Ok(message)) => self.put(message, place, out)?,
                (_, Ok(_)) => {}
                (_, Err(error)) => {
                    let (reason, why) = error.reason();
                    out.skip(place, reason, why)?;
                }
            }
        }
        Ok(())
    }

    fn line(
        &mut self,
        value: Value,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        if let Some(change) = value.get("$set") {
            return self.change(change, place, out);
        }
        if let Some(id) = text(&value, "$rewindTo") {
            let Some(from) = self.by_id.get(id).copied() else {
                return out.skip(
                    place,
                    SkipReason::Dangling,
                    "it takes back to a message that is not there",
                );
            };
            for message in self.messages.iter_mut().skip(from) {
                if let Some((_, place)) = message.take() {
                    out.skip(
                        place,
                        SkipReason::Hidden,
                        "a message that the user took back",
                    )?;
                }
            }
            return Ok(());
        }
        if value.get("projectHash").is_some() || value.get("messages").is_some() {
            return self.change(&value, place, out);
        }
        self.put(value, place, out)
    }

    /// Fields of the session; a list of messages replaces all that came before.
    fn change(
        &mut self,
        change: &Value,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        if let Some(id) = text(change, "sessionId") {
            self.id = Some(id.to_owned());
        }
        if let Some(hash) = text(change, "projectHash") {
            self.project = Some(hash.to_owned());
        }
        if change.get("messages").is_some_and(Value::is_array) {
            self.messages.clear();
            self.by_id.clear();
            self.bytes = 0;
            for message in list(change, "messages") {
                self.put(message.clone(), place.clone(), out)?;
            }
        }
        Ok(())
    }

    fn put(
        &mut self,
        message: Value,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        // Thoughts and calls of tools are most of a message, and are not needed.
        let mut slim = serde_json::Map::new();
        for name in [
            "id",
            "type",
            "role",
            "timestamp",
            "content",
            "displayContent",
            "model",
        ] {
            if let Some(value) = message.get(name) {
                slim.insert(name.to_owned(), value.clone());
            }
        }
        let message = Value::Object(slim);
        self.bytes = self.bytes.saturating_add(message.to_string().len());
        if self.bytes > limits::SESSION_BYTES_MAX {
            let why = format!(
                "the session has more than {} bytes",
                limits::SESSION_BYTES_MAX
            );
            return out.skip(place, SkipReason::TooLarge, why);
        }
        let id = text(&message, "id").map(str::to_owned);
        match id.as_ref().and_then(|id| self.by_id.get(id)).copied() {
            Some(slot) => self.messages[slot] = Some((message, place)),
            None => {
                if let Some(id) = id {
                    self.by_id.insert(id, self.messages.len());
                }
                self.messages.push(Some((message, place)));
            }
        }
        Ok(())
    }

    fn emit(self, file: &TreeFile, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
        let stem = file
            .name()
            .rsplit_once('.')
            .map_or(file.name(), |(stem, _)| stem);
        let session = self.id.as_deref().unwrap_or(stem);
        for (number, (message, place)) in self
            .messages
            .into_iter()
            .enumerate()
            .filter_map(|(n, m)| Some((n, m?)))
        {
            let role = match any_text(&message, &["type", "role"]) {
                Some("user") => TurnRole::User,
                Some("gemini" | "model" | "assistant") => TurnRole::Assistant,
                _ => {
                    out.skip(place, SkipReason::Machinery, "a record of the client")?;
                    continue;
                }
            };
            let said = content_text(message.get("content").unwrap_or(&Value::Null));
            if said.trim().is_empty() {
                out.skip(
                    place,
                    SkipReason::Machinery,
                    "tools or reasoning, and no text",
                )?;
                continue;
            }
            let time = out.time(message.get("timestamp"), &place)?;
            let part = text(&message, "id")
                .map_or_else(|| format!("message {}", number + 1), str::to_owned);
            let mut item = SourceItem::new(out.id(session, part), ItemType::Turn, said, place);
            item.role = Some(role);
            item.time = time;
            item.set("model", text(&message, "model"));
            item.set("project_hash", self.project.clone());
            out.emit(item)?;
        }
        Ok(())
    }
}
