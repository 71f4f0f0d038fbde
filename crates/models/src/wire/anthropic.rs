//! Anthropic: messages.

use serde_json::{Value, json};

use super::parameter::Parameter;
use super::prompt::{CallOptions, ChatPrompt, ReplyShape, WireRequest, messages_of};
use super::reply::{ReplyPiece, error_in, sum};

/// The tool that a model is forced to call.
const TOOL: &str = "emit";
/// The first version of the interface that has no temperature.
const VERSION_WITHOUT_TEMPERATURE: &str = "2026-10-21";

pub(super) fn chat(prompt: &ChatPrompt<'_>, options: &CallOptions<'_>) -> WireRequest {
    let (system, turns) = messages_of(prompt, true);
    let messages: Value = turns
        .into_iter()
        .map(|(role, text)| json!({"role": role, "content": text}))
        .collect();
    // max_tokens is required, so that nothing can be dropped there.
    let mut body =
        json!({"model": options.model, "max_tokens": options.max_tokens, "messages": messages});
    let mut sent = Vec::new();
    if let Some(system) = system {
        body["system"] = json!(system);
    }
    match prompt.shape {
        ReplyShape::Plain => {}
        ReplyShape::Schema(schema) => {
            body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
        }
        ReplyShape::Json(schema) => {
            let tool =
                json!({"name": TOOL, "description": "Takes the answer.", "input_schema": schema});
            body["tools"] = json!([tool]);
            body["tool_choice"] = json!({"type": "tool", "name": TOOL});
        }
    }
    // Versions are dates.
    let has_temperature = options.api_version < VERSION_WITHOUT_TEMPERATURE;
    if has_temperature && options.has(Parameter::Temperature) {
        body["temperature"] = json!(options.temperature.min(1.0));
        sent.push(Parameter::Temperature);
    }
    if prompt.is_stream {
        body["stream"] = json!(true);
    }
    let has_version = options.base_path.ends_with("/v1");
    WireRequest {
        path: if has_version {
            "/messages"
        } else {
            "/v1/messages"
        }
        .into(),
        body,
        sent,
    }
}

fn block_text(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => block["text"].as_str().unwrap_or("").to_owned(),
        Some("tool_use") => block["input"].to_string(),
        _ => String::new(),
    }
}

fn tokens_in(usage: &Value) -> Option<u64> {
    sum(&[
        &usage["input_tokens"],
        &usage["cache_creation_input_tokens"],
        &usage["cache_read_input_tokens"],
    ])
}

/// A whole message, or an event of a stream.
pub(super) fn piece(value: &Value) -> Result<ReplyPiece, String> {
    if let Some(why) = error_in(value) {
        return Err(why);
    }
    let finish = |of: &Value| of["stop_reason"].as_str().map(str::to_owned);
    match value["type"].as_str() {
        Some("message") => {
            let blocks = value["content"].as_array();
            let blocks = blocks.ok_or("the answer has no content")?;
            Ok(ReplyPiece {
                text: blocks.iter().map(block_text).collect(),
                finish: finish(value),
                tokens_in: tokens_in(&value["usage"]),
                tokens_out: sum(&[&value["usage"]["output_tokens"]]),
            })
        }
        Some("message_start") => Ok(ReplyPiece {
            tokens_in: tokens_in(&value["message"]["usage"]),
            ..ReplyPiece::default()
        }),
        Some("content_block_delta") => {
            let delta = &value["delta"];
            let text = delta["text"].as_str().or(delta["partial_json"].as_str());
            Ok(ReplyPiece {
                text: text.unwrap_or("").to_owned(),
                ..ReplyPiece::default()
            })
        }
        Some("message_delta") => Ok(ReplyPiece {
            finish: finish(&value["delta"]),
            tokens_out: sum(&[&value["usage"]["output_tokens"]]),
            ..ReplyPiece::default()
        }),
        Some(_) => Ok(ReplyPiece::default()),
        None => Err("the answer is no message".into()),
    }
}
