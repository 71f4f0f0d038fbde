//! The provider's protocol, chosen once.

use serde_json::Value;

use super::prompt::{CallOptions, ChatPrompt, TextBatch, WireRequest};
use super::reply::ReplyPiece;
use super::{anthropic, google, ollama, openai};
use crate::http::FrameSyntax;
use crate::provider::Provider;

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
