//! Ollama: chat and embed.

use serde_json::{Value, json};

use super::parameter::Parameter;
use super::prompt::{CallOptions, ChatPrompt, ReplyShape, TextBatch, WireRequest, role_messages};
use super::reply::{ReplyPiece, error_in, sum};

fn path(options: &CallOptions<'_>, call: &str) -> String {
    if options.base_path.ends_with("/api") {
        return format!("/{call}");
    }
    format!("/api/{call}")
}

pub(super) fn chat(prompt: &ChatPrompt<'_>, options: &CallOptions<'_>) -> WireRequest {
    let (messages, mut sent) = role_messages(prompt, options);
    let mut choices = json!({});
    if options.has(Parameter::Temperature) {
        choices["temperature"] = json!(options.temperature);
        sent.push(Parameter::Temperature);
    }
    if options.has(Parameter::MaxTokens) {
        choices["num_predict"] = json!(options.max_tokens);
        sent.push(Parameter::MaxTokens);
    }
    let mut body = json!({
        "model": options.model, "messages": messages, "stream": prompt.is_stream, "options": choices,
    });
    match prompt.shape {
        ReplyShape::Plain => {}
        ReplyShape::Schema(schema) => body["format"] = schema.clone(),
        ReplyShape::Json(_) => body["format"] = json!("json"),
    }
    WireRequest {
        path: path(options, "chat"),
        body,
        sent,
    }
}

/// A whole answer, or a line of a stream.
pub(super) fn piece(value: &Value) -> Result<ReplyPiece, String> {
    if let Some(why) = error_in(value) {
        return Err(why);
    }
    let message = value.get("message").ok_or("the answer has no message")?;
    let is_done = value["done"] == Value::Bool(true);
    let finish = value["done_reason"].as_str().unwrap_or("stop");
    Ok(ReplyPiece {
        text: message["content"].as_str().unwrap_or("").to_owned(),
        finish: is_done.then(|| finish.to_owned()),
        tokens_in: sum(&[&value["prompt_eval_count"]]),
        tokens_out: sum(&[&value["eval_count"]]),
    })
}

pub(super) fn embed(batch: &TextBatch<'_>, options: &CallOptions<'_>) -> WireRequest {
    let mut body = json!({"model": options.model, "input": batch.texts});
    let (dimensions, sent) = batch.asked(options);
    if let Some(dimensions) = dimensions {
        body["dimensions"] = json!(dimensions);
    }
    WireRequest {
        path: path(options, "embed"),
        body,
        sent,
    }
}

pub(super) fn vectors(value: &Value) -> Option<Vec<&Value>> {
    let all = value["embeddings"].as_array()?;
    Some(all.iter().collect())
}
