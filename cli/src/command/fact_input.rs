//! What `amemctl fact add` reads: a text, or a conversation.
//!
//! Lines are a conversation if the first one is a JSON object with content; else the whole input is one message.

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

fn parse(text: &str) -> Result<Vec<v1::FactMessage>, Failure> {
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
            let parsed = message(line);
            out.push(parsed.map_err(|why| {
                let remedy = "a line is {\"role\": \"user\", \"content\": \"…\"}, optionally with name and timestamp";
                Failure::argument(format!("line {}: {why}", at + 1), remedy)
            })?);
        }
        Ok::<(), Failure>(())
    })?;
    Ok(out)
}

fn message(line: &str) -> Result<v1::FactMessage, String> {
    let line: MessageLine = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let role = match line.role.as_deref() {
        None | Some("user" | "human") => v1::FactRole::User,
        Some("system" | "developer") => v1::FactRole::System,
        Some("assistant" | "ai" | "model") => v1::FactRole::Assistant,
        Some("tool" | "function") => v1::FactRole::Tool,
        Some(role) => {
            return Err(format!(
                "{role:?} is no role: system, user, assistant and tool are"
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
