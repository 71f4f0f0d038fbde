//! Google: generateContent and batchEmbedContents.

use serde_json::{Value, json};

use super::check::{known_fields, tokens};
use super::protocol::{AskedCall, AskedForm, AskedRequest, Finish, ProviderProtocol, StreamFrames};
use crate::fault::Fault;
use crate::request::RecordedRequest;

const FIELDS: &str =
    "contents systemInstruction generationConfig safetySettings tools toolConfig cachedContent";
const CONFIG_FIELDS: &str = "temperature maxOutputTokens responseMimeType responseJsonSchema responseSchema topP topK \
    candidateCount stopSequences seed thinkingConfig";
const TEXTS_MAX: usize = 100;

pub(crate) struct GoogleProtocol {
    pub(crate) key: String,
}

fn unknown(field: &str) -> Fault {
    Fault::new(
        400,
        format!("Invalid JSON payload received. Unknown name \"{field}\": Cannot find field."),
    )
}

impl GoogleProtocol {
    fn chat(&self, body: &Value, model: String, is_stream: bool) -> Result<AskedRequest, Fault> {
        known_fields(body, FIELDS, unknown)?;
        let config = &body["generationConfig"];
        known_fields(config, CONFIG_FIELDS, unknown)?;
        let contents = body["contents"].as_array().filter(|all| !all.is_empty());
        let contents = contents.ok_or_else(|| {
            Fault::new(
                400,
                "* GenerateContentRequest.contents: contents is not specified",
            )
        })?;
        for turn in contents {
            if !matches!(turn["role"].as_str(), None | Some("user" | "model")) {
                return Err(Fault::new(400, "Please use a valid role: user, model."));
            }
            if turn["parts"].as_array().is_none_or(Vec::is_empty) {
                return Err(Fault::new(
                    400,
                    "* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.",
                ));
            }
        }
        let has_schema =
            !config["responseJsonSchema"].is_null() || !config["responseSchema"].is_null();
        let form = match config["responseMimeType"].as_str() {
            Some("application/json") if has_schema => AskedForm::Schema,
            Some("application/json") => AskedForm::Json,
            _ if has_schema => {
                return Err(Fault::new(
                    400,
                    "responseJsonSchema needs the responseMimeType application/json",
                ));
            }
            _ => AskedForm::Plain,
        };
        Ok(AskedRequest {
            model,
            call: AskedCall::Chat {
                form,
                is_stream,
                has_usage: true,
            },
            has_temperature: !config["temperature"].is_null(),
            token_field: (!config["maxOutputTokens"].is_null()).then_some("maxOutputTokens"),
            has_system: !body["systemInstruction"].is_null(),
        })
    }

    fn embed(&self, body: &Value, model: String) -> Result<AskedRequest, Fault> {
        known_fields(body, "requests", unknown)?;
        let requests = body["requests"].as_array().filter(|all| !all.is_empty());
        let requests = requests.ok_or_else(|| {
            Fault::new(
                400,
                "* BatchEmbedContentsRequest.requests: requests is not specified",
            )
        })?;
        if requests.len() > TEXTS_MAX {
            return Err(Fault::new(
                400,
                format!(
                    "* BatchEmbedContentsRequest.requests: at most {TEXTS_MAX} requests can be in one batch"
                ),
            ));
        }
        let mut texts = Vec::new();
        let mut dimensions = None;
        for one in requests {
            known_fields(
                one,
                "model content taskType title outputDimensionality embedContentConfig",
                unknown,
            )?;
            if one["model"] != format!("models/{model}") {
                return Err(Fault::new(
                    400,
                    "* BatchEmbedContentsRequest.model: does not match the model in requests",
                ));
            }
            let text = one["content"]["parts"][0]["text"].as_str();
            let text = text.filter(|text| !text.is_empty());
            texts.push(
                text.ok_or_else(|| {
                    Fault::new(400, "* EmbedContentRequest.content contains an empty Part.")
                })?
                .to_owned(),
            );
            let size = [
                &one["outputDimensionality"],
                &one["embedContentConfig"]["outputDimensionality"],
            ];
            dimensions = size.iter().find_map(|size| size.as_u64());
        }
        Ok(AskedRequest {
            model,
            call: AskedCall::Embed {
                texts,
                dimensions: dimensions.and_then(|n| n.try_into().ok()),
                is_base64: false,
            },
            has_temperature: false,
            token_field: None,
            has_system: false,
        })
    }

    fn candidate(&self, asked: &AskedRequest, parts: &[String], finish: Option<Finish>) -> Value {
        let reason = finish.map(|finish| match finish {
            Finish::Stop => "STOP",
            Finish::Length => "MAX_TOKENS",
        });
        let parts_json: Value = parts.iter().map(|text| json!({"text": text})).collect();
        let mut candidate = json!({"content": {"role": "model", "parts": parts_json}, "index": 0});
        if let Some(reason) = reason {
            candidate["finishReason"] = json!(reason);
        }
        let out = tokens(&parts.concat());
        json!({
            "candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": out, "totalTokenCount": 11 + out},
            "modelVersion": asked.model, "responseId": "scripted",
        })
    }
}

impl ProviderProtocol for GoogleProtocol {
    fn read(&self, request: &RecordedRequest) -> Result<AskedRequest, Fault> {
        match request.header("x-goog-api-key") {
            Some(key) if key == self.key => {}
            // Google's status for a wrong key is 400.
            Some(_) => {
                return Err(
                    Fault::new(400, "API key not valid. Please pass a valid API key.")
                        .code("API_KEY_INVALID"),
                );
            }
            None => {
                return Err(Fault::new(
                    403,
                    "Method doesn't allow unregistered callers (callers without established identity). Please use API \
                     Key or other form of API consumer identity to call this API.",
                ));
            }
        }
        let path = request.path();
        let rest = path
            .strip_prefix("/v1/models/")
            .or_else(|| path.strip_prefix("/v1beta/models/"));
        let (model, call) = rest
            .and_then(|rest| rest.split_once(':'))
            .ok_or_else(|| Fault::new(404, "Requested entity was not found."))?;
        let model = model.to_owned();
        match call {
            "generateContent" => self.chat(&request.body, model, false),
            "streamGenerateContent" => self.chat(&request.body, model, true),
            "batchEmbedContents" => self.embed(&request.body, model),
            _ => Err(Fault::new(
                404,
                format!("models/{model} is not found for API version v1"),
            )),
        }
    }

    fn error(&self, fault: &Fault) -> Value {
        let status = match fault.status {
            400 | 422 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        let mut error = json!({"code": fault.status, "message": fault.message, "status": status});
        if let Some(reason) = fault.code {
            error["details"] = json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com",
            }]);
        }
        if fault.status == 429
            && let Some(seconds) = &fault.retry_after
        {
            let delay = format!("{seconds}s");
            error["details"] =
                json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
        }
        json!({"error": error})
    }

    fn whole(&self, asked: &AskedRequest, parts: &[String], finish: Finish) -> Value {
        self.candidate(asked, parts, Some(finish))
    }

    fn stream(&self, asked: &AskedRequest, pieces: &[String], finish: Finish) -> StreamFrames {
        let last = pieces.len().saturating_sub(1);
        let frames = pieces.iter().enumerate().map(|(at, piece)| {
            let finish = (at == last).then_some(finish);
            format!(
                "data: {}\r\n\r\n",
                self.candidate(asked, std::slice::from_ref(piece), finish)
            )
        });
        StreamFrames {
            content_type: "text/event-stream",
            frames: frames.collect(),
        }
    }

    fn vectors(&self, _asked: &AskedRequest, vectors: Vec<Value>) -> Value {
        let embeddings: Value = vectors
            .into_iter()
            .map(|vector| json!({"values": vector}))
            .collect();
        json!({"embeddings": embeddings})
    }

    fn form_refusal(&self, status: u16, form: AskedForm) -> Fault {
        let message = match (status, form) {
            (500, _) => "An internal error has occurred while compiling the schema.",
            (_, AskedForm::Schema) => {
                "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot \
                 find field."
            }
            _ => "JSON mode is not enabled for models/scripted",
        };
        Fault::new(status, message)
    }
}
