//! Sessions of Copilot CLI: events of `{type, data, id, timestamp, parentId}`.

use serde_json::Value;

use super::fields::{any_text, is_true, text};
use super::head::LineHead;
use super::json_files::{each_line, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, TreeFile};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let name = head.type_name();
    let is_event = name.starts_with("session.") || name.ends_with(".message");
    (head.has("data") && is_event).then_some("events with a type and data")
}

#[derive(Default)]
struct SessionHead {
    session: Option<String>,
    project: Option<String>,
    branch: Option<String>,
}

pub(super) fn read_events(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let mut head = SessionHead::default();
        // The folder is the session, if no event says it.
        let folder = tree
            .shown(file)
            .rsplit('/')
            .nth(1)
            .unwrap_or_default()
            .to_owned();
        let result = each_line(tree, file, out, |value, place, out| {
            head.event(&value, &folder, place, out)
        });
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

impl SessionHead {
    fn event(
        &mut self,
        event: &Value,
        folder: &str,
        place: ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let data = event.get("data").unwrap_or(&Value::Null);
        let role = match text(event, "type").unwrap_or_default() {
            "session.start" | "session.resume" => {
                let context = data.get("context").unwrap_or(&Value::Null);
                let learn = |own: &mut Option<String>, value: Option<&str>| {
                    if let Some(value) = value {
                        *own = Some(value.to_owned());
                    }
                };
                learn(&mut self.session, text(data, "sessionId"));
                learn(&mut self.project, any_text(context, &["cwd", "gitRoot"]));
                learn(&mut self.branch, text(context, "branch"));
                return Ok(());
            }
            "user.message" => TurnRole::User,
            "assistant.message" => TurnRole::Assistant,
            "system.message" => {
                return out.skip(place, SkipReason::Hidden, "a message of the system");
            }
            _ => return out.skip(place, SkipReason::Machinery, "a record of the client"),
        };
        if any_text(data, &["parentToolCallId", "agentId"]).is_some()
            || text(event, "agentId").is_some()
        {
            return out.skip(
                place,
                SkipReason::Sidechain,
                "the work of an agent below the agent",
            );
        }
        let is_added = text(data, "source").is_some_and(|source| source != "user");
        if is_added || is_true(event, "ephemeral") {
            return out.skip(
                place,
                SkipReason::Injected,
                "a message that the client added",
            );
        }
        let Some(said) = text(data, "content") else {
            return out.skip(
                place,
                SkipReason::Machinery,
                "tools or reasoning, and no text",
            );
        };
        let time = out.time(event.get("timestamp"), &place)?;
        let session = self.session.as_deref().unwrap_or(folder);
        let part =
            any_text(event, &["id"]).map_or_else(|| format!("line {}", place.line), str::to_owned);
        let mut item = SourceItem::new(out.id(session, part), ItemType::Turn, said, place);
        item.role = Some(role);
        item.time = time;
        item.set("model", text(data, "model"));
        item.set("project", self.project.clone());
        item.set("git_branch", self.branch.clone());
        out.emit(item)
    }
}
