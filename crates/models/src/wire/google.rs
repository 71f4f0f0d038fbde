//! Google: generateContent and batchEmbedContents.

use serde_json::{Value, json};

use super::parameter::Parameter;
use super::prompt::{
    CallOptions, ChatPrompt, ReplyShape, TextBatch, WireRequest, messages_of, path_part,
};
use super::reply::{ReplyPiece, content_text, error_in, sum};

/// The name without the folder that some write in front of it.
fn bare(model: &str) -> &str {
    model.strip_prefix("models/").unwrap_or(model)
}

fn path(options: &CallOptions<'_>, call: &str) -> String {
    let (model, version) = (
        path_part(bare(options.model)),
        path_part(options.api_version),
    );
    if options.base_path.ends_with(&format!("/{version}")) {
        return format!("/models/{model}:{call}");
    }
    format!("/{version}/models/{model}:{call}")
}

pub(super) fn chat(prompt: &ChatPrompt<'_>, options: &CallOptions<'_>) -> WireRequest {
    let (system, turns) = messages_of(prompt, options.has(Parameter::System));
    let contents: Value = turns
        .into_iter()
        .map(|(role, text)| {
            let role = if role == "assistant" { "model" } else { "user" };
            json!({"role": role, "parts": [{"text": text}]})
        })
        .collect();
    let mut body = json!({"contents": contents});
    let mut config = json!({});
    let mut sent = Vec::new();
    if let Some(system) = system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
        sent.push(Parameter::System);
    }
    match prompt.shape {
        ReplyShape::Plain => {}
        ReplyShape::Schema(schema) => {
            config["responseMimeType"] = json!("application/json");
            config["responseJsonSchema"] = schema.clone();
        }
        ReplyShape::Json(_) => config["responseMimeType"] = json!("application/json"),
    }
    if options.has(Parameter::Temperature) {
        config["temperature"] = json!(options.temperature);
        sent.push(Parameter::Temperature);
    }
    if options.has(Parameter::MaxTokens) {
        config["maxOutputTokens"] = json!(options.max_tokens);
        sent.push(Parameter::MaxTokens);
    }
    body["generationConfig"] = config;
    let call = if prompt.is_stream {
        "streamGenerateContent?alt=sse"
    } else {
        "generateContent"
    };
    WireRequest {
        path: path(options, call),
        body,
        sent,
    }
}

/// An answer, or a piece of a stream, which has the same shape. A prompt that is blocked has no candidates.
pub(super) fn piece(value: &Value) -> Result<ReplyPiece, String> {
    if let Some(why) = error_in(value) {
        return Err(why);
    }
    let usage = &value["usageMetadata"];
    let blocked = &value["promptFeedback"]["blockReason"];
    let candidate = value["candidates"].get(0);
    if candidate.is_none() && blocked.is_null() && usage.is_null() {
        return Err("the answer has no candidates".into());
    }
    let candidate = candidate.unwrap_or(&Value::Null);
    let finish = candidate["finishReason"].as_str().or(blocked.as_str());
    Ok(ReplyPiece {
        text: content_text(&candidate["content"]["parts"]),
        finish: finish.map(str::to_owned),
        tokens_in: sum(&[&usage["promptTokenCount"]]),
        tokens_out: sum(&[&usage["candidatesTokenCount"], &usage["thoughtsTokenCount"]]),
    })
}

pub(super) fn embed(batch: &TextBatch<'_>, options: &CallOptions<'_>) -> WireRequest {
    let (dimensions, sent) = batch.asked(options);
    let requests: Value = batch
        .texts
        .iter()
        .map(|text| {
            let content = json!({"parts": [{"text": text}]});
            let model = format!("models/{}", bare(options.model));
            let mut one = json!({"model": model, "content": content});
            if let Some(dimensions) = dimensions {
                one["outputDimensionality"] = json!(dimensions);
            }
            one
        })
        .collect();
    WireRequest {
        path: path(options, "batchEmbedContents"),
        body: json!({"requests": requests}),
        sent,
    }
}

pub(super) fn vectors(value: &Value) -> Option<Vec<&Value>> {
    let all = value["embeddings"].as_array()?;
    Some(all.iter().map(|one| &one["values"]).collect())
}
