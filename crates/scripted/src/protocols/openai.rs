//! OpenAI and Azure: chat completions and embeddings.

use serde_json::{Value, json};

use super::check::{known_fields, laxity, tokens};
use super::protocol::{AskedCall, AskedForm, AskedRequest, Finish, ProviderProtocol, StreamFrames};
use crate::fault::Fault;
use crate::request::RecordedRequest;

const CHAT_FIELDS: &str = "model messages response_format temperature max_tokens max_completion_tokens stream \
    stream_options tools tool_choice n stop top_p seed user presence_penalty frequency_penalty logprobs top_logprobs \
    parallel_tool_calls reasoning_effort metadata store audio function_call functions logit_bias modalities moderation \
    prediction prompt_cache_key prompt_cache_options prompt_cache_retention safety_identifier service_tier verbosity \
    web_search_options";
const EMBED_FIELDS: &str = "model input dimensions encoding_format user";
const INPUTS_MAX: usize = 2048;

pub(crate) struct OpenaiProtocol {
    pub(crate) key: String,
    pub(crate) is_azure: bool,
}

impl OpenaiProtocol {
    fn authorized(&self, request: &RecordedRequest) -> Result<(), Fault> {
        if self.is_azure {
            if request.header("api-key") == Some(&self.key) {
                return Ok(());
            }
            return Err(Fault::new(
                401,
                "Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key \
                 for an active subscription and use a correct regional API endpoint for your resource.",
            ));
        }
        let given = request.header("authorization");
        match given.and_then(|value| value.strip_prefix("Bearer ")) {
            Some(key) if key == self.key => Ok(()),
            // Some servers repeat the whole key, which must go into no log.
            Some(key) => Err(Fault::new(
                401,
                format!(
                    "Incorrect API key provided: {key}. You can find your API key in the settings."
                ),
            )
            .code("invalid_api_key")),
            None => Err(Fault::new(
                401,
                "You didn't provide an API key. You need to provide your API key in an Authorization header using \
                 Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            )),
        }
    }

    /// What is called, and the model.
    fn route<'r>(&self, request: &'r RecordedRequest) -> Result<(&'r str, String), Fault> {
        let path = request.path();
        if self.is_azure {
            let rest = path.strip_prefix("/openai/deployments/");
            let (deployment, call) = rest
                .and_then(|rest| rest.split_once('/'))
                .ok_or_else(|| Fault::new(404, "Resource not found"))?;
            if request.query("api-version").is_none_or(str::is_empty) {
                return Err(Fault::new(404, "Resource not found"));
            }
            return Ok((call, deployment.to_owned()));
        }
        let call = path
            .strip_prefix("/v1/")
            .ok_or_else(|| Fault::new(404, format!("Invalid URL ({} {path})", request.method)))?;
        let model = request.body["model"].as_str().filter(|m| !m.is_empty());
        let model = model
            .ok_or_else(|| Fault::new(400, "you must provide a model parameter").about("model"))?;
        Ok((call, model.to_owned()))
    }

    fn chat(&self, body: &Value, model: String) -> Result<AskedRequest, Fault> {
        known_fields(body, CHAT_FIELDS, unknown)?;
        let messages = body["messages"].as_array().filter(|all| !all.is_empty());
        let messages = messages.ok_or_else(|| {
            Fault::new(400, "Missing required parameter: 'messages'.").about("messages")
        })?;
        for (at, message) in messages.iter().enumerate() {
            let role = message["role"].as_str().unwrap_or_default();
            let roles = ["system", "developer", "user", "assistant", "tool"];
            if !roles.contains(&role) || message["content"].is_null() {
                let param = format!("messages[{at}].role");
                return Err(Fault::new(400, format!("Invalid value: '{role}'.")).about(&param));
            }
        }
        if !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null() {
            return Err(Fault::new(
                400,
                "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            ));
        }
        let temperature = &body["temperature"];
        if !temperature.is_null()
            && !temperature
                .as_f64()
                .is_some_and(|t| (0.0..=2.0).contains(&t))
        {
            return Err(Fault::new(400, "Invalid 'temperature'").about("temperature"));
        }
        let is_stream = body["stream"] == Value::Bool(true);
        if !body["stream_options"].is_null() && !is_stream {
            return Err(Fault::new(
                400,
                "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            ));
        }
        let token_field = ["max_tokens", "max_completion_tokens"]
            .into_iter()
            .find(|field| !body[*field].is_null());
        Ok(AskedRequest {
            model,
            call: AskedCall::Chat {
                form: form(body)?,
                is_stream,
                has_usage: body["stream_options"]["include_usage"] == Value::Bool(true),
            },
            has_temperature: !temperature.is_null(),
            token_field,
            has_system: messages[0]["role"] == "system",
        })
    }

    fn embed(&self, body: &Value, model: String) -> Result<AskedRequest, Fault> {
        known_fields(body, EMBED_FIELDS, unknown)?;
        let input = &body["input"];
        let list = input
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![input.clone()]);
        let texts: Option<Vec<String>> = list
            .iter()
            .map(|text| text.as_str().map(str::to_owned))
            .collect();
        let texts = texts.filter(|all| {
            !all.is_empty() && all.len() <= INPUTS_MAX && all.iter().all(|text| !text.is_empty())
        });
        let texts = texts.ok_or_else(|| Fault::new(400, "'$.input' is invalid.").about("input"))?;
        let is_base64 = match body["encoding_format"].as_str() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(_) => {
                return Err(Fault::new(400, "'$.encoding_format' is invalid."));
            }
        };
        let dimensions = body["dimensions"].as_u64().and_then(|n| n.try_into().ok());
        Ok(AskedRequest {
            model,
            call: AskedCall::Embed {
                texts,
                dimensions,
                is_base64,
            },
            has_temperature: false,
            token_field: None,
            has_system: false,
        })
    }
}

fn unknown(field: &str) -> Fault {
    Fault::new(400, format!("Unknown parameter: '{field}'."))
        .about(field)
        .code("unknown_parameter")
}

fn form(body: &Value) -> Result<AskedForm, Fault> {
    let format = &body["response_format"];
    match format["type"].as_str() {
        None if format.is_null() => Ok(AskedForm::Plain),
        Some("text") => Ok(AskedForm::Plain),
        Some("json_object") => {
            if !body["messages"].to_string().to_lowercase().contains("json") {
                return Err(Fault::new(
                    400,
                    "'messages' must contain the word 'json' in some form, to use 'response_format' of type \
                     'json_object'.",
                )
                .about("messages"));
            }
            Ok(AskedForm::Json)
        }
        Some("json_schema") => {
            let schema = &format["json_schema"];
            let name = schema["name"].as_str().unwrap_or_default();
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) {
                return Err(Fault::new(
                    400,
                    "Missing required parameter: 'response_format.json_schema.name'.",
                )
                .about("response_format.json_schema.name"));
            }
            if schema["strict"] == Value::Bool(true)
                && let Some((path, lack)) = laxity(&schema["schema"], "")
            {
                return Err(Fault::new(
                    400,
                    format!(
                        "Invalid schema for response_format '{name}': In context=('{path}'), {lack}."
                    ),
                )
                .about("response_format"));
            }
            Ok(AskedForm::Schema)
        }
        _ => Err(Fault::new(400, "Invalid value: 'response_format.type'").about("response_format")),
    }
}

fn finish_name(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
    }
}

impl ProviderProtocol for OpenaiProtocol {
    fn read(&self, request: &RecordedRequest) -> Result<AskedRequest, Fault> {
        self.authorized(request)?;
        let (call, model) = self.route(request)?;
        match call {
            "chat/completions" => self.chat(&request.body, model),
            "embeddings" => self.embed(&request.body, model),
            _ => Err(Fault::new(404, format!("Invalid URL ({})", request.path()))),
        }
    }

    fn error(&self, fault: &Fault) -> Value {
        if self.is_azure && matches!(fault.status, 401 | 404) {
            let code = fault.status.to_string();
            return json!({"error": {"code": code, "message": fault.message}});
        }
        if fault.status == 422 {
            let field = fault.param.as_deref().unwrap_or("body");
            return json!({"detail": [{"type": "extra_forbidden", "loc": ["body", field], "msg": fault.message}]});
        }
        let kind = match fault.status {
            429 => "requests",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": fault.message, "type": kind, "param": fault.param, "code": fault.code}})
    }

    fn whole(&self, asked: &AskedRequest, parts: &[String], finish: Finish) -> Value {
        let content = match parts {
            [text] => json!(text),
            [] => Value::Null,
            parts => parts
                .iter()
                .map(|text| json!({"type": "text", "text": text}))
                .collect(),
        };
        let out = tokens(&parts.concat());
        json!({
            "id": "chatcmpl-scripted", "object": "chat.completion", "created": 1, "model": asked.model,
            "choices": [{
                "index": 0, "message": {"role": "assistant", "content": content, "refusal": null}, "logprobs": null,
                "finish_reason": finish_name(finish),
            }],
            "usage": {"prompt_tokens": 11, "completion_tokens": out, "total_tokens": 11 + out},
        })
    }

    fn stream(&self, asked: &AskedRequest, pieces: &[String], finish: Finish) -> StreamFrames {
        let chunk = |choices: Value, usage: Value| {
            let mut chunk = json!({
                "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": asked.model,
                "choices": choices,
            });
            if !usage.is_null() {
                chunk["usage"] = usage;
            }
            format!("data: {chunk}\n\n")
        };
        let delta = |delta: Value, finish: Value| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
        let mut frames = vec![chunk(
            delta(json!({"role": "assistant", "content": ""}), Value::Null),
            Value::Null,
        )];
        for piece in pieces {
            let choices = delta(json!({"content": piece}), Value::Null);
            frames.push(chunk(choices, Value::Null));
        }
        let choices = delta(json!({}), json!(finish_name(finish)));
        frames.push(chunk(choices, Value::Null));
        if let AskedCall::Chat {
            has_usage: true, ..
        } = asked.call
        {
            let out = tokens(&pieces.concat());
            let usage =
                json!({"prompt_tokens": 11, "completion_tokens": out, "total_tokens": 11 + out});
            frames.push(chunk(json!([]), usage));
        }
        frames.push("data: [DONE]\n\n".into());
        StreamFrames {
            content_type: "text/event-stream",
            frames,
        }
    }

    fn vectors(&self, asked: &AskedRequest, vectors: Vec<Value>) -> Value {
        let data: Value = vectors
            .into_iter()
            .enumerate()
            .map(|(at, vector)| json!({"object": "embedding", "index": at, "embedding": vector}))
            .collect();
        json!({
            "object": "list", "data": data, "model": asked.model,
            "usage": {"prompt_tokens": 5, "total_tokens": 5},
        })
    }

    fn form_refusal(&self, status: u16, form: AskedForm) -> Fault {
        let name = if form == AskedForm::Schema {
            "json_schema"
        } else {
            "json_object"
        };
        let message = match status {
            422 => "Extra inputs are not permitted".to_owned(),
            500 => "Failed to initialize samplers: failed to parse grammar".to_owned(),
            _ => format!(
                "Invalid parameter: 'response_format' of type '{name}' is not supported with this model."
            ),
        };
        Fault::new(status, message).about("response_format")
    }
}
