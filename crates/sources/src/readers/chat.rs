//! Conversations without a client: turns or lists of messages as JSON, or lines of text with their speakers.

use std::collections::HashMap;
use std::io;

use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::fields::{any, any_text, content_text, loose_text, text};
use super::head::{JsonHead, LineHead};
use super::json_files::{RecordFailure, each_element, each_line, finish_file};
use crate::error::SourceError;
use crate::input::{FileTree, LineReader, TextLine, TreeFile, decode_head};
use crate::item::{ItemPlace, ItemType, SkipReason, SourceItem, TurnRole};
use crate::limits;
use crate::output::ItemOutput;
use crate::plain_turn::split_turn;

/// Why a line is of this kind, if it is.
pub(super) fn recognize_line(head: &LineHead<'_>) -> Option<&'static str> {
    let is_turn =
        (head.has("role") || head.has("speaker")) && (head.has("content") || head.has("text"));
    let is_list = head.value.get("messages").is_some_and(Value::is_array);
    let is_others = ["agent_type", "projectHash", "core_memory"]
        .iter()
        .any(|key| head.has(key));
    (is_turn || is_list && !is_others).then_some("turns as JSON")
}

/// Why a JSON file is of this kind, if it is.
pub(super) fn recognize_json(head: &JsonHead<'_>) -> Option<&'static str> {
    if (head.has("messages") || head.has("content")) && head.has("role") {
        return Some("messages with role and content");
    }
    let is_one = head.has("speaker") && head.has("text")
        || head.has("conversations") && head.has("from") && head.has("value");
    is_one.then_some("turns with their speakers")
}

const TIME_NAMES: [&str; 9] = [
    "event_time",
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "time",
    "date",
    "datetime",
    "ts",
];
const SESSION_NAMES: [&str; 6] = [
    "session",
    "session_id",
    "sessionId",
    "conversation_id",
    "conversationId",
    "thread_id",
];

pub(super) fn read_chats(
    tree: &FileTree,
    files: &[&TreeFile],
    out: &mut ItemOutput<'_>,
) -> Result<(), SourceError> {
    for file in files {
        let mut chat = ChatReading {
            document: out.document(tree, file),
            known: HashMap::new(),
        };
        let result = match shape(tree, file) {
            Ok(ChatShape::Text) => chat.read_text(tree, file, out),
            Ok(ChatShape::Lines) => each_line(tree, file, out, |value, place, out| {
                chat.record(&value, &place, out)
            }),
            Ok(ChatShape::Whole) => each_element(tree, file, out, |record, out| {
                if record.value.is_object() {
                    chat.record(&record.value, &record.place, out)
                } else {
                    Ok(())
                }
            }),
            Err(error) => Err(RecordFailure::Io(error)),
        };
        finish_file(result, tree, file, out)?;
    }
    Ok(())
}

enum ChatShape {
    Text,
    Lines,
    /// One list, or one object with lists.
    Whole,
}

fn shape(tree: &FileTree, file: &TreeFile) -> io::Result<ChatShape> {
    let head = tree.head(file)?;
    let head = decode_head(&head).unwrap_or_default();
    let front = head.trim_start_matches('\u{feff}').trim_start();
    if !front.starts_with(['{', '[']) {
        return Ok(ChatShape::Text);
    }
    // A list begins with objects; a line of text may begin with a time in brackets.
    let inner = front.trim_start_matches('[').trim_start();
    if front.starts_with('[') {
        return Ok(if inner.starts_with(['{', ']']) {
            ChatShape::Whole
        } else {
            ChatShape::Text
        });
    }
    let first = front.lines().next().unwrap_or_default();
    let is_line = serde_json::from_str::<Value>(first).is_ok()
        || !first.trim_end().ends_with(['{', '[', ',']);
    Ok(if is_line {
        ChatShape::Lines
    } else {
        ChatShape::Whole
    })
}

struct ChatReading {
    document: String,
    /// How often a turn's content stood above.
    known: HashMap<u64, u64>,
}

impl ChatReading {
    /// A turn, or an object with a list of them.
    fn record(
        &mut self,
        value: &Value,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        for name in ["messages", "conversations", "conversation", "turns"] {
            let Some(turns) = value.get(name).and_then(Value::as_array) else {
                continue;
            };
            let session = any_text(value, &SESSION_NAMES).or(text(value, "id"));
            let session =
                session.map_or_else(|| format!("conversation {}", place.line), str::to_owned);
            for turn in turns {
                self.turn(turn, Some(&session), any(value, &TIME_NAMES), place, out)?;
            }
            return Ok(());
        }
        self.turn(value, None, None, place, out)
    }

    fn turn(
        &mut self,
        value: &Value,
        session: Option<&str>,
        fallback: Option<&Value>,
        place: &ItemPlace,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), SourceError> {
        let place = place.clone();
        let role = match any_text(
            value,
            &["role", "speaker", "from", "author", "sender", "name"],
        ) {
            Some("user" | "human") => TurnRole::User,
            Some("assistant" | "gpt" | "ai" | "model" | "bot" | "chatgpt") => TurnRole::Assistant,
            Some("system" | "developer") => {
                return out.skip(place, SkipReason::Hidden, "a message of the system");
            }
            Some("tool" | "function") => {
                return out.skip(place, SkipReason::Machinery, "the result of a tool");
            }
            Some(name) => TurnRole::Speaker(name.to_owned()),
            None => {
                return out.skip(
                    place,
                    SkipReason::Malformed,
                    "a turn without role or speaker",
                );
            }
        };
        let content = any(value, &["content", "text", "value", "message", "body"]);
        let said = content_text(content.unwrap_or(&Value::Null));
        if said.trim().is_empty() {
            return out.skip(
                place,
                SkipReason::Machinery,
                "tools or pictures, and no text",
            );
        }
        let session = any_text(value, &SESSION_NAMES).or(session);
        let time = out.time(any(value, &TIME_NAMES).or(fallback), &place)?;
        let own_id = loose_text(value, "id").or_else(|| loose_text(value, "uuid"));
        let part = own_id.unwrap_or_else(|| self.part(session, role.name(), &said));
        // An id may be one within its session only.
        let part = session.map_or(part.clone(), |session| format!("{session}/{part}"));
        let mut item = SourceItem::new(
            out.id(self.document.as_str(), part),
            ItemType::Turn,
            said,
            place,
        );
        item.role = Some(role);
        item.title = text(value, "title").map(str::to_owned);
        item.time = time;
        item.set("session", session);
        out.emit(item)
    }

    /// By content, and how often that stood above: appended turns leave the others' ids as they are.
    fn part(&mut self, session: Option<&str>, role: &str, said: &str) -> String {
        let whole = format!("{}\n{role}\n{said}", session.unwrap_or_default());
        let hash = xxh3_64(whole.as_bytes());
        let times = self.known.entry(hash).or_default();
        *times += 1;
        match *times {
            1 => format!("{hash:016x}"),
            times => format!("{hash:016x}.{times}"),
        }
    }

    fn read_text(
        &mut self,
        tree: &FileTree,
        file: &TreeFile,
        out: &mut ItemOutput<'_>,
    ) -> Result<(), RecordFailure> {
        let mut lines = LineReader::new(tree.read(file)?);
        let mut open: Option<OpenTurn> = None;
        while let Some(line) = lines.next()? {
            let place = tree.place(file, lines.number());
            let line = match line {
                TextLine::Text(line) => line,
                TextLine::Bad(reason, why) => {
                    out.skip(place, reason, why)?;
                    continue;
                }
            };
            if let Some(turn) = split_turn(&line) {
                if let Some(done) = open.take() {
                    self.emit(done, out)?;
                }
                open = Some(OpenTurn {
                    time: turn.time.to_owned(),
                    speaker: turn.speaker.to_owned(),
                    said: turn.said.to_owned(),
                    place,
                });
            } else if let Some(turn) = &mut open {
                if turn.said.len() + line.len() > limits::ELEMENT_BYTES_MAX {
                    out.skip(place, SkipReason::TooLarge, "the turn has too many lines")?;
                    continue;
                }
                turn.said.push('\n');
                turn.said.push_str(&line);
            } else if !line.trim().is_empty() {
                out.skip(
                    place,
                    SkipReason::Malformed,
                    "a line before the first speaker",
                )?;
            }
        }
        match open {
            Some(done) => Ok(self.emit(done, out)?),
            None => Ok(()),
        }
    }

    fn emit(&mut self, turn: OpenTurn, out: &mut ItemOutput<'_>) -> Result<(), SourceError> {
        if turn.said.trim().is_empty() {
            return out.skip(turn.place, SkipReason::Blank, "nothing was said");
        }
        let time = out.time(Some(&Value::from(turn.time.as_str())), &turn.place)?;
        let role = match turn.speaker.to_ascii_lowercase().as_str() {
            "user" | "human" | "me" | "you" => TurnRole::User,
            "assistant" | "ai" | "chatgpt" | "claude" | "gemini" | "model" | "bot" => {
                TurnRole::Assistant
            }
            "system" => return out.skip(turn.place, SkipReason::Hidden, "a message of the system"),
            _ => TurnRole::Speaker(turn.speaker),
        };
        let part = self.part(Some(&turn.time), role.name(), turn.said.trim());
        let mut item = SourceItem::new(
            out.id(self.document.as_str(), part),
            ItemType::Turn,
            turn.said,
            turn.place,
        );
        item.role = Some(role);
        item.time = time;
        out.emit(item)
    }
}

/// A turn of a text, whose lines are still coming.
struct OpenTurn {
    time: String,
    speaker: String,
    said: String,
    place: ItemPlace,
}
