//! The settings of one model or embedder.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use amem_host::files::TextPosition;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::limits::{ANSWER_BYTES_MAX, DIMENSIONS_MAX};
use crate::provider::{AuthHeader, Provider};

/// A language model or an embedder, as a table of TOML.
///
/// A key is never in here: a variable, a file or a command has it. Unknown fields are refused.
///
/// ```
/// let text = r#"
/// provider = "openai"                      # or azure, anthropic, google, ollama
/// model = "qwen3-8b"
/// base_url = "https://models.lan:8443/v1"  # a compatible server
/// key_command = ["secret-tool", "lookup", "service", "models"]
/// ca_file = "/etc/amem/lan-ca.pem"
/// headers = { "x-team" = "memory" }
/// calls_per_day = 2000
/// "#;
/// let settings = amem_models::ModelSettings::from_toml(text)?;
/// assert_eq!(settings.max_tokens, 2000);
/// # Ok::<(), amem_models::Error>(())
/// ```
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSettings {
    /// Whose protocol the server speaks.
    pub provider: Provider,
    /// The name of the model; at Azure, of the deployment.
    pub model: String,
    /// Where the server is, as far as the official SDK takes it; the provider's own by default.
    #[serde(default)]
    pub base_url: Option<String>,
    /// The variable that has the key. By default the provider's usual one, which is not sent by plain http.
    #[serde(default)]
    pub key_env: Option<String>,
    /// A file that has the key, readable by its owner only.
    #[serde(default)]
    pub key_file: Option<PathBuf>,
    /// A program and its arguments; the program prints the key.
    #[serde(default)]
    pub key_command: Option<Vec<String>>,
    /// The header that has the key; the provider's own by default.
    #[serde(default)]
    pub auth: Option<AuthHeader>,
    /// The version of the interface: by default 2024-10-21 for Azure, 2026-10-21 for Anthropic, v1 for Google.
    #[serde(default)]
    pub api_version: Option<String>,
    /// Seconds until there is a connection.
    #[serde(default = "ModelSettings::connect_secs")]
    pub connect_secs: u64,
    /// Seconds of one call; of a stream, until the next piece.
    #[serde(default = "ModelSettings::call_secs")]
    pub call_secs: u64,
    /// Seconds of all calls of an add, or of an embedding, with their pauses.
    #[serde(default = "ModelSettings::deadline_secs")]
    pub deadline_secs: u64,
    /// The longest answer, in tokens.
    #[serde(default = "ModelSettings::max_tokens")]
    pub max_tokens: u32,
    /// 0 by default. A model that refuses it is called without, and so is Anthropic since its version 2026-10-21.
    #[serde(default = "ModelSettings::temperature")]
    pub temperature: f64,
    /// Calls at the same time.
    #[serde(default = "ModelSettings::concurrency")]
    pub concurrency: usize,
    /// Calls of a day (UTC); 0 for no limit.
    #[serde(default)]
    pub calls_per_day: u64,
    /// Tokens of a day (UTC), requests and answers together; 0 for no limit.
    #[serde(default)]
    pub tokens_per_day: u64,
    /// `environment` (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY), `none`, or the URL of a proxy.
    #[serde(default = "ModelSettings::proxy")]
    pub proxy: String,
    /// Headers that every request has too.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Allows http to hosts that are neither this machine nor its network.
    #[serde(default)]
    pub allow_plain_http: bool,
    /// Authorities to trust beside the machine's, as PEM.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The longest answer, in bytes.
    #[serde(default = "ModelSettings::answer_bytes_max")]
    pub answer_bytes_max: usize,
    /// Bytes of answers that are kept in memory, and given again to the same request; 0, the default, for none. Only at
    /// temperature 0, and not for models that refuse a temperature.
    #[serde(default)]
    pub cache_bytes: usize,
    /// Embedders: values of a vector; what the model has by default.
    #[serde(default)]
    pub dimensions: Option<usize>,
    /// Embedders: texts of one request.
    #[serde(default = "ModelSettings::batch_texts")]
    pub batch_texts: usize,
    /// Embedders: bytes of the texts of one request.
    #[serde(default = "ModelSettings::batch_bytes")]
    pub batch_bytes: usize,
    /// Embedders: the cosine of texts of which half are related, which has the score 0.5.
    #[serde(default = "ModelSettings::score_middle")]
    pub score_middle: f32,
    /// Embedders: how steep the curve from cosines to scores is.
    #[serde(default = "ModelSettings::score_slope")]
    pub score_slope: f32,
}

impl ModelSettings {
    /// A model with defaults.
    pub fn new(provider: Provider, model: &str) -> Self {
        Self {
            provider,
            model: model.to_owned(),
            base_url: None,
            key_env: None,
            key_file: None,
            key_command: None,
            auth: None,
            api_version: None,
            connect_secs: Self::connect_secs(),
            call_secs: Self::call_secs(),
            deadline_secs: Self::deadline_secs(),
            max_tokens: Self::max_tokens(),
            temperature: Self::temperature(),
            concurrency: Self::concurrency(),
            calls_per_day: 0,
            tokens_per_day: 0,
            proxy: Self::proxy(),
            headers: BTreeMap::new(),
            allow_plain_http: false,
            ca_file: None,
            answer_bytes_max: Self::answer_bytes_max(),
            cache_bytes: 0,
            dimensions: None,
            batch_texts: Self::batch_texts(),
            batch_bytes: Self::batch_bytes(),
            score_middle: Self::score_middle(),
            score_slope: Self::score_slope(),
        }
    }

    /// Reads a table of TOML. Use this rather than the parser itself, whose errors show the line, and with it a key
    /// that was written into it.
    ///
    /// # Errors
    /// If it is no TOML, or has unknown fields or values that cannot be used.
    pub fn from_toml(text: &str) -> Result<Self> {
        let settings: Self = document(text)?;
        settings.check()?;
        Ok(settings)
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.model.is_empty() || self.model.chars().any(char::is_control) {
            return Err(Error::setting("model", "give the name of a model"));
        }
        let sources = [
            self.key_env.is_some(),
            self.key_file.is_some(),
            self.key_command.is_some(),
        ];
        if sources.into_iter().filter(|is_set| *is_set).count() > 1 {
            let why = "give one of key_env, key_file and key_command";
            return Err(Error::setting("key_env", why));
        }
        if self.key_command.as_ref().is_some_and(Vec::is_empty) {
            return Err(Error::setting("key_command", "give a program"));
        }
        let is_positive = [
            ("connect_secs", self.connect_secs > 0),
            ("call_secs", self.call_secs > 0),
            ("deadline_secs", self.deadline_secs > 0),
            ("max_tokens", self.max_tokens > 0),
            ("concurrency", self.concurrency > 0),
            ("answer_bytes_max", self.answer_bytes_max > 0),
            ("batch_texts", self.batch_texts > 0),
            ("batch_bytes", self.batch_bytes > 0),
        ];
        if let Some((name, _)) = is_positive.into_iter().find(|(_, is_so)| !is_so) {
            return Err(Error::setting(name, "0 is too little"));
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return Err(Error::setting("temperature", "give a number from 0 to 2"));
        }
        let is_size = |size: usize| (1..=DIMENSIONS_MAX).contains(&size);
        if !self.dimensions.is_none_or(is_size) {
            let why = format!("give a number from 1 to {DIMENSIONS_MAX}");
            return Err(Error::setting("dimensions", why));
        }
        if !(self.score_slope.is_finite() && self.score_middle.is_finite()) {
            return Err(Error::setting("score_middle", "give a number"));
        }
        Ok(())
    }

    pub(crate) fn connect_after(&self) -> Duration {
        Duration::from_secs(self.connect_secs)
    }

    pub(crate) fn call_after(&self) -> Duration {
        Duration::from_secs(self.call_secs)
    }

    pub(crate) fn deadline(&self) -> Duration {
        Duration::from_secs(self.deadline_secs)
    }

    fn connect_secs() -> u64 {
        10
    }

    fn call_secs() -> u64 {
        60
    }

    fn deadline_secs() -> u64 {
        180
    }

    fn max_tokens() -> u32 {
        2000
    }

    fn temperature() -> f64 {
        0.0
    }

    fn concurrency() -> usize {
        4
    }

    fn proxy() -> String {
        "environment".into()
    }

    fn answer_bytes_max() -> usize {
        ANSWER_BYTES_MAX
    }

    fn batch_texts() -> usize {
        64
    }

    fn batch_bytes() -> usize {
        64 << 10
    }

    fn score_middle() -> f32 {
        0.25
    }

    fn score_slope() -> f32 {
        12.0
    }
}

/// Reads a document of TOML; its errors repeat no text of it.
pub(crate) fn document<T: DeserializeOwned>(text: &str) -> Result<T> {
    toml::from_str(text).map_err(|why: toml::de::Error| {
        let at = why.span().map_or(0, |span| span.start);
        Error::Document {
            line: TextPosition::of(text, at).line,
            why: without_values(why.message()),
        }
    })
}

/// A message of the parser without quoted values: serde repeats a string that has the wrong type.
fn without_values(message: &str) -> String {
    let is_value = message.starts_with("invalid type") || message.starts_with("invalid value");
    let expected = message.split_once(", expected ");
    match expected.filter(|_| is_value) {
        Some((_, expected)) => format!("wrong type, expected {expected}"),
        // A message quotes names of fields and variants; an unknown variant may be a key in the wrong field.
        None if message.starts_with("unknown variant") => {
            let expected = message.split_once(", expected");
            format!("unknown value, expected{}", expected.map_or("", |e| e.1))
        }
        None => message.lines().next().unwrap_or_default().to_owned(),
    }
}

/// Values of headers and the proxy may be secrets.
impl fmt::Debug for ModelSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&String> = self.headers.keys().collect();
        let has_proxy = !matches!(self.proxy.as_str(), "environment" | "none");
        f.debug_struct("ModelSettings")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("key_env", &self.key_env)
            .field("key_file", &self.key_file)
            .field("has_key_command", &self.key_command.is_some())
            .field("headers", &headers)
            .field("has_proxy", &has_proxy)
            .field("dimensions", &self.dimensions)
            .finish_non_exhaustive()
    }
}
