//! Ollama: chat and embed. It ignores fields that it does not know, and asks for no key.

use serde_json::{Value, json};

use super::check::tokens;
use super::protocol::{AskedCall, AskedForm, AskedRequest, Finish, ProviderProtocol, StreamFrames};
use crate::fault::Fault;
use crate::request::RecordedRequest;

pub(crate) struct OllamaProtocol;

fn finish_name(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

fn piece(asked: &AskedRequest, text: &str, finish: Option<Finish>) -> Value {
    let mut out = json!({
        "model": asked.model, "created_at": "2026-11-01T00:00:00.000000Z",
        "message": {"role": "assistant", "content": text}, "done": finish.is_some(),
    });
    if let Some(finish) = finish {
        out["done_reason"] = json!(finish_name(finish));
        out["total_duration"] = json!(1_000_000);
        out["prompt_eval_count"] = json!(11);
        out["eval_count"] = json!(tokens(text).max(1));
    }
    out
}

impl ProviderProtocol for OllamaProtocol {
    fn read(&self, request: &RecordedRequest) -> Result<AskedRequest, Fault> {
        let body = &request.body;
        let model = body["model"].as_str().filter(|m| !m.is_empty());
        let model = model
            .ok_or_else(|| Fault::new(400, "model is required"))?
            .to_owned();
        match request.path() {
            "/api/chat" => {
                let form = match &body["format"] {
                    Value::Null => AskedForm::Plain,
                    Value::String(word) if word.is_empty() => AskedForm::Plain,
                    Value::String(word) if word == "json" => AskedForm::Json,
                    Value::Object(_) => AskedForm::Schema,
                    other => {
                        let why = format!(
                            "invalid format: {other}; expected \"json\" or a valid JSON Schema object"
                        );
                        return Err(Fault::new(400, why));
                    }
                };
                let options = &body["options"];
                Ok(AskedRequest {
                    model,
                    call: AskedCall::Chat {
                        form,
                        is_stream: body["stream"] != Value::Bool(false),
                        has_usage: true,
                    },
                    has_temperature: !options["temperature"].is_null(),
                    token_field: (!options["num_predict"].is_null()).then_some("num_predict"),
                    has_system: body["messages"][0]["role"] == "system",
                })
            }
            "/api/embed" => {
                let input = &body["input"];
                let list = input
                    .as_array()
                    .cloned()
                    .unwrap_or_else(|| vec![input.clone()]);
                let texts: Option<Vec<String>> = list
                    .iter()
                    .map(|text| text.as_str().map(str::to_owned))
                    .collect();
                Ok(AskedRequest {
                    model,
                    call: AskedCall::Embed {
                        texts: texts.ok_or_else(|| Fault::new(400, "invalid input type"))?,
                        dimensions: body["dimensions"].as_u64().and_then(|n| n.try_into().ok()),
                        is_base64: false,
                    },
                    has_temperature: false,
                    token_field: None,
                    has_system: false,
                })
            }
            _ => Err(Fault::new(404, "404 page not found")),
        }
    }

    fn error(&self, fault: &Fault) -> Value {
        json!({"error": fault.message})
    }

    fn whole(&self, asked: &AskedRequest, parts: &[String], finish: Finish) -> Value {
        piece(asked, &parts.concat(), Some(finish))
    }

    fn stream(&self, asked: &AskedRequest, pieces: &[String], finish: Finish) -> StreamFrames {
        let mut frames: Vec<String> = pieces
            .iter()
            .map(|text| format!("{}\n", piece(asked, text, None)))
            .collect();
        frames.push(format!("{}\n", piece(asked, "", Some(finish))));
        StreamFrames {
            content_type: "application/x-ndjson",
            frames,
        }
    }

    fn vectors(&self, asked: &AskedRequest, vectors: Vec<Value>) -> Value {
        json!({
            "model": asked.model, "embeddings": vectors, "total_duration": 1, "load_duration": 1,
            "prompt_eval_count": 5,
        })
    }

    fn form_refusal(&self, status: u16, _form: AskedForm) -> Fault {
        let message = match status {
            500 => "failed to load model vocabulary required for format",
            _ => "invalid JSON schema in format",
        };
        Fault::new(status, message)
    }
}
