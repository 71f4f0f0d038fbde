//! One provider with its settings: requests with their headers, refused parameters, limits and budgets.

use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use amem_locks::LockResultExt;
use amem_outbound::{BaseUrl, FrameReader, HttpAnswer};
use hyper::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::budget::DayBudget;
use crate::error::{Error, Result};
use crate::failure::CallError;
use crate::http::{ModelServer, too_long};
use crate::key::KeyReader;
use crate::limits::REFUSAL_BYTES_MAX;
use crate::provider::Provider;
use crate::secret::Secret;
use crate::settings::ModelSettings;
use crate::wire::{
    CallOptions, DroppedParameters, ReplyBuilder, ReplyPiece, ServerRefusal, WireRequest,
    read_piece, shortened, stream_syntax,
};

/// The end of a stream of OpenAI's.
const STREAM_END: &str = "[DONE]";
/// Headers that are ours alone.
const OWN_HEADERS: [&str; 5] = [
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "proxy-authorization",
];

pub(crate) struct ProviderClient {
    pub(crate) settings: ModelSettings,
    pub(crate) budget: DayBudget,
    /// Calls at the same time.
    pub(crate) slots: Semaphore,
    api_version: String,
    http: ModelServer,
    keys: KeyReader,
    headers: HeaderMap,
    dropped: Mutex<DroppedParameters>,
}

/// Seconds since 1970.
pub(crate) fn now_secs() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs())
}

fn base_url(settings: &ModelSettings) -> Result<BaseUrl> {
    let text = settings
        .base_url
        .as_deref()
        .or(settings.provider.base_url());
    let text =
        text.ok_or_else(|| Error::setting("base_url", "azure needs the endpoint of the resource"))?;
    let mut url = BaseUrl::parse(text).map_err(|why| Error::setting("base_url", why))?;
    if settings.provider == Provider::Azure
        && let Some(path) = url.path.strip_suffix("/openai")
    {
        // Some copy the endpoint with the folder that follows it.
        url.path = path.to_owned();
    }
    Ok(url)
}

fn extra_headers(settings: &ModelSettings) -> Result<HeaderMap> {
    let mut out = HeaderMap::new();
    for (name, value) in &settings.headers {
        let failed = |why: &str| Error::setting("headers", format!("{name:?} {why}"));
        let known = HeaderName::from_bytes(name.as_bytes());
        let known = known.map_err(|_| failed("is no name of a header"))?;
        if OWN_HEADERS.contains(&known.as_str()) {
            return Err(failed("cannot be set"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| failed("has a value that is no header"))?;
        value.set_sensitive(true);
        out.insert(known, value);
    }
    Ok(out)
}

impl ProviderClient {
    pub(crate) fn new(settings: ModelSettings) -> Result<Self> {
        settings.check()?;
        let url = base_url(&settings)?;
        let is_plain = !url.target.is_tls;
        let http = ModelServer::new(url, &settings)?;
        let version = settings.api_version.as_deref();
        Ok(Self {
            http,
            keys: KeyReader::new(&settings, is_plain),
            headers: extra_headers(&settings)?,
            api_version: version
                .unwrap_or(settings.provider.api_version())
                .to_owned(),
            budget: DayBudget::new(settings.calls_per_day, settings.tokens_per_day),
            slots: Semaphore::new(settings.concurrency.min(Semaphore::MAX_PERMITS)),
            dropped: Mutex::default(),
            settings,
        })
    }

    /// What names the server and the model.
    pub(crate) fn key(&self) -> String {
        format!("{} {}", self.http.url, self.settings.model)
    }

    /// For people: provider, model, server.
    pub(crate) fn name(&self) -> String {
        let ModelSettings {
            provider, model, ..
        } = &self.settings;
        format!("{} {model} at {}", provider.name(), self.http.url)
    }

    pub(crate) fn options(&self) -> CallOptions<'_> {
        let dropped = self.dropped.lock();
        CallOptions {
            model: &self.settings.model,
            api_version: &self.api_version,
            base_path: &self.http.url.path,
            max_tokens: self.settings.max_tokens,
            temperature: self.settings.temperature,
            dropped: dropped.unpoisoned().clone(),
        }
    }

    /// Sends a request until no refused parameter is in it; the answer is a success.
    pub(crate) async fn send(
        &self,
        build: impl Fn(&CallOptions<'_>) -> WireRequest,
    ) -> Result<HttpAnswer, CallError> {
        loop {
            let WireRequest { path, body, sent } = build(&self.options());
            let headers = self.request_headers().await?;
            self.budget.take(now_secs()).map_err(CallError::Budget)?;
            let answer = self.http.post(&path, headers, body.to_string()).await;
            let mut answer = answer.map_err(|why| self.lost(&why))?;
            tracing::debug!(
                provider = self.settings.provider.name(),
                model = self.settings.model,
                status = answer.status,
                "call"
            );
            if (200..300).contains(&answer.status) {
                return Ok(answer);
            }
            let start = answer.body.start(REFUSAL_BYTES_MAX).await;
            let masked = |text: &str| self.masked(text);
            let refusal = ServerRefusal::read(answer.status, &answer.headers, &start, &masked);
            if refusal.is_about_key() {
                self.keys.forget();
            }
            if let Some(parameter) = refusal.parameter(&sent) {
                tracing::info!(
                    ?parameter,
                    model = self.settings.model,
                    "refused, not sent again"
                );
                let dropped = self.dropped.lock();
                dropped.unpoisoned().insert(parameter);
                continue;
            }
            return Err(CallError::Refusal(refusal));
        }
    }

    async fn request_headers(&self) -> Result<HeaderMap, CallError> {
        let mut headers = HeaderMap::new();
        headers.insert(
            USER_AGENT,
            HeaderValue::from_static(concat!("amem/", env!("CARGO_PKG_VERSION"))),
        );
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        let provider = self.settings.provider;
        if provider == Provider::Anthropic {
            let version = HeaderValue::from_str(&self.api_version);
            let version = version.map_err(|_| CallError::Key("api_version is no header".into()))?;
            headers.insert("anthropic-version", version);
        }
        if let Some(key) = self.keys.key().await.map_err(CallError::Key)? {
            let auth = self.settings.auth.unwrap_or(provider.auth_header());
            let front = if auth.name() == "authorization" {
                "Bearer "
            } else {
                ""
            };
            let value = HeaderValue::from_str(&format!("{front}{}", key.reveal()));
            let mut value = value.map_err(|_| CallError::Key("the key is no header".into()))?;
            value.set_sensitive(true);
            headers.insert(auth.name(), value);
        }
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        Ok(headers)
    }

    /// A text without the key, values of headers and the password of the proxy.
    pub(crate) fn masked(&self, text: &str) -> String {
        let values = self.settings.headers.values().map(Secret::new);
        let known = self.keys.known().into_iter().chain(values);
        let known = known.chain(self.http.proxy_secret());
        known.fold(text.to_owned(), |text, secret| secret.masked_in(&text))
    }

    pub(crate) fn lost(&self, why: &str) -> CallError {
        CallError::Lost(shortened(&self.masked(why)))
    }

    /// Refuses an answer that is a page rather than data, or compressed, which was not asked for.
    pub(crate) fn check_type(&self, answer: &HttpAnswer) -> Result<(), CallError> {
        let encoding = answer.header("content-encoding");
        if !matches!(encoding, "" | "identity") {
            let why = format!("the answer is compressed ({encoding}), which was not asked for");
            return Err(self.lost(&why));
        }
        let kind = answer.header("content-type").to_ascii_lowercase();
        let is_page = [
            "text/html",
            "text/xml",
            "application/xml",
            "image/",
            "multipart/",
        ];
        if is_page.iter().any(|page| kind.starts_with(page)) {
            let why = format!("the server answered {kind}, which is no JSON (see base_url)");
            return Err(self.lost(&why));
        }
        Ok(())
    }

    /// The body of a success, and its type.
    pub(crate) async fn body(&self, answer: &mut HttpAnswer) -> Result<Vec<u8>, CallError> {
        self.check_type(answer)?;
        let body = answer.body.all(self.settings.answer_bytes_max).await;
        let body = body.map_err(|why| self.lost(&why))?;
        let body = body.ok_or_else(|| self.lost(&too_long(self.settings.answer_bytes_max)))?;
        if body.trim_ascii().is_empty() {
            return Err(self.lost("the answer is empty"));
        }
        Ok(body)
    }

    /// The JSON of a success.
    pub(crate) async fn json(&self, answer: &mut HttpAnswer) -> Result<Value, CallError> {
        let body = self.body(answer).await?;
        serde_json::from_slice(&body)
            .map_err(|why| self.lost(&format!("the answer is no JSON: {why}")))
    }

    /// The answer of a chat, put together if the server streamed it.
    pub(crate) async fn reply(&self, answer: &mut HttpAnswer) -> Result<ReplyBuilder, CallError> {
        let body = self.body(answer).await?;
        let kind = answer.header("content-type").to_ascii_lowercase();
        let mut reply = ReplyBuilder::default();
        if let Some(syntax) = stream_syntax(&kind, &body) {
            let mut frames = FrameReader::new(syntax);
            let mut messages = frames.feed(&body);
            messages.extend(frames.finish());
            for message in messages {
                reply.add(&self.piece(&message)?);
            }
            return self.finished(reply);
        }
        let values = serde_json::Deserializer::from_slice(&body).into_iter::<Value>();
        for (at, value) in values.enumerate() {
            let value = value.map_err(|why| self.lost(&format!("the answer is no JSON: {why}")))?;
            // Google's stream without events is one list.
            let list = value.as_array().filter(|_| at == 0);
            for value in list.map_or(std::slice::from_ref(&value), Vec::as_slice) {
                reply.add(&self.piece_of(value)?);
            }
        }
        Ok(reply)
    }

    pub(crate) fn finished(&self, reply: ReplyBuilder) -> Result<ReplyBuilder, CallError> {
        if !reply.is_finished() {
            return Err(self.lost("the stream ended before the answer did"));
        }
        Ok(reply)
    }

    /// One message of a stream.
    pub(crate) fn piece(&self, message: &str) -> Result<ReplyPiece, CallError> {
        if message.trim() == STREAM_END {
            return Ok(ReplyPiece {
                finish: Some(String::new()),
                ..ReplyPiece::default()
            });
        }
        let value = serde_json::from_str(message);
        let value = value.map_err(|why| self.lost(&format!("the stream is no JSON: {why}")))?;
        self.piece_of(&value)
    }

    fn piece_of(&self, value: &Value) -> Result<ReplyPiece, CallError> {
        let piece = read_piece(self.settings.provider, value);
        piece.map_err(|why| self.lost(&format!("the server answered with an error: {why}")))
    }
}
