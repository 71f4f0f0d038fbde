//! What a client sends to a hook.

use std::path::PathBuf;

use amem_agents::{HookMoment, fields};
use serde_json::{Map, Value};

use crate::client::HookClient;
use crate::error::HookError;
use crate::limits::{INPUT_BYTES_MAX, SESSION_BYTES_MAX};
use crate::prompt::beginning;

/// A message of a conversation that the client sends along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookMessage {
    /// The client's id; empty if it has none.
    pub id: String,
    /// True if the agent says it.
    pub is_agents: bool,
    /// What is said.
    pub text: String,
    /// When, in microseconds since 1970.
    pub time: Option<i64>,
}

/// What a client sends to a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookInput {
    /// The client.
    pub client: HookClient,
    /// Its name of the event.
    pub event: String,
    /// The moment.
    pub moment: HookMoment,
    /// Its id of the session.
    pub session: String,
    /// The folder that it works in.
    pub folder: Option<PathBuf>,
    /// The file that it writes the conversation to.
    pub transcript: Option<PathBuf>,
    /// The prompt, at its moment, up to `PROMPT_BYTES_MAX`; else empty.
    pub prompt: String,
    /// True if the context was compacted or cleared.
    pub is_cleared: bool,
    /// True if an earlier session goes on, with the context that it has.
    pub is_resumed: bool,
    /// The conversation, of clients that send it along.
    pub messages: Vec<HookMessage>,
    /// The client's id of the prompt and its answer, of clients that have one.
    pub turn: Option<String>,
    /// The answer that is complete, of clients that send it along.
    pub answer: Option<String>,
}

fn text<'v>(object: &'v Map<String, Value>, keys: &[&str]) -> Option<&'v str> {
    let found = keys.iter().find_map(|key| object.get(*key)?.as_str());
    found.filter(|text| !text.is_empty())
}

impl HookInput {
    /// Reads the input of a hook. The event is that of the command line, else that of the input; the client, if the
    /// command line does not name it, is known by what it sends.
    ///
    /// # Errors
    /// Input that is no JSON object, is too large, or names no session; an event without a hook.
    pub fn read(
        bytes: &[u8],
        event: Option<&str>,
        client: Option<HookClient>,
    ) -> Result<Self, HookError> {
        HookError::check("the input in bytes", bytes.len(), INPUT_BYTES_MAX)?;
        let value: Value =
            serde_json::from_slice(bytes).map_err(|e| HookError::NotJson(e.to_string()))?;
        match value {
            Value::Object(input) => Self::of(&input, event, client),
            _ => Err(HookError::NotJson("it is another value".to_owned())),
        }
    }

    /// The same of an object.
    ///
    /// # Errors
    /// As `read`, but for JSON.
    pub fn of(
        input: &Map<String, Value>,
        event: Option<&str>,
        client: Option<HookClient>,
    ) -> Result<Self, HookError> {
        let client = client.unwrap_or_else(|| HookClient::of(input));
        let event = event.or_else(|| text(input, fields::EVENT));
        let event = event.unwrap_or_default().to_owned();
        let moment = HookMoment::of_event(&event)
            .ok_or_else(|| HookError::UnknownEvent(event.chars().take(64).collect()))?;
        let session = text(input, fields::SESSION);
        let session = session.ok_or(HookError::NoSession)?.to_owned();
        HookError::check(
            "the id of the session in bytes",
            session.len(),
            SESSION_BYTES_MAX,
        )?;
        let roots = fields::FOLDERS
            .iter()
            .find_map(|name| input.get(*name)?.as_array());
        let root = roots.and_then(|roots| roots.first()?.as_str());
        let folder = text(input, fields::FOLDER).or(root).map(PathBuf::from);
        let prompt = match moment {
            HookMoment::Prompt => {
                beginning(text(input, &["prompt"]).unwrap_or_default()).to_owned()
            }
            _ => String::new(),
        };
        let source = text(input, &["source"]).unwrap_or_default();
        let messages = input.get("messages").and_then(Value::as_array);
        let messages = messages.into_iter().flatten().filter_map(message).collect();
        Ok(Self {
            client,
            event,
            moment,
            session,
            folder: folder.filter(|folder| folder.is_absolute()),
            transcript: text(input, fields::TRANSCRIPT).map(PathBuf::from),
            prompt,
            is_cleared: matches!(source, "compact" | "clear"),
            is_resumed: source == "resume",
            messages,
            turn: text(input, fields::TURN).map(str::to_owned),
            answer: text(input, fields::ANSWER).map(str::to_owned),
        })
    }
}

fn message(value: &Value) -> Option<HookMessage> {
    let object = value.as_object()?;
    let is_agents = match text(object, &["role"])? {
        "user" => false,
        "assistant" | "model" => true,
        _ => return None,
    };
    // Milliseconds since 1970.
    let time = object.get("time").and_then(Value::as_i64);
    Some(HookMessage {
        id: text(object, &["id"]).unwrap_or_default().to_owned(),
        is_agents,
        text: text(object, &["text"])?.to_owned(),
        time: time.and_then(|millis| millis.checked_mul(1_000)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::PROMPT_BYTES_MAX;

    fn read(json: &str) -> Result<HookInput, HookError> {
        HookInput::read(json.as_bytes(), None, None)
    }

    #[test]
    fn inputs_of_each_client_are_told_apart() {
        let of = |json: &str, event: &str| {
            let input = HookInput::read(json.as_bytes(), Some(event), None).unwrap();
            (input.client.name(), input.moment)
        };
        assert_eq!(
            of(
                r#"{"session_id":"a","transcript_path":"/h/.claude/projects/-p/a.jsonl","cwd":"/p"}"#,
                "Stop"
            ),
            ("claude-code", HookMoment::Answer)
        );
        assert_eq!(
            of(
                r#"{"session_id":"a","transcript_path":"/h/.codex/sessions/2026/11/25/rollout-x.jsonl"}"#,
                "Stop"
            ),
            ("codex", HookMoment::Answer)
        );
        assert_eq!(
            of(
                r#"{"session_id":"a","transcript_path":null,"model":"m"}"#,
                "SessionStart"
            ),
            ("codex", HookMoment::Start)
        );
        assert_eq!(
            of(
                r#"{"session_id":"a","timestamp":"2026-11-26T22:36:38Z","cwd":"/p","prompt":"x"}"#,
                "UserPromptSubmit"
            ),
            ("copilot", HookMoment::Prompt)
        );
        assert_eq!(
            of(
                r#"{"session_id":"a","transcript_path":"/h/.gemini/tmp/p/chats/session-1.jsonl","timestamp":"t"}"#,
                "AfterAgent"
            ),
            ("gemini", HookMoment::Answer)
        );
        assert_eq!(
            of(
                r#"{"conversation_id":"a","workspace_roots":["/p"],"hook_event_name":"stop"}"#,
                "stop"
            ),
            ("cursor", HookMoment::Answer)
        );
    }

    #[test]
    fn wrong_input_is_refused_in_words() {
        for (json, words) in [
            ("", "not a JSON object"),
            ("[1]", "not a JSON object"),
            ("{\"session_id\":\"a\"", "not a JSON object"),
            (r#"{"hook_event_name":"Stop"}"#, "session_id"),
            (
                r#"{"session_id":"a","hook_event_name":"PreToolUse"}"#,
                "PreToolUse",
            ),
            (r#"{"session_id":"a"}"#, "no event"),
            (r#"{"session_id":7,"hook_event_name":"Stop"}"#, "session_id"),
        ] {
            let error = read(json).unwrap_err().to_string();
            assert!(error.contains(words), "{json}: {error}");
        }
        let long = format!(
            r#"{{"session_id":"{}","hook_event_name":"Stop"}}"#,
            "a".repeat(300)
        );
        assert!(read(&long).unwrap_err().to_string().contains("256"));
    }

    #[test]
    fn large_input_of_ten_megabytes_is_read() {
        let json = format!(
            r#"{{"session_id":"a","hook_event_name":"UserPromptSubmit","prompt":"{}"}}"#,
            "word ".repeat(2 << 20)
        );
        assert_eq!(read(&json).unwrap().prompt.len(), PROMPT_BYTES_MAX);
    }
}
