//! Rollouts of Codex: JSON lines of `{timestamp, type, payload}`, of which `response_item` has the messages.
//!
//! Older rollouts have the messages without the envelope. A rollout is only appended to: its lines name the turns.

use serde_json::Value;

use super::fields::{content_text, text};
use super::head::LineHead;
use super::json_files::{each_line, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let is_envelope = head.has("payload")
        && matches!(
            head.type_name(),
            "response_item" | "event_msg" | "turn_context"
        );
    if head.type_name() == "session_meta" || is_envelope {
        return Some("lines with response_item");
    }
    let is_old =
        head.has("instructions") || head.has("record_type") || head.type_name() == "message";
    (head.name.starts_with("rollout-") && is_old).then_some("a rollout by its name")
}

/// How messages begin that the client writes in the user's name.
const CLIENT_WORDS: [&str; 5] = [
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<user_instructions>",
    "<environment_context>",
    "<permissions instructions>",
];

#[derive(Default)]
struct RolloutHead {
    session: Option<String>,
    project: Option<String>,
    branch: Option<String>,
    model: Option<String>,
}

pub(super) fn read_rollouts(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let stem = file.name().trim_end_matches(".jsonl").to_owned();
        let mut head = RolloutHead::default();
        let result = each_line(tree, file, out, |value, place, out| {
            head.line(&value, &stem, place, out)
        });
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

impl RolloutHead {
    fn line(
        &mut self,
        value: &Value,
        stem: &str,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let payload = value.get("payload").filter(|payload| payload.is_object());
        let (kind, body) = match payload {
            Some(payload) => (text(value, "type").unwrap_or_default(), payload),
            None => ("response_item", value),
        };
        match kind {
            "session_meta" => {
                // A fork repeats the lines of its parent: the first head is its own.
                self.learn(body);
                return Ok(());
            }
            "turn_context" => {
                self.model = text(body, "model").map(str::to_owned);
                return Ok(());
            }
            "response_item" => {}
            _ => return out.skip(place, SkipReason::Machinery, "a record of the client"),
        }
        let item_type = text(body, "type").unwrap_or_default();
        if item_type.is_empty() && body.get("id").is_some() && payload.is_none() {
            self.learn(body);
            return Ok(());
        }
        if item_type != "message" {
            return out.skip(
                place,
                SkipReason::Machinery,
                "tools or reasoning, and no text",
            );
        }
        let role = match text(body, "role") {
            Some("user") => TurnRole::User,
            Some("assistant") => TurnRole::Assistant,
            _ => {
                return out.skip(
                    place,
                    SkipReason::Hidden,
                    "a message of the developer or the system",
                );
            }
        };
        let said = content_text(body.get("content").unwrap_or(&Value::Null));
        let front = said.trim_start();
        if role == TurnRole::User && CLIENT_WORDS.iter().any(|words| front.starts_with(words)) {
            return out.skip(
                place,
                SkipReason::Injected,
                "a message that the client added",
            );
        }
        let time = out.time(value.get("timestamp"), &place)?;
        let session = self.session.as_deref().unwrap_or(stem);
        let part = format!("line {}", place.line);
        let mut item = SourceItem::new(out.id(session, part), ItemType::Turn, said, place);
        item.set(
            "model",
            self.model.clone().filter(|_| role == TurnRole::Assistant),
        );
        item.role = Some(role);
        item.time = time;
        item.set("project", self.project.clone());
        item.set("git_branch", self.branch.clone());
        out.emit(item)
    }

    fn learn(&mut self, meta: &Value) {
        if self.session.is_some() {
            return;
        }
        self.session = text(meta, "id").map(str::to_owned);
        self.project = text(meta, "cwd").map(str::to_owned);
        let git = meta.get("git").unwrap_or(&Value::Null);
        self.branch = text(git, "branch").map(str::to_owned);
    }
}
