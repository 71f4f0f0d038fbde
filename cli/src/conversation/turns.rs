//! The file of a conversation: JSON lines, one turn each.
//!
//! `{"session": "trip/1", "speaker": "Ada", "text": "…", "event_time": "2026-03-02T09:00:00Z", "id": "D1:3"}`;
//! `event_time` and `id` may be missing, anything else is refused, so that nothing is dropped in silence.
//! A turn becomes an event with the text "speaker: text" and the attributes `speaker` and `source_id`.
//!
//! Promises: an error names the line; memory is bounded by the longest line allowed.
//! Not here: sending what was read (`transfer`).

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use amem_core::query::time;
use amem_core::{Error, Micros, Result, limits};
use serde::Deserialize;

/// Bytes of a line: the longest text with every character escaped, and room for the rest.
pub(crate) const LINE_BYTES_MAX: u64 = 6 * limits::TEXT_BYTES_MAX as u64 + (64 << 10);

/// One turn of a conversation, as it is remembered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Turn {
    /// Its line in the file, from 1.
    pub(crate) line: u64,
    /// The key of its session.
    pub(crate) session: String,
    /// "speaker: text".
    pub(crate) text: String,
    /// When it was said.
    pub(crate) event_time: Option<Micros>,
    /// Speaker and source id, as a JSON object.
    pub(crate) attributes: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    session: String,
    speaker: String,
    text: String,
    event_time: Option<String>,
    id: Option<String>,
}

impl Turn {
    fn parse(line: u64, json: &[u8]) -> std::result::Result<Self, String> {
        let parsed: Line = serde_json::from_slice(json).map_err(|e| {
            let what = e.to_string();
            let what = what.split(" at line ").next().unwrap_or_default();
            format!(
                "{what}; a turn is {{\"session\", \"speaker\", \"text\", \"event_time\", \"id\"}}"
            )
        })?;
        for (name, value) in [
            ("session", &parsed.session),
            ("speaker", &parsed.speaker),
            ("text", &parsed.text),
        ] {
            if value.trim().is_empty() {
                return Err(format!("{name:?} is empty: a turn needs one"));
            }
        }
        let text = format!("{}: {}", parsed.speaker, parsed.text);
        at_most("\"session\"", parsed.session.len(), limits::NAME_BYTES_MAX)?;
        at_most("speaker and text", text.len(), limits::TEXT_BYTES_MAX)?;
        let event_time = parsed
            .event_time
            .map(|t| time::parse(&t))
            .transpose()
            .map_err(|e| e.to_string())?;
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
        Ok(Self {
            line,
            session: parsed.session,
            text,
            event_time,
            attributes,
        })
    }
}

fn at_most(what: &str, bytes: usize, max: usize) -> std::result::Result<(), String> {
    if bytes > max {
        return Err(format!(
            "{what} is {bytes} bytes, more than the {max} allowed"
        ));
    }
    Ok(())
}

/// The turns of a file, in order. Blank lines are skipped.
pub(crate) struct Turns {
    path: PathBuf,
    lines: BufReader<File>,
    line: u64,
    buffer: Vec<u8>,
}

impl Turns {
    /// Opens a file of turns.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        Ok(Self {
            path: path.into(),
            lines: BufReader::new(file),
            line: 0,
            buffer: Vec::new(),
        })
    }

    /// The next line that is not blank; false at the end.
    fn read(&mut self) -> Result<bool> {
        loop {
            self.buffer.clear();
            self.line += 1;
            let mut bounded = self.lines.by_ref().take(LINE_BYTES_MAX + 1);
            let bytes = bounded
                .read_until(b'\n', &mut self.buffer)
                .map_err(|e| Error::io("read", &self.path, e))?;
            if bytes as u64 > LINE_BYTES_MAX {
                return Err(self.refuse(format!(
                    "it is longer than the {LINE_BYTES_MAX} bytes allowed"
                )));
            }
            if bytes == 0 || !self.buffer.trim_ascii().is_empty() {
                return Ok(bytes > 0);
            }
        }
    }

    fn refuse(&self, why: String) -> Error {
        let why = format!("line {} of {}: {why}", self.line, self.path.display());
        Error::invalid("conversation", why)
    }
}

impl Iterator for Turns {
    type Item = Result<Turn>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.read() {
            Err(e) => Some(Err(e)),
            Ok(false) => None,
            Ok(true) => Some(Turn::parse(self.line, &self.buffer).map_err(|why| self.refuse(why))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Turn>> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Turns::open(file.path())?.collect()
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
        assert_eq!(turns[0].text, "Ada: hello");
        assert_eq!(turns[0].event_time, Some(Micros(1_772_442_000_000_000)));
        assert_eq!(
            turns[0].attributes,
            r#"{"speaker":"Ada","source_id":"D1:1"}"#
        );
        assert_eq!((turns[1].line, turns[1].event_time), (3, None));
        assert_eq!(turns[1].attributes, r#"{"speaker":"Bob"}"#);
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
                r#"{"session":"a","speaker":"Ada","text":"x","event_time":"monday"}"#,
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
            let message = error.to_string();
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
        assert!(error.to_string().contains("longer than"), "{error}");
    }
}
