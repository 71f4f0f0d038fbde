//! OpenAI, Azure, and servers that are compatible: chat completions and embeddings.

use serde_json::{Value, json};

use super::parameter::Parameter;
use super::prompt::{
    CallOptions, ChatPrompt, ReplyShape, TextBatch, WireRequest, path_part, role_messages,
};
use super::reply::{ReplyPiece, content_text, error_in, sum};

/// The name of the schema.
const SCHEMA_NAME: &str = "answer";

fn path(options: &CallOptions<'_>, is_azure: bool, call: &str) -> String {
    if !is_azure {
        return format!("/{call}");
    }
    let (deployment, version) = (path_part(options.model), path_part(options.api_version));
    format!("/openai/deployments/{deployment}/{call}?api-version={version}")
}

pub(super) fn chat(
    prompt: &ChatPrompt<'_>,
    options: &CallOptions<'_>,
    is_azure: bool,
) -> WireRequest {
    let (messages, mut sent) = role_messages(prompt, options);
    let mut body = json!({"model": options.model, "messages": messages});
    match prompt.shape {
        ReplyShape::Plain => {}
        ReplyShape::Schema(schema) => {
            let schema = json!({"name": SCHEMA_NAME, "strict": true, "schema": schema});
            body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
        }
        ReplyShape::Json(_) => body["response_format"] = json!({"type": "json_object"}),
    }
    if options.has(Parameter::Temperature) {
        body["temperature"] = json!(options.temperature);
        sent.push(Parameter::Temperature);
    }
    if options.has(Parameter::MaxTokens) {
        body["max_tokens"] = json!(options.max_tokens);
        sent.push(Parameter::MaxTokens);
    } else if options.has(Parameter::MaxCompletionTokens) {
        body["max_completion_tokens"] = json!(options.max_tokens);
        sent.push(Parameter::MaxCompletionTokens);
    }
    if prompt.is_stream {
        body["stream"] = json!(true);
        if options.has(Parameter::StreamOptions) {
            body["stream_options"] = json!({"include_usage": true});
            sent.push(Parameter::StreamOptions);
        }
    }
    WireRequest {
        path: path(options, is_azure, "chat/completions"),
        body,
        sent,
    }
}

/// A whole answer has a `message`, a piece of a stream a `delta`.
pub(super) fn piece(value: &Value) -> Result<ReplyPiece, String> {
    if let Some(why) = error_in(value) {
        return Err(why);
    }
    let choices = value["choices"].as_array();
    let choices = choices.ok_or("the answer has no choices")?;
    let choice = choices.first().unwrap_or(&Value::Null);
    let said = choice.get("message").or(choice.get("delta"));
    let usage = &value["usage"];
    Ok(ReplyPiece {
        text: said
            .map(|said| content_text(&said["content"]))
            .unwrap_or_default(),
        finish: choice["finish_reason"].as_str().map(str::to_owned),
        tokens_in: sum(&[&usage["prompt_tokens"]]),
        tokens_out: sum(&[&usage["completion_tokens"]]),
    })
}

pub(super) fn embed(
    batch: &TextBatch<'_>,
    options: &CallOptions<'_>,
    is_azure: bool,
) -> WireRequest {
    let mut body = json!({"model": options.model, "input": batch.texts});
    let (dimensions, mut sent) = batch.asked(options);
    if let Some(dimensions) = dimensions {
        body["dimensions"] = json!(dimensions);
    }
    if options.has(Parameter::EncodingFormat) {
        body["encoding_format"] = json!("float");
        sent.push(Parameter::EncodingFormat);
    }
    WireRequest {
        path: path(options, is_azure, "embeddings"),
        body,
        sent,
    }
}

/// Vectors in the order of the texts; servers may send them in another.
pub(super) fn vectors(value: &Value) -> Option<Vec<&Value>> {
    let data = value["data"].as_array()?;
    let mut placed: Vec<(u64, &Value)> = Vec::new();
    for (at, one) in data.iter().enumerate() {
        let at = u64::try_from(at).unwrap_or(u64::MAX);
        placed.push((one["index"].as_u64().unwrap_or(at), &one["embedding"]));
    }
    placed.sort_by_key(|(at, _)| *at);
    Some(placed.into_iter().map(|(_, vector)| vector).collect())
}
