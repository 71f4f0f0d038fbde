//! An answer, whole or in pieces.

use serde_json::Value;

/// How providers say that the token limit cut an answer, in lower case.
const CUT: [&str; 5] = [
    "length",
    "max_tokens",
    "max_output_tokens",
    "model_length",
    "model_context_window_exceeded",
];

/// A part of an answer; a whole answer is one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReplyPiece {
    pub(crate) text: String,
    /// Why the answer ends; empty for an end without a reason.
    pub(crate) finish: Option<String>,
    pub(crate) tokens_in: Option<u64>,
    pub(crate) tokens_out: Option<u64>,
}

/// Puts pieces together.
#[derive(Debug, Default)]
pub(crate) struct ReplyBuilder {
    pub(crate) text: String,
    finish: Option<String>,
    pub(crate) tokens_in: Option<u64>,
    pub(crate) tokens_out: Option<u64>,
}

impl ReplyBuilder {
    pub(crate) fn add(&mut self, piece: &ReplyPiece) {
        self.text.push_str(&piece.text);
        // The mark of the end has no reason.
        let is_better = |reason: &String| !reason.is_empty() || self.finish.is_none();
        if let Some(reason) = piece.finish.as_ref().filter(|reason| is_better(reason)) {
            self.finish = Some(reason.clone());
        }
        // Counts of a stream grow: the last one is of everything.
        self.tokens_in = piece.tokens_in.max(self.tokens_in);
        self.tokens_out = piece.tokens_out.max(self.tokens_out);
    }

    /// True if the answer has its end; a stream without was broken off.
    pub(crate) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    pub(crate) fn is_cut(&self) -> bool {
        let finish = self.finish.as_deref().unwrap_or("").to_lowercase();
        CUT.contains(&finish.as_str())
    }
}

/// Content as a text, or as a list of parts.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(part_text).collect(),
        _ => String::new(),
    }
}

fn part_text(part: &Value) -> Option<&str> {
    // Google marks its thoughts.
    let is_thought = part["thought"] == Value::Bool(true);
    let text = part.as_str().or_else(|| part["text"].as_str());
    text.filter(|_| !is_thought)
}

/// The message of an error that has the status of success.
pub(super) fn error_in(value: &Value) -> Option<String> {
    let is_empty = |error: &Value| match error {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    };
    let error = value.get("error").filter(|error| !is_empty(error))?;
    let text = error["message"].as_str().or(error.as_str());
    Some(text.map_or_else(|| error.to_string(), str::to_owned))
}

pub(super) fn sum(values: &[&Value]) -> Option<u64> {
    let counts: Vec<u64> = values.iter().filter_map(|value| value.as_u64()).collect();
    (!counts.is_empty()).then(|| {
        counts
            .iter()
            .fold(0, |sum: u64, one| sum.saturating_add(*one))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_without_a_reason_does_not_replace_one() {
        for (ends, is_finished, is_cut) in [
            (vec![], false, false),
            (vec![""], true, false),
            (vec!["stop", ""], true, false),
            (vec!["length", ""], true, true),
            (vec!["MAX_TOKENS"], true, true),
            (vec!["", "max_tokens"], true, true),
        ] {
            let mut reply = ReplyBuilder::default();
            reply.add(&ReplyPiece {
                tokens_out: Some(3),
                ..ReplyPiece::default()
            });
            for end in &ends {
                reply.add(&ReplyPiece {
                    finish: Some((*end).to_owned()),
                    ..ReplyPiece::default()
                });
            }
            let found = (reply.is_finished(), reply.is_cut());
            assert_eq!(found, (is_finished, is_cut), "{ends:?}");
            assert_eq!((reply.tokens_in, reply.tokens_out), (None, Some(3)));
        }
    }
}
