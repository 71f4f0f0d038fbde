//! Transcripts of Claude Code: JSON lines, a tree by `parentUuid`.
//!
//! Read is the branch that ends with the last message; what the user went back from is left out. Left out, too: meta
//! lines, agents below the agent, results of tools, reasoning, summaries that the client writes when it compacts.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_128;

use super::fields::{any_text, content_text, is_true, text};
use super::head::LineHead;
use crate::error::SourceError;
use crate::input::{FileTree, JsonLine, JsonLines, TreeFile};
use crate::item::{ItemPlace, ItemRelation, ItemType, SkipReason, SourceItem, TurnRole};
use crate::limits;
use crate::output::ItemOutput;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let is_one = head.has("sessionId")
        && (head.has("parentUuid") || head.has("uuid") || head.has("isSidechain"));
    is_one.then_some("lines with sessionId and parentUuid")
}

/// Reads sessions. A turn that stands in two files, because a session was forked, is read once.
pub(super) fn read_transcripts(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let mut known = HashSet::new();
    for file in files {
        let place = tree.place(file, 0);
        let branch = match Branch::of(tree, file) {
            Ok(branch) => branch,
            Err(error) => {
                out.skip_file(place, &error)?;
                continue;
            }
        };
        out.counts.files += 1;
        if let Err(error) = read_transcript(tree, file, &branch, &mut known, out)? {
            out.skip_file(place, &error)?;
        }
    }
    Ok(())
}

/// A message, as the first pass sees it.
#[derive(Debug, Clone, Copy)]
struct MessageLink {
    parent: Option<u128>,
    /// The message of the model of which the line is a part.
    message: Option<u128>,
    /// The message before it in the file.
    before: Option<u128>,
}

/// The messages from the last one to the first.
#[derive(Debug, Default)]
struct Branch {
    members: HashSet<u128>,
    /// A message of the model comes in several lines; each tool call may begin a branch.
    messages: HashSet<u128>,
}

fn key(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

impl Branch {
    fn of(tree: &FileTree, file: &TreeFile) -> std::io::Result<Self> {
        let mut links: HashMap<u128, MessageLink> = HashMap::new();
        let mut last = None;
        let mut before = None;
        let mut lines = JsonLines::new(tree.read(file)?);
        while let Some(line) = lines.next()? {
            let JsonLine::Value(value) = line else {
                continue;
            };
            let Some(uuid) = text(&value, "uuid").map(key) else {
                continue;
            };
            if is_true(&value, "isSidechain") || links.len() == limits::TRANSCRIPT_LINES_MAX {
                continue;
            }
            let parent = any_text(&value, &["parentUuid", "logicalParentUuid"]).map(key);
            let message = value.get("message").and_then(|m| text(m, "id")).map(key);
            links.insert(
                uuid,
                MessageLink {
                    parent,
                    message,
                    before,
                },
            );
            before = Some(uuid);
            if matches!(text(&value, "type"), Some("user" | "assistant")) {
                last = Some(uuid);
            }
        }
        let mut branch = Self::default();
        while let Some(uuid) = last {
            let Some(link) = links.get(&uuid) else { break };
            // A circle ends here.
            if !branch.members.insert(uuid) {
                break;
            }
            branch.messages.extend(link.message);
            // A parent that is missing was pruned, or stands in another file: the line above continues the branch.
            last = match link.parent {
                Some(parent) if !links.contains_key(&parent) => link.before,
                parent => parent,
            };
        }
        Ok(branch)
    }

    fn has(&self, value: &Value) -> bool {
        let uuid = text(value, "uuid").map(key);
        let message = value.get("message").and_then(|m| text(m, "id")).map(key);
        // Old lines have no id: they are all of one branch.
        uuid.is_none_or(|uuid| self.members.contains(&uuid))
            || message.is_some_and(|message| self.messages.contains(&message))
    }
}

type Read<T> = Result<std::io::Result<T>, SourceError>;

fn read_transcript(
    tree: &FileTree,
    file: &TreeFile,
    branch: &Branch,
    known: &mut HashSet<u128>,
    out: &mut ItemOutput<'_>,
) -> Read<()> {
    let stem = file.name().trim_end_matches(".jsonl").to_owned();
    let bytes = match tree.read(file) {
        Ok(bytes) => bytes,
        Err(error) => return Ok(Err(error)),
    };
    let mut lines = JsonLines::new(bytes);
    let mut title = None;
    loop {
        let line = match lines.next() {
            Ok(Some(line)) => line,
            Ok(None) => return Ok(Ok(())),
            Err(error) => return Ok(Err(error)),
        };
        let place = tree.place(file, lines.number());
        let value = match line {
            JsonLine::Value(value) => value,
            JsonLine::Bad(reason, why) => {
                out.skip(place, reason, why)?;
                continue;
            }
        };
        if !value.is_object() {
            out.skip(place, SkipReason::Malformed, "the line is no object")?;
            continue;
        }
        if let Some(named) = any_text(&value, &["customTitle", "aiTitle"]) {
            title = Some(named.to_owned());
        }
        let session = text(&value, "sessionId").unwrap_or(&stem);
        if let Some((reason, why)) = left_out(&value, branch) {
            out.skip(place, reason, why)?;
            continue;
        }
        let uuid = text(&value, "uuid").map(str::to_owned);
        let part = uuid.unwrap_or_else(|| format!("line {}", lines.number()));
        if !known.insert(key(&part)) && !part.starts_with("line ") {
            out.skip(
                place,
                SkipReason::Repeated,
                "the turn stands in an earlier session",
            )?;
            continue;
        }
        turn(&value, session, part, title.as_deref(), place, out)?;
    }
}

/// Why a line is no turn.
fn left_out(value: &Value, branch: &Branch) -> Option<(SkipReason, &'static str)> {
    let kind = text(value, "type").unwrap_or_default();
    let is_turn = matches!(kind, "user" | "assistant");
    if !is_turn || value.get("message").is_none() {
        return Some((SkipReason::Machinery, "a record of the client"));
    }
    if is_true(value, "isSidechain") {
        return Some((
            SkipReason::Sidechain,
            "the work of an agent below the agent",
        ));
    }
    if is_true(value, "isMeta") || is_true(value, "isVisibleInTranscriptOnly") {
        return Some((SkipReason::Injected, "a message that the client added"));
    }
    if is_true(value, "isCompactSummary") {
        return Some((SkipReason::Injected, "a summary that the client wrote"));
    }
    if is_true(value, "isApiErrorMessage") {
        return Some((SkipReason::Machinery, "an error of the service"));
    }
    if !branch.has(value) {
        return Some((SkipReason::Hidden, "a branch that the user left"));
    }
    None
}

fn turn(
    value: &Value,
    session: &str,
    part: String,
    title: Option<&str>,
    place: ItemPlace,
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    let message = value.get("message").unwrap_or(&Value::Null);
    let said = content_text(message.get("content").unwrap_or(&Value::Null));
    if said.trim().is_empty() {
        return out.skip(
            place,
            SkipReason::Machinery,
            "tools or reasoning, and no text",
        );
    }
    if said.starts_with("[Request interrupted by user") {
        return out.skip(
            place,
            SkipReason::Injected,
            "a message that the client added",
        );
    }
    let time = out.time(value.get("timestamp"), &place)?;
    let mut item = SourceItem::new(out.id(session, part), ItemType::Turn, said, place);
    item.role = Some(match text(value, "type") {
        Some("assistant") => TurnRole::Assistant,
        _ => TurnRole::User,
    });
    item.title = title.map(str::to_owned);
    item.time = time;
    item.set("project", text(value, "cwd"));
    item.set("git_branch", text(value, "gitBranch"));
    item.set("model", text(message, "model"));
    if let Some(parent) = text(value, "parentUuid") {
        item.relations.push(ItemRelation {
            name: "follows".to_owned(),
            to: out.id(session, parent),
        });
    }
    out.emit(item)
}
