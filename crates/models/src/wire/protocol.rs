//! The provider's protocol, chosen once.

use serde_json::Value;

use super::prompt::{CallOptions, ChatPrompt, TextBatch, WireRequest};
use super::reply::ReplyPiece;
use super::{anthropic, google, ollama, openai};
use crate::provider::Provider;
use amem_outbound::FrameSyntax;

pub(crate) fn chat_request(
    provider: Provider,
    prompt: &ChatPrompt<'_>,
    options: &CallOptions<'_>,
) -> WireRequest {
    match provider {
        Provider::Openai => openai::chat(prompt, options, false),
        Provider::Azure => openai::chat(prompt, options, true),
        Provider::Anthropic => anthropic::chat(prompt, options),
        Provider::Google => google::chat(prompt, options),
        Provider::Ollama => ollama::chat(prompt, options),
    }
}

/// Reads a whole answer, or one message of a stream. The error is the server's.
pub(crate) fn read_piece(provider: Provider, value: &Value) -> Result<ReplyPiece, String> {
    match provider {
        Provider::Openai | Provider::Azure => openai::piece(value),
        Provider::Anthropic => anthropic::piece(value),
        Provider::Google => google::piece(value),
        Provider::Ollama => ollama::piece(value),
    }
}

/// `None` for Anthropic, which embeds nothing.
pub(crate) fn embed_request(
    provider: Provider,
    batch: &TextBatch<'_>,
    options: &CallOptions<'_>,
) -> Option<WireRequest> {
    match provider {
        Provider::Openai => Some(openai::embed(batch, options, false)),
        Provider::Azure => Some(openai::embed(batch, options, true)),
        Provider::Anthropic => None,
        Provider::Google => Some(google::embed(batch, options)),
        Provider::Ollama => Some(ollama::embed(batch, options)),
    }
}

/// The vectors of an answer, unread; `None` if it has no list of them.
pub(crate) fn read_vectors(provider: Provider, value: &Value) -> Option<Vec<&Value>> {
    match provider {
        Provider::Openai | Provider::Azure => openai::vectors(value),
        Provider::Anthropic => None,
        Provider::Google => google::vectors(value),
        Provider::Ollama => ollama::vectors(value),
    }
}

/// How a body is framed: by its type, or by its first bytes if the type says JSON all the same. `None` for one value.
pub(crate) fn stream_syntax(content_type: &str, start: &[u8]) -> Option<FrameSyntax> {
    let start = start.trim_ascii_start();
    let is_event = [&b"data:"[..], b"event:", b": "]
        .iter()
        .any(|front| start.starts_with(front));
    if content_type.starts_with("text/event-stream") || is_event {
        return Some(FrameSyntax::Events);
    }
    let lines = [
        "application/x-ndjson",
        "application/jsonl",
        "application/x-jsonlines",
    ];
    let is_lines = lines.iter().any(|kind| content_type.starts_with(kind));
    is_lines.then_some(FrameSyntax::Lines)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PROVIDERS: [Provider; 5] = [
        Provider::Openai,
        Provider::Azure,
        Provider::Anthropic,
        Provider::Google,
        Provider::Ollama,
    ];

    /// Every value in the place of every field that a reader looks at.
    fn odd_answers() -> Vec<Value> {
        let odd = [
            json!(null),
            json!(true),
            json!(-1e300),
            json!("text"),
            json!([]),
            json!([null, {}, "a", [1]]),
            json!({"content": {"parts": 7}, "message": 3, "text": [], "type": {}}),
        ];
        let fields = "choices message delta content type usage error candidates promptFeedback usageMetadata \
            stop_reason done done_reason data embeddings values embedding index prompt_eval_count";
        let mut out = odd.to_vec();
        for value in &odd {
            for field in fields.split_whitespace() {
                out.push(json!({field: value}));
                out.push(json!({"choices": [{field: value, "message": {field: value}}]}));
                out.push(
                    json!({"candidates": [{field: value, "content": {"parts": [{field: value}]}}]}),
                );
                out.push(json!({"type": "message", "content": [{field: value}], field: value}));
                out.push(json!({"message": {field: value}, "done": true, field: value}));
                out.push(json!({"data": [{field: value}], "embeddings": [{field: value}]}));
            }
        }
        out
    }

    #[test]
    fn odd_answers_are_errors_or_texts_and_never_panics() {
        for provider in PROVIDERS {
            let mut texts = 0;
            for answer in odd_answers() {
                let read = read_piece(provider, &answer);
                texts += usize::from(read.is_ok());
                _ = read_vectors(provider, &answer);
            }
            assert!(texts > 0, "{provider:?}: some of them are answers");
        }
        assert!(read_piece(Provider::Openai, &json!({"error": "", "choices": []})).is_ok());
        assert!(read_piece(Provider::Openai, &json!({"error": "no", "choices": []})).is_err());
    }

    #[test]
    fn the_type_or_the_first_bytes_say_how_a_body_is_framed() {
        for (kind, start, wanted) in [
            (
                "text/event-stream; charset=utf-8",
                "",
                Some(FrameSyntax::Events),
            ),
            ("application/json", "\n data: {}", Some(FrameSyntax::Events)),
            ("application/json", "event: a", Some(FrameSyntax::Events)),
            ("application/x-ndjson", "{}", Some(FrameSyntax::Lines)),
            ("application/json", "{\"data\": 1}", None),
            ("", "{}", None),
        ] {
            assert_eq!(
                stream_syntax(kind, start.as_bytes()),
                wanted,
                "{kind} {start}"
            );
        }
    }
}
