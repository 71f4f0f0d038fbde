//! What each provider takes, and how it answers.

mod check;
mod protocol;

mod anthropic;
mod google;
mod ollama;
mod openai;

pub(crate) use protocol::{AskedCall, AskedForm, AskedRequest, Finish, ProviderProtocol};

pub(crate) use anthropic::AnthropicProtocol;
pub(crate) use google::GoogleProtocol;
pub(crate) use ollama::OllamaProtocol;
pub(crate) use openai::OpenaiProtocol;
