//! A text and its format: by --format, or by its name and first line.

use std::path::Path;

use serde_json::{Map, Value};

use super::conversation::ConversationLines;
use super::entry::TextEntry;
use super::events::EventLines;
use super::input::ImportInput;
use super::notes;
use crate::failure::Failure;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextFormat {
    /// Turns of a conversation, one JSON object a line.
    Conversation,
    /// Notes in Markdown.
    Markdown,
    /// JSON lines, as `amemctl export` writes them.
    Events,
}

impl TextFormat {
    /// Its name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Markdown => "markdown",
            Self::Events => "events",
        }
    }

    /// Singular and plural.
    pub(crate) fn things(self) -> (&'static str, &'static str) {
        match self {
            Self::Conversation => ("turn", "turns"),
            Self::Markdown => ("text", "texts"),
            Self::Events => ("event", "events"),
        }
    }

    /// Detects the format by name and first line; `None` for other files.
    pub(crate) fn detect(input: &ImportInput) -> Result<Option<Self>, Failure> {
        if is_markdown(input.path()) {
            return Ok(Some(Self::Markdown));
        }
        let front = input.front()?;
        let mut lines = front.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
        Ok(lines.find(|line| !line.is_empty()).and_then(of_line))
    }
}

fn is_markdown(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|e| e.eq_ignore_ascii_case("md") || e.eq_ignore_ascii_case("markdown"))
}

/// The line may be truncated.
fn of_line(line: &[u8]) -> Option<TextFormat> {
    if line.first() != Some(&b'{') {
        return None;
    }
    let is_turn = match serde_json::from_slice::<Map<String, Value>>(line) {
        Ok(object) => object.contains_key("speaker"),
        Err(_) => String::from_utf8_lossy(line).contains("\"speaker\""),
    };
    Some(if is_turn {
        TextFormat::Conversation
    } else {
        TextFormat::Events
    })
}

#[derive(Debug)]
pub(crate) struct ImportText {
    pub(crate) input: ImportInput,
    pub(crate) form: TextFormat,
    /// The session of notes, if it is not the name of their file.
    pub(crate) session: Option<String>,
}

impl ImportText {
    /// In order.
    pub(crate) fn entries(
        &self,
    ) -> Result<Box<dyn Iterator<Item = Result<TextEntry, Failure>> + '_>, Failure> {
        Ok(match self.form {
            TextFormat::Conversation => Box::new(ConversationLines::new(&self.input)?),
            TextFormat::Events => Box::new(EventLines::new(&self.input)?),
            TextFormat::Markdown => Box::new(
                notes::entries(&self.input, self.session.as_deref())?
                    .into_iter()
                    .map(Ok),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_tells_turns_from_events() {
        let format_of = |line: &str| of_line(line.as_bytes());
        assert_eq!(
            format_of(r#"{"session":"a","speaker":"b","text":"c"}"#),
            Some(TextFormat::Conversation)
        );
        assert_eq!(
            format_of(r#"{"text":"the \"speaker\" is loud"}"#),
            Some(TextFormat::Events)
        );
        assert_eq!(
            format_of(r#"{"speaker":"b","text":"cut of"#),
            Some(TextFormat::Conversation)
        );
        assert_eq!(format_of("# Notes"), None);
    }
}
