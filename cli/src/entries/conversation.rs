//! Conversations: JSON lines, one turn each.
//!
//! `{"session": "trip/1", "speaker": "Ada", "text": "…", "event_time": "2026-03-02T09:00:00Z", "id": "D1:3"}`;
//! `event_time` and `id` are optional, unknown fields are refused. A turn becomes an event with the text "speaker:
//! text" and the attributes `speaker` and `source_id`.

use std::fs::File;
use std::io::BufReader;

use amem_client::v1;
use amem_format::limits;
use serde::Deserialize;

use super::entry::TextEntry;
use super::input::ImportInput;
use crate::failure::Failure;
use crate::lines::{LineError, Lines};
use crate::when::{self, timestamp};

/// The longest text with every character escaped, and room for the other fields.
const LINE_BYTES_MAX: u64 = 6 * limits::TEXT_BYTES_MAX as u64 + (64 << 10);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnLine {
    session: String,
    speaker: String,
    text: String,
    event_time: Option<TurnTime>,
    id: Option<String>,
}

/// A time in words, or seconds or milliseconds since 1970.
#[derive(Deserialize)]
#[serde(untagged, expecting = "\"event_time\" is neither a text nor a number")]
enum TurnTime {
    Text(String),
    Number(serde_json::Number),
}

impl TurnTime {
    fn parse(&self) -> Result<amem_format::Micros, String> {
        match self {
            Self::Text(text) => when::parse_time(text),
            Self::Number(number) => when::parse_time(&number.to_string()),
        }
    }
}

/// In order; blank lines are skipped.
pub(super) struct ConversationLines<'i> {
    input: &'i ImportInput,
    lines: Lines<BufReader<File>>,
}

impl<'i> ConversationLines<'i> {
    pub(super) fn new(input: &'i ImportInput) -> Result<Self, Failure> {
        Ok(Self {
            input,
            lines: Lines::new(input.reader()?, LINE_BYTES_MAX),
        })
    }
}

impl Iterator for ConversationLines<'_> {
    type Item = Result<TextEntry, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = match self.lines.next() {
            Ok(None) => return None,
            Ok(Some(json)) => parse(json),
            Err(LineError::Io(error)) => return Some(Err(self.input.failed(&error))),
            Err(long) => Err(long.to_string()),
        };
        let line = self.lines.number();
        Some(match entry {
            Ok((session, event)) => Ok(TextEntry::fact(line, session, event)),
            Err(why) => {
                let remedy =
                    "a turn is {\"session\", \"speaker\", \"text\", \"event_time\", \"id\"}";
                Err(self.input.bad_line(line, &why, remedy))
            }
        })
    }
}

/// The session's key, and the event.
fn parse(json: &[u8]) -> Result<(String, v1::NewEvent), String> {
    let parsed: TurnLine = serde_json::from_slice(json).map_err(|e| {
        let what = e.to_string();
        // serde counts lines within the line; the caller names the line of the file.
        what.split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned()
    })?;
    for (name, value) in [
        ("session", &parsed.session),
        ("speaker", &parsed.speaker),
        ("text", &parsed.text),
    ] {
        if value.trim().is_empty() {
            return Err(format!("{name:?} is empty"));
        }
    }
    let text = format!("{}: {}", parsed.speaker, parsed.text);
    at_most("\"session\"", parsed.session.len(), limits::NAME_BYTES_MAX)?;
    at_most("speaker and text", text.len(), limits::TEXT_BYTES_MAX)?;
    let event_time = parsed.event_time.map(|time| time.parse()).transpose()?;
    let mut attributes = serde_json::Map::new();
    attributes.insert("speaker".into(), parsed.speaker.into());
    if let Some(id) = parsed.id {
        attributes.insert("source_id".into(), id.into());
    }
    let attributes = serde_json::Value::Object(attributes).to_string();
    at_most(
        "speaker and id as JSON",
        attributes.len(),
        limits::ATTRIBUTES_BYTES_MAX,
    )?;
    let event = v1::NewEvent {
        text,
        event_time: event_time.map(timestamp),
        attributes_json: attributes,
        ..Default::default()
    };
    Ok((parsed.session, event))
}

pub(super) fn at_most(what: &str, bytes: usize, max: usize) -> Result<(), String> {
    if bytes > max {
        Err(format!(
            "{what} is {bytes} bytes, more than the {max} allowed"
        ))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::entries::EntrySession;

    fn read(text: &str) -> Result<Vec<TextEntry>, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        ConversationLines::new(&ImportInput::open(file.path())?)?.collect()
    }

    #[test]
    fn a_turn_becomes_text_time_and_attributes() {
        let turns = read(concat!(
            r#"{"session":"a/1","speaker":"Ada","text":"hello","event_time":"2026-03-02T09:00:00Z","id":"D1:1"}"#,
            "\n\n",
            r#"{"session":"a/1","speaker":"Bob","text":"good day"}"#,
        ))
        .unwrap();
        assert_eq!(turns.len(), 2);
        let [first, second] = [0, 1].map(|at| turns[at].event.clone());
        assert_eq!(turns[0].session, EntrySession::Key("a/1".into()));
        assert_eq!(first.text, "Ada: hello");
        assert_eq!(first.event_time.unwrap().seconds, 1_772_442_000);
        assert_eq!(
            first.attributes_json,
            r#"{"speaker":"Ada","source_id":"D1:1"}"#
        );
        assert_eq!((turns[1].line, second.event_time), (3, None));
        assert_eq!(second.attributes_json, r#"{"speaker":"Bob"}"#);
    }

    #[test]
    fn a_bad_line_is_named_with_what_is_wrong() {
        let good = r#"{"session":"a","speaker":"Ada","text":"x"}"#;
        let long = "y".repeat(limits::TEXT_BYTES_MAX);
        for (bad, word) in [
            ("{", "EOF"),
            ("[]", "invalid"),
            (r#"{"session":"a","speaker":"Ada"}"#, "missing field `text`"),
            (r#"{"session":"a","speaker":"Ada","text":""}"#, "is empty"),
            (
                r#"{"session":"a","speaker":"Ada","text":"x","mood":"low"}"#,
                "unknown field `mood`",
            ),
            (
                r#"{"session":"a","speaker":"Ada","text":"x","event_time":"someday"}"#,
                "RFC",
            ),
            (
                &format!(
                    r#"{{"session":"{}","speaker":"Ada","text":"x"}}"#,
                    "k".repeat(257)
                ),
                "257 bytes",
            ),
            (
                &format!(r#"{{"session":"a","speaker":"Ada","text":"{long}"}}"#),
                "1048581 bytes",
            ),
        ] {
            let error = read(&format!("{good}\n{bad}\n{good}")).unwrap_err();
            let message = error.message;
            assert!(message.contains("line 2 of "), "{message}");
            assert!(
                message.contains(word) || word == "RFC" && message.contains("2024-02-29T12:30:00Z"),
                "{message}"
            );
        }
    }

    #[test]
    fn a_line_without_end_is_refused_before_it_fills_the_memory() {
        let error = read(&"x".repeat(LINE_BYTES_MAX as usize + 1)).unwrap_err();
        assert!(error.message.contains("longer than"), "{error:?}");
    }
}
