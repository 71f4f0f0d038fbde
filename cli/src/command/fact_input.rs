//! What `amemctl fact add` reads: a text, or a conversation.
//!
//! A JSON array is a list of messages. Lines are a conversation if the first one is a JSON object with content, or if
//! the first one begins with `user:` or `assistant:`; else the whole input is one message.

use std::io::{Read, stdin};

use amem_client::v1;
use serde::Deserialize;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::when;

/// The most that one add takes (4 MiB of text), with room for what stands around it.
const INPUT_BYTES_MAX: u64 = 8 << 20;

#[derive(Deserialize)]
struct MessageLine {
    role: Option<String>,
    content: String,
    name: Option<String>,
    timestamp: Option<serde_json::Value>,
}

/// The messages of an argument, or of stdin for `-`.
pub(super) fn messages(argument: &str) -> Result<Vec<v1::FactMessage>, Failure> {
    if argument != "-" {
        return Ok(vec![of_user(argument)]);
    }
    let mut text = String::new();
    let read = stdin().take(INPUT_BYTES_MAX + 1).read_to_string(&mut text);
    read.map_err(|e| {
        let message = format!("cannot read stdin: {e}");
        Failure::new(Exit::Io, "io", message, "pipe UTF-8 text into the command")
    })?;
    if text.len() as u64 > INPUT_BYTES_MAX {
        let message = format!("stdin has more than {INPUT_BYTES_MAX} bytes");
        return Err(Failure::argument(
            message,
            "add a part of the conversation at a time",
        ));
    }
    parse(&text)
}

fn of_user(text: &str) -> v1::FactMessage {
    v1::FactMessage {
        role: v1::FactRole::User.into(),
        text: text.to_owned(),
        ..Default::default()
    }
}

/// What a line of a written conversation begins with.
const SPEAKERS: [(&str, v1::FactRole); 8] = [
    ("user", v1::FactRole::User),
    ("human", v1::FactRole::User),
    ("assistant", v1::FactRole::Assistant),
    ("ai", v1::FactRole::Assistant),
    ("model", v1::FactRole::Assistant),
    ("system", v1::FactRole::System),
    ("developer", v1::FactRole::System),
    ("tool", v1::FactRole::Tool),
];

/// The speaker that a line begins with, and what is said in it.
fn spoken(line: &str) -> Option<(v1::FactRole, &str)> {
    let (name, said) = line.trim_start().split_once(':')?;
    let name = name.trim_end();
    let known = SPEAKERS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))?;
    Some((known.1, said.trim_start()))
}

/// The messages of lines of which the first begins with a speaker. A line without one belongs to the message before.
fn written(text: &str) -> Vec<v1::FactMessage> {
    let mut out: Vec<v1::FactMessage> = Vec::new();
    for line in text.lines() {
        match (spoken(line), out.last_mut()) {
            (Some((role, said)), _) => out.push(v1::FactMessage {
                role: role.into(),
                text: said.to_owned(),
                ..Default::default()
            }),
            (None, Some(last)) => {
                last.text.push('\n');
                last.text.push_str(line);
            }
            // Blank lines before the first speaker.
            (None, None) => {}
        }
    }
    for message in &mut out {
        message.text.truncate(message.text.trim_end().len());
    }
    out.retain(|message| !message.text.is_empty());
    out
}

/// The messages of a JSON array of them; `None` if it is an array of anything else.
fn listed(text: &str) -> Option<Result<Vec<v1::FactMessage>, Failure>> {
    let list: Vec<serde_json::Value> = serde_json::from_str(text).ok()?;
    let is_message = |one: &serde_json::Value| one.get("content").is_some();
    if !list.iter().any(is_message) {
        return None;
    }
    let one = |(at, value): (usize, serde_json::Value)| {
        let remedy = "a message is {\"role\": \"user\", \"content\": \"…\"}, optionally with name and timestamp";
        let read = serde_json::from_value(value).map_err(|e| e.to_string());
        read.and_then(message)
            .map_err(|why| Failure::argument(format!("message {}: {why}", at + 1), remedy))
    };
    Some(list.into_iter().enumerate().map(one).collect())
}

fn parse(text: &str) -> Result<Vec<v1::FactMessage>, Failure> {
    if text.trim_start().starts_with('[')
        && let Some(messages) = listed(text)
    {
        return messages;
    }
    let first = text.lines().find(|line| !line.trim().is_empty());
    if first.is_some_and(|line| spoken(line).is_some()) {
        return Ok(written(text));
    }
    let mut lines = text.lines().enumerate();
    let is_conversation = lines
        .clone()
        .map(|(_, line)| line.trim())
        .find(|line| !line.is_empty())
        .is_some_and(|line| serde_json::from_str::<MessageLine>(line).is_ok());
    if !is_conversation {
        return Ok(vec![of_user(text)]);
    }
    let mut out = Vec::new();
    lines.try_for_each(|(at, line)| {
        if !line.trim().is_empty() {
            let parsed = serde_json::from_str(line)
                .map_err(|e| e.to_string())
                .and_then(message);
            out.push(parsed.map_err(|why| {
                let remedy = "a line is {\"role\": \"user\", \"content\": \"…\"}, optionally with name and timestamp";
                Failure::argument(format!("line {}: {why}", at + 1), remedy)
            })?);
        }
        Ok::<(), Failure>(())
    })?;
    Ok(out)
}

fn message(line: MessageLine) -> Result<v1::FactMessage, String> {
    let role = match line.role.as_deref() {
        None | Some("user" | "human") => v1::FactRole::User,
        Some("system" | "developer") => v1::FactRole::System,
        Some("assistant" | "ai" | "model") => v1::FactRole::Assistant,
        Some("tool" | "function") => v1::FactRole::Tool,
        Some(role) => {
            return Err(format!(
                "unknown role {role:?}: use system, user, assistant or tool"
            ));
        }
    };
    let time = match line.timestamp {
        None | Some(serde_json::Value::Null) => None,
        Some(serde_json::Value::String(text)) => Some(when::parse_time(&text)?),
        Some(other) => Some(when::parse_time(&other.to_string())?),
    };
    Ok(v1::FactMessage {
        role: role.into(),
        text: line.content,
        name: line.name.unwrap_or_default(),
        time: time.map(when::timestamp),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_json_are_a_conversation_and_other_text_is_one_message() {
        let lines = "\n{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n";
        let read = parse(lines).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!(read[1].role(), v1::FactRole::Assistant);
        let text = "I live in Porto.\nI like tea.";
        assert_eq!(parse(text).unwrap(), vec![of_user(text)]);
    }

    fn roles(text: &str) -> Vec<(v1::FactRole, String)> {
        let read = parse(text).unwrap().into_iter();
        read.map(|one| (one.role(), one.text)).collect()
    }

    #[test]
    fn an_array_of_messages_has_the_role_of_each() {
        let array = r#"[
            {"role": "user", "content": "I live in Porto"},
            {"role": "assistant", "content": "I like tea", "timestamp": "2026-01-01T00:00:00Z"}
        ]"#;
        let user = (v1::FactRole::User, "I live in Porto".to_owned());
        let assistant = (v1::FactRole::Assistant, "I like tea".to_owned());
        assert_eq!(roles(array), [user.clone(), assistant.clone()]);
        assert!(parse(array).unwrap()[1].time.is_some());
        let text = "[1, 2] are numbers that I like";
        assert_eq!(parse(text).unwrap(), vec![of_user(text)]);
        let failure = parse(r#"[{"content": "a"}, {"role": "queen", "content": "b"}]"#);
        assert!(
            failure
                .unwrap_err()
                .message
                .starts_with("message 2: unknown role")
        );
    }

    #[test]
    fn lines_with_speakers_have_the_role_of_each() {
        let text = "\nuser: I live in Porto\nand I like it\n\nAssistant: Noted.\nUser:  Bye\n";
        assert_eq!(
            roles(text),
            [
                (
                    v1::FactRole::User,
                    "I live in Porto\nand I like it".to_owned()
                ),
                (v1::FactRole::Assistant, "Noted.".to_owned()),
                (v1::FactRole::User, "Bye".to_owned()),
            ]
        );
        let text = "Note to self: user: is a prefix";
        assert_eq!(parse(text).unwrap(), vec![of_user(text)]);
    }

    #[test]
    fn a_bad_line_is_named() {
        let lines = "{\"content\":\"hi\"}\n{\"role\":\"queen\",\"content\":\"x\"}";
        let failure = parse(lines).unwrap_err();
        assert!(
            failure.message.starts_with("line 2:"),
            "{}",
            failure.message
        );
    }
}
