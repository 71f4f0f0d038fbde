//! Anthropic: messages.

use serde_json::{Value, json};

use super::check::{known_fields, laxity, tokens};
use super::protocol::{AskedCall, AskedForm, AskedRequest, Finish, ProviderProtocol, StreamFrames};
use crate::fault::Fault;
use crate::request::RecordedRequest;

const FIELDS: &str = "model messages max_tokens system stream stop_sequences metadata tools tool_choice output_config \
    thinking service_tier cache_control container diagnostics inference_geo speed user_profile_id workspace_id";
/// Fields that the newest version does not have.
const OLD_FIELDS: &str = "temperature top_p top_k";
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", "2026-10-21"];

pub(crate) struct AnthropicProtocol {
    pub(crate) key: String,
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(400, message)
}

fn form(body: &Value) -> Result<AskedForm, Fault> {
    if body["tool_choice"]["type"] == "tool" {
        let wanted = &body["tool_choice"]["name"];
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        let tool = tools.iter().find(|tool| tool["name"] == *wanted);
        let tool = tool.ok_or_else(|| {
            invalid(format!(
                "tool_choice: Tool '{wanted}' not found in provided tools"
            ))
        })?;
        if tool["input_schema"]["type"] != "object" {
            return Err(invalid("tools.0.custom.input_schema.type: Field required"));
        }
        return Ok(AskedForm::Tool);
    }
    let format = &body["output_config"]["format"];
    if format.is_null() {
        return Ok(AskedForm::Plain);
    }
    if format["type"] != "json_schema" || !format["schema"].is_object() {
        return Err(invalid("output_config.format.schema: Field required"));
    }
    if let Some((path, _)) = laxity(&format["schema"], "") {
        return Err(invalid(format!(
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false \
             ({path})"
        )));
    }
    Ok(AskedForm::Schema)
}

impl ProviderProtocol for AnthropicProtocol {
    fn read(&self, request: &RecordedRequest) -> Result<AskedRequest, Fault> {
        let bearer = request
            .header("authorization")
            .and_then(|value| value.strip_prefix("Bearer "));
        match request.header("x-api-key").or(bearer) {
            Some(key) if key == self.key => {}
            Some(_) => return Err(Fault::new(401, "invalid x-api-key")),
            None => return Err(Fault::new(401, "x-api-key header is required")),
        }
        let version = request.header("anthropic-version");
        let version = version.ok_or_else(|| invalid("anthropic-version: header is required"))?;
        if !VERSIONS.contains(&version) {
            let why = format!("anthropic-version: \"{version}\" is not a valid version");
            return Err(invalid(why));
        }
        if request.path() != "/v1/messages" {
            return Err(Fault::new(404, "Not Found"));
        }
        let body = &request.body;
        let is_old = version < "2026-10-21";
        let old_fields = if is_old { OLD_FIELDS } else { "" };
        let fields = format!("{FIELDS} {old_fields}");
        known_fields(body, &fields, |field| {
            invalid(format!("{field}: Extra inputs are not permitted"))
        })?;
        let Some(model) = body["model"].as_str().filter(|m| !m.is_empty()) else {
            return Err(invalid("model: Field required"));
        };
        if body["max_tokens"].as_u64().unwrap_or(0) == 0 {
            return Err(invalid("max_tokens: Field required"));
        }
        let messages = body["messages"].as_array().filter(|all| !all.is_empty());
        let Some(messages) = messages else {
            return Err(invalid("messages: at least one message is required"));
        };
        for (at, message) in messages.iter().enumerate() {
            if !matches!(message["role"].as_str(), Some("user" | "assistant")) {
                return Err(invalid(format!(
                    "messages.{at}.role: Input should be 'user' or 'assistant'"
                )));
            }
            if message["content"].as_str() == Some("") {
                return Err(invalid(format!(
                    "messages.{at}: all messages must have non-empty content"
                )));
            }
        }
        if body["system"].as_str() == Some("") {
            return Err(invalid("system: text content blocks must be non-empty"));
        }
        let temperature = &body["temperature"];
        if temperature
            .as_f64()
            .is_some_and(|t| !(0.0..=1.0).contains(&t))
        {
            return Err(invalid(
                "temperature: Input should be less than or equal to 1",
            ));
        }
        Ok(AskedRequest {
            model: model.to_owned(),
            call: AskedCall::Chat {
                form: form(body)?,
                is_stream: body["stream"] == Value::Bool(true),
                has_usage: true,
            },
            has_temperature: !temperature.is_null(),
            // It is required, so that no server refuses it.
            token_field: None,
            has_system: !body["system"].is_null(),
        })
    }

    fn error(&self, fault: &Fault) -> Value {
        let kind = match fault.status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": fault.message}, "request_id": "req_scripted"})
    }

    fn whole(&self, asked: &AskedRequest, parts: &[String], finish: Finish) -> Value {
        let text = parts.concat();
        let is_tool = matches!(
            asked.call,
            AskedCall::Chat {
                form: AskedForm::Tool,
                ..
            }
        );
        let input: Option<Value> = is_tool.then(|| serde_json::from_str(&text).ok()).flatten();
        let content: Value = match input {
            Some(input) => {
                json!([{"type": "tool_use", "id": "toolu_scripted", "name": "emit", "input": input}])
            }
            None => parts
                .iter()
                .map(|text| json!({"type": "text", "text": text}))
                .collect(),
        };
        let reason = match finish {
            Finish::Length => "max_tokens",
            Finish::Stop if is_tool => "tool_use",
            Finish::Stop => "end_turn",
        };
        json!({
            "id": "msg_scripted", "type": "message", "role": "assistant", "model": asked.model, "content": content,
            "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 11, "output_tokens": tokens(&text)},
        })
    }

    fn stream(&self, asked: &AskedRequest, pieces: &[String], finish: Finish) -> StreamFrames {
        let whole = self.whole(asked, pieces, finish);
        let is_tool = whole["content"][0]["type"] == "tool_use";
        let mut message = whole.clone();
        message["content"] = json!([]);
        message["stop_reason"] = Value::Null;
        message["usage"]["output_tokens"] = json!(1);
        let block = if is_tool {
            json!({"type": "tool_use", "id": "toolu_scripted", "name": "emit", "input": {}})
        } else {
            json!({"type": "text", "text": ""})
        };
        let mut events = vec![
            json!({"type": "message_start", "message": message}),
            json!({"type": "content_block_start", "index": 0, "content_block": block}),
            json!({"type": "ping"}),
        ];
        for piece in pieces {
            let delta = if is_tool {
                json!({"type": "input_json_delta", "partial_json": piece})
            } else {
                json!({"type": "text_delta", "text": piece})
            };
            events.push(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
        }
        events.push(json!({"type": "content_block_stop", "index": 0}));
        events.push(json!({
            "type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": null},
            "usage": {"output_tokens": whole["usage"]["output_tokens"]},
        }));
        events.push(json!({"type": "message_stop"}));
        let frames = events.iter().map(|event| {
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        });
        StreamFrames {
            content_type: "text/event-stream; charset=utf-8",
            frames: frames.collect(),
        }
    }

    fn vectors(&self, _asked: &AskedRequest, _vectors: Vec<Value>) -> Value {
        Value::Null
    }

    fn form_refusal(&self, status: u16, form: AskedForm) -> Fault {
        let message = match (status, form) {
            (500, _) => "Internal server error: the grammar could not be compiled",
            (_, AskedForm::Tool) => "tools: this model does not support tool use",
            _ => "output_config.format: Extra inputs are not permitted",
        };
        Fault::new(status, message)
    }
}
