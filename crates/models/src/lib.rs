//! Language models and embedders of providers, over HTTP: OpenAI and compatible servers, Azure, Anthropic, Google and
//! Ollama.
//!
//! ```
//! use amem_models::{LanguageModel, ModelRuntime, ModelSettings, Provider};
//!
//! let settings = ModelSettings::from_toml("provider = 'ollama'\nmodel = 'qwen3:4b'\n")?;
//! assert_eq!(settings.provider, Provider::Ollama);
//!
//! // Nothing is called before the first question.
//! let model = LanguageModel::new(settings, &ModelRuntime::start()?)?;
//! assert!(model.name().contains("qwen3:4b"));
//! # Ok::<(), amem_models::Error>(())
//! ```
//!
//! `LanguageModel` and `TextEmbedder` implement the ports of `amem-memory` for threads that wait. Each provider is
//! asked in its own words for what the ladder of forms wants: a strict schema, JSON or a forced tool, or plain text.
//! What a server refuses is classified; parameters that a model does not take are dropped and remembered.
//!
//! Promises: a key is in the header of a request and nowhere else; redirects are not followed; nothing goes by plain
//! http to hosts outside of this machine's network unless the settings allow it; every answer is limited in bytes and
//! every call in time; text from models is data.
//! Not here: prompts, what answers mean, when a failed call is tried again later (`amem-memory`, the daemon).

#![forbid(unsafe_code)]

pub mod limits;

mod error;
mod provider;
mod secret;
mod settings;

mod budget;
mod cache;
mod key;
mod runtime;

mod http;
mod wire;

mod check;
mod client;
mod embedder;
mod failure;
mod host;
mod model;
mod probe;
mod stream;

pub use budget::DayUsage;
pub use check::CheckReport;
pub use embedder::TextEmbedder;
pub use error::{Error, Result};
pub use host::{ModelHost, key_variables, open};
pub use model::{LanguageModel, ModelSession};
pub use probe::{FormReport, ProbeReport, probe};
pub use provider::{AuthHeader, Provider};
pub use runtime::ModelRuntime;
pub use settings::ModelSettings;
pub use stream::ChatStream;
