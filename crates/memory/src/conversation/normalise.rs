//! Step 1 of an add: from messages to turns.
//!
//! Text between the markers of context, and text that is a memory served lately, is what this system said itself: it is
//! not learned again. Parts that are no text are named. Zero-width characters go, because they split words and hide
//! orders.

use amem_format::types::Micros;
use amem_texts::visible;

use super::message::{ContentPart, Message, Role};
use crate::error::{Error, Result};
use crate::hash::text_hash;
use crate::language::TurnLanguage;
use crate::limits::{MESSAGE_BYTES_MAX, MESSAGES_BYTES_MAX, MESSAGES_MAX};
use crate::patterns::language_of;

/// What begins and ends memories in a prompt, so that they are recognised when they come back.
pub const CONTEXT_MARKERS: [&str; 2] = ["<amem-context>", "</amem-context>"];

/// What a turn is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnUse {
    /// Facts are extracted from it.
    Extract,
    /// It explains its neighbours.
    Context,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The number of its message in the request.
    pub message: usize,
    /// Who speaks.
    pub role: Role,
    /// The name of the speaker.
    pub name: Option<String>,
    /// The text, cleaned.
    pub text: String,
    /// When it was said.
    pub time: Micros,
    /// The MD5 of the text.
    pub hash: String,
    /// What it is for.
    pub used_for: TurnUse,
    /// Its language; unknown unless facts are extracted from it.
    pub language: TurnLanguage,
}

/// A part of a request that is not remembered.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SkippedPart {
    /// The number of its message.
    pub message: usize,
    /// What it is, such as `image_url`.
    pub what: String,
    /// Why it is skipped.
    pub why: String,
}

/// The turns of a request, and what is not among them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct TurnList {
    pub(crate) turns: Vec<Turn>,
    pub(crate) skipped: Vec<SkippedPart>,
}

/// How messages become turns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnRules {
    /// The time of messages without one.
    pub(crate) time: Micros,
    /// True if facts of the agent's own messages are wanted.
    pub(crate) assistant_facts: bool,
    /// True if each text is a memory as it is: nothing is taken out of it.
    pub(crate) as_it_is: bool,
}

/// The turns of messages.
pub(crate) fn turns_of(messages: &[Message], rules: TurnRules) -> Result<TurnList> {
    if messages.is_empty() {
        return Err(Error::invalid(
            "messages",
            "it is empty: send a text or at least one message",
        ));
    }
    Error::check_limit("the number of messages", messages.len(), MESSAGES_MAX)?;
    let mut out = TurnList::default();
    let mut bytes = 0;
    for (at, message) in messages.iter().enumerate() {
        let text = text_of(message, at, &mut out.skipped);
        Error::check_limit(
            "the text of a message in bytes",
            text.len(),
            MESSAGE_BYTES_MAX,
        )?;
        bytes += text.len();
        Error::check_limit(
            "the texts of all messages in bytes",
            bytes,
            MESSAGES_BYTES_MAX,
        )?;
        if message.role == Role::System {
            out.skipped.push(SkippedPart {
                message: at,
                what: "system".into(),
                why: "instructions of the program are not remembered".into(),
            });
            continue;
        }
        let text = match rules.as_it_is {
            true => text.trim().to_owned(),
            false => cleaned(&text, at, &mut out.skipped),
        };
        if text.is_empty() {
            continue;
        }
        let used_for = match message.role {
            Role::User => TurnUse::Extract,
            Role::Assistant if rules.assistant_facts => TurnUse::Extract,
            _ => TurnUse::Context,
        };
        out.turns.push(Turn {
            message: at,
            role: message.role,
            name: message.name.clone(),
            hash: text_hash(&text),
            language: match used_for {
                TurnUse::Extract if !rules.as_it_is => language_of(&text),
                _ => TurnLanguage::Unknown,
            },
            text,
            time: message.time.unwrap_or(rules.time),
            used_for,
        });
    }
    if out.turns.is_empty() {
        return Err(Error::NoText {
            skipped: out.skipped.len(),
        });
    }
    confirm(&mut out.turns);
    Ok(out)
}

/// The texts of a message, joined; what is no text is named.
fn text_of(message: &Message, at: usize, skipped: &mut Vec<SkippedPart>) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for part in &message.content {
        match part {
            ContentPart::Text(text) => texts.push(text),
            ContentPart::Other(what) => skipped.push(SkippedPart {
                message: at,
                what: what.clone(),
                why: "it is no text".into(),
            }),
        }
    }
    texts.join("\n")
}

/// A text without what stands between two marks, with the marks; `None` if it has none. What has no end is kept, or
/// goes with all that follows.
fn without(text: &str, open: &str, close: &str, goes_without_end: bool) -> Option<String> {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(open) {
        let end = match rest[start..].find(close) {
            Some(end) => start + end + close.len(),
            None if goes_without_end => rest.len(),
            None => break,
        };
        kept.push_str(&rest[..start]);
        kept.push(' ');
        rest = &rest[end..];
    }
    (rest.len() < text.len()).then(|| kept + rest)
}

/// The text without invisible characters, served context and notes of attachments.
fn cleaned(text: &str, at: usize, skipped: &mut Vec<SkippedPart>) -> String {
    let mut text = visible(text).into_owned();
    let mut note = |what: &str, why: &str| {
        skipped.push(SkippedPart {
            message: at,
            what: what.into(),
            why: why.into(),
        });
    };
    let [open, close] = CONTEXT_MARKERS;
    // Without an end all of the rest is context: a part of it must not be learned.
    if let Some(kept) = without(&text, open, close, true) {
        text = kept;
        note("context", "it was served from this memory");
    }
    for open in ["[image:", "[audio:", "[video:", "[file:"] {
        if let Some(kept) = without(&text, open, "]", false) {
            text = kept;
            note(&open[1..open.len() - 1], "it is no text");
        }
    }
    text.trim().to_owned()
}

/// What a person says to confirm the turn before.
const CONFIRMATIONS: [&str; 14] = [
    "yes",
    "yep",
    "yeah",
    "correct",
    "exactly",
    "right",
    "that's right",
    "thats right",
    "that is right",
    "yes exactly",
    "that's correct",
    "indeed",
    "true",
    "yup",
];

/// An agent's turn that the person confirms is the person's, as far as facts go.
fn confirm(turns: &mut [Turn]) {
    for at in 1..turns.len() {
        let said = turns[at]
            .text
            .trim_matches(|c: char| !c.is_alphanumeric())
            .to_lowercase()
            .replace('\u{2019}', "'");
        let confirms = turns[at].role == Role::User && CONFIRMATIONS.contains(&said.as_str());
        if confirms && turns[at - 1].role == Role::Assistant {
            let said = &mut turns[at - 1];
            said.used_for = TurnUse::Extract;
            said.language = language_of(&said.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::messages_from_json;
    use serde_json::{Value, json};

    fn turns(messages: &Value, assistant_facts: bool) -> Result<TurnList> {
        let messages = messages_from_json(messages).unwrap();
        turns_of(
            &messages,
            TurnRules {
                time: Micros(7),
                assistant_facts,
                as_it_is: false,
            },
        )
    }

    #[test]
    fn text_is_joined_and_everything_else_is_named() {
        let found = turns(
            &json!([
                {"role": "system", "content": "be nice"},
                {"role": "user", "content": [{"type": "text", "text": "I like\u{200b} tea"}, {"type": "image_url"}]},
                {"role": "assistant", "content": "ok <amem-context>User lives in Rome</amem-context> fine"},
                {"role": "user", "content": "a dog [image: a photo of a dog]"},
            ]),
            false,
        )
        .unwrap();
        let texts: Vec<_> = found
            .turns
            .iter()
            .map(|turn| (turn.text.as_str(), turn.used_for))
            .collect();
        assert_eq!(
            texts,
            [
                ("I like tea", TurnUse::Extract),
                ("ok   fine", TurnUse::Context),
                ("a dog", TurnUse::Extract)
            ]
        );
        let skipped: Vec<_> = found
            .skipped
            .iter()
            .map(|part| (part.message, part.what.as_str()))
            .collect();
        assert_eq!(
            skipped,
            [
                (0, "system"),
                (1, "image_url"),
                (2, "context"),
                (3, "image")
            ]
        );
        assert_eq!(found.turns[0].hash, text_hash("I like tea"));
    }

    #[test]
    fn a_text_that_is_stored_as_it_is_keeps_everything() {
        let message = messages_from_json(&json!("I li\u{200b}ke [image: tea] ")).unwrap();
        let rules = TurnRules {
            time: Micros(7),
            assistant_facts: false,
            as_it_is: true,
        };
        let found = turns_of(&message, rules).unwrap();
        assert_eq!(found.turns[0].text, "I li\u{200b}ke [image: tea]");
    }

    #[test]
    fn a_note_without_an_end_is_text_and_many_notes_are_read_once() {
        assert_eq!(without("see [file: notes", "[file:", "]", false), None);
        let kept = without("a [file: x] b [file: c", "[file:", "]", false);
        assert_eq!(kept.as_deref(), Some("a   b [file: c"));
        let mut skipped = Vec::new();
        assert_eq!(cleaned(&"[image:]".repeat(100_000), 0, &mut skipped), "");
        assert_eq!(skipped.len(), 1);
    }

    #[test]
    fn served_context_without_an_end_is_not_learned() {
        let found = turns(
            &json!("I like tea <amem-context> User lives in Rome"),
            false,
        )
        .unwrap();
        assert_eq!(found.turns[0].text, "I like tea");
    }

    #[test]
    fn a_confirmed_turn_of_the_agent_counts() {
        let talk = json!([
            {"role": "assistant", "content": "You live in Rome."},
            {"role": "user", "content": "Yes, exactly!".split(',').next().unwrap()},
        ]);
        assert_eq!(
            turns(&talk, false).unwrap().turns[0].used_for,
            TurnUse::Extract
        );
    }

    #[test]
    fn requests_without_text_and_beyond_limits_are_refused() {
        assert!(turns(&json!([]), false).is_err());
        let images = json!([{"role": "user", "content": [{"type": "image_url"}]}]);
        assert_eq!(turns(&images, false), Err(Error::NoText { skipped: 1 }));
        let many: Vec<&str> = vec!["x"; MESSAGES_MAX + 1];
        assert!(matches!(
            turns(&json!(many), false),
            Err(Error::TooLarge { .. })
        ));
        let long = "x".repeat(MESSAGE_BYTES_MAX + 1);
        assert!(matches!(
            turns(&json!(long), false),
            Err(Error::TooLarge { .. })
        ));
    }
}
