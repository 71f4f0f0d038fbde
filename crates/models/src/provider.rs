//! The providers and what is usual for each.

use serde::Deserialize;

/// Whose protocol a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// OpenAI and compatible servers: llama.cpp, vLLM, LM Studio, OpenRouter and others, by `base_url`.
    Openai,
    /// OpenAI's models at Azure; `model` is the name of the deployment.
    #[serde(alias = "azure_openai")]
    Azure,
    /// Anthropic; it has no embeddings.
    Anthropic,
    /// Google.
    Google,
    /// Ollama.
    Ollama,
}

/// The header that has the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuthHeader {
    /// `Authorization: Bearer`.
    Bearer,
    /// `x-api-key`.
    XApiKey,
    /// `api-key`.
    ApiKey,
    /// `x-goog-api-key`.
    XGoogApiKey,
}

impl AuthHeader {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bearer => "authorization",
            Self::XApiKey => "x-api-key",
            Self::ApiKey => "api-key",
            Self::XGoogApiKey => "x-goog-api-key",
        }
    }
}

impl Provider {
    /// The name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
            Self::Ollama => "ollama",
        }
    }

    /// Where it is; Azure has one for each resource.
    pub(crate) fn base_url(self) -> Option<&'static str> {
        match self {
            Self::Openai => Some("https://api.openai.com/v1"),
            Self::Azure => None,
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::Google => Some("https://generativelanguage.googleapis.com"),
            Self::Ollama => Some("http://127.0.0.1:11434"),
        }
    }

    /// Variables that usually have its key, the first one first.
    pub(crate) fn key_variables(self) -> &'static [&'static str] {
        match self {
            Self::Openai => &["OPENAI_API_KEY"],
            Self::Azure => &["AZURE_OPENAI_API_KEY"],
            Self::Anthropic => &["ANTHROPIC_API_KEY"],
            Self::Google => &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
            Self::Ollama => &["OLLAMA_API_KEY"],
        }
    }

    pub(crate) fn auth_header(self) -> AuthHeader {
        match self {
            Self::Openai | Self::Ollama => AuthHeader::Bearer,
            Self::Azure => AuthHeader::ApiKey,
            Self::Anthropic => AuthHeader::XApiKey,
            Self::Google => AuthHeader::XGoogApiKey,
        }
    }

    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::Azure => "2024-10-21",
            Self::Anthropic => "2026-10-21",
            Self::Google => "v1",
            Self::Openai | Self::Ollama => "",
        }
    }
}
