//! Messages as callers send them.

use serde_json::{Map, Value};

use amem_format::types::Micros;
use amem_query::time_phrase::{Clock, parse_phrase};

use crate::error::{Error, Result};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Instructions of the program: never remembered.
    System,
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The result of a tool: context only.
    Tool,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// Anything else: its type, such as `image_url`. It is named in the answer and not remembered.
    Other(String),
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// The name of the speaker, which facts use for "I".
    pub name: Option<String>,
    /// What is said.
    pub content: Vec<ContentPart>,
    /// When it was said.
    pub time: Option<Micros>,
}

impl Message {
    /// A user's message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            name: None,
            content: vec![ContentPart::Text(text.into())],
            time: None,
        }
    }
}

/// Reads messages as JSON: a string, one message, or a list of both.
///
/// A message is `{"role", "content"}` with a text or a list of parts as content, and optionally `name` and `timestamp`
/// (seconds since 1970, or a time as text). Without a role it is the user's. An unknown role is an error that names the
/// message.
pub fn messages_from_json(value: &Value) -> Result<Vec<Message>> {
    match value {
        Value::String(text) => Ok(vec![Message::user(text)]),
        Value::Object(object) => Ok(vec![message(object, "messages")?]),
        Value::Array(list) => {
            let read = |(at, one): (usize, &Value)| match one {
                Value::String(text) => Ok(Message::user(text)),
                Value::Object(object) => message(object, &format!("messages[{at}]")),
                _ => Err(Error::invalid(
                    format!("messages[{at}]"),
                    "a message is a text or an object with role and content",
                )),
            };
            list.iter().enumerate().map(read).collect()
        }
        _ => Err(Error::invalid(
            "messages",
            "a text, a message, or a list of messages is accepted",
        )),
    }
}

fn message(object: &Map<String, Value>, place: &str) -> Result<Message> {
    let role = match object.get("role") {
        None | Some(Value::Null) => Role::User,
        Some(Value::String(role)) => match role.as_str() {
            "system" | "developer" => Role::System,
            "user" | "human" => Role::User,
            "assistant" | "ai" | "model" => Role::Assistant,
            "tool" | "function" => Role::Tool,
            _ => {
                let why = format!("unknown role {role:?}: use system, user, assistant or tool");
                return Err(Error::invalid(format!("{place}.role"), why));
            }
        },
        Some(_) => return Err(Error::invalid(format!("{place}.role"), "a role is a text")),
    };
    let content = match object.get("content") {
        Some(Value::String(text)) => vec![ContentPart::Text(text.clone())],
        Some(Value::Array(parts)) => parts
            .iter()
            .enumerate()
            .map(|(at, one)| part(one, &format!("{place}.content[{at}]")))
            .collect::<Result<_>>()?,
        Some(Value::Object(_)) => vec![part(&object["content"], &format!("{place}.content"))?],
        // An assistant's message of tool calls alone has no content.
        Some(Value::Null) | None if object.contains_key("tool_calls") => {
            vec![ContentPart::Other("tool_calls".into())]
        }
        Some(Value::Null) | None => {
            return Err(Error::invalid(format!("{place}.content"), "it is missing"));
        }
        Some(_) => {
            return Err(Error::invalid(
                format!("{place}.content"),
                "content is a text or a list of parts",
            ));
        }
    };
    let name = object
        .get("name")
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let time = ["timestamp", "created_at", "time"]
        .iter()
        .find_map(|key| object.get(*key).filter(|v| !v.is_null()));
    Ok(Message {
        role,
        name: name.map(str::to_owned),
        content,
        time: time
            .map(|time| time_from_json(time, &format!("{place}.timestamp")))
            .transpose()?,
    })
}

fn part(value: &Value, place: &str) -> Result<ContentPart> {
    match value {
        Value::String(text) => Ok(ContentPart::Text(text.clone())),
        Value::Object(object) => {
            let kind = object.get("type").and_then(Value::as_str).unwrap_or("text");
            let text = object.get("text").and_then(Value::as_str);
            Ok(match text {
                Some(text) if matches!(kind, "text" | "input_text" | "output_text") => {
                    ContentPart::Text(text.to_owned())
                }
                _ => ContentPart::Other(kind.to_owned()),
            })
        }
        _ => Err(Error::invalid(
            place,
            "a part of a message is a text or an object with a type",
        )),
    }
}

/// A time in a request: seconds or milliseconds since 1970, or a text with a zone.
pub fn time_from_json(value: &Value, field: &str) -> Result<Micros> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => {
            return Err(Error::invalid(
                field,
                "a time is seconds since 1970 or a text such as 2024-02-29T12:30:00Z",
            ));
        }
    };
    let named = parse_phrase(&text, &Clock::known(None, Some(jiff::tz::TimeZone::UTC)));
    named
        .map(|named| named.at)
        .map_err(|e| Error::invalid(field, e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_usual_form_of_messages_is_read() {
        assert_eq!(
            messages_from_json(&json!("I like tea")),
            Ok(vec![Message::user("I like tea")])
        );
        let one = messages_from_json(&json!([
            "hi",
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "user", "name": "Mia", "timestamp": 1700000000, "content": [
                {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}, "here"]},
        ]))
        .unwrap();
        assert_eq!(one.len(), 3);
        assert_eq!(
            one[2].content,
            [
                ContentPart::Text("look".into()),
                ContentPart::Other("image_url".into()),
                ContentPart::Text("here".into())
            ]
        );
        assert_eq!(one[2].time, Some(Micros(1_700_000_000_000_000)));
        assert_eq!(one[2].name.as_deref(), Some("Mia"));
    }

    #[test]
    fn what_is_no_message_is_named() {
        for (bad, place) in [
            (json!(7), "messages:"),
            (json!([7]), "messages[0]:"),
            (json!([{"role": "user"}]), "messages[0].content:"),
            (
                json!([{"role": "queen", "content": "x"}]),
                "messages[0].role:",
            ),
            (
                json!([{"role": "user", "content": [7]}]),
                "messages[0].content[0]:",
            ),
            (
                json!([{"role": "user", "content": "x", "timestamp": "soon"}]),
                "messages[0].timestamp:",
            ),
        ] {
            let error = messages_from_json(&bad).unwrap_err().to_string();
            assert!(error.starts_with(place), "{bad}: {error}");
        }
    }
}
