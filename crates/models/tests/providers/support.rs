//! Settings for scripted servers, and outcomes as lines.

use std::path::PathBuf;
use std::sync::OnceLock;

use serde_json::{Value, json};

use amem_memory::model::{
    ChatTurn, Model, ModelCall, ModelFailure, ModelReply, ModelRequest, ReplyForm,
};
use amem_models::{LanguageModel, ModelRuntime, ModelSettings, Provider, TextEmbedder};
use amem_scripted::{KEY, Protocol, Script, ScriptedServer};

pub(crate) fn provider(protocol: Protocol) -> Provider {
    match protocol {
        Protocol::Openai => Provider::Openai,
        Protocol::Azure => Provider::Azure,
        Protocol::Anthropic => Provider::Anthropic,
        Protocol::Google => Provider::Google,
        Protocol::Ollama => Provider::Ollama,
    }
}

/// One thread for the calls of all tests.
pub(crate) fn runtime() -> &'static ModelRuntime {
    static RUNTIME: OnceLock<ModelRuntime> = OnceLock::new();
    RUNTIME.get_or_init(|| ModelRuntime::start().unwrap())
}

/// A file with the key that the servers want.
pub(crate) fn key_file() -> PathBuf {
    use std::io::Write;
    static FILE: OnceLock<tempfile::TempPath> = OnceLock::new();
    let path = FILE.get_or_init(|| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        writeln!(file, "{KEY}").unwrap();
        file.into_temp_path()
    });
    path.to_path_buf()
}

pub(crate) fn settings(protocol: Protocol, url: &str) -> ModelSettings {
    let mut settings = ModelSettings::new(provider(protocol), "scripted-1");
    settings.base_url = Some(url.to_owned());
    settings.proxy = "none".into();
    settings.key_file = Some(key_file());
    settings
}

pub(crate) fn server(protocol: Protocol, script: Script) -> ScriptedServer {
    ScriptedServer::start(protocol, script).unwrap()
}

pub(crate) fn model(protocol: Protocol, server: &ScriptedServer) -> LanguageModel {
    LanguageModel::new(settings(protocol, &server.url()), runtime()).unwrap()
}

pub(crate) fn embedder(settings: ModelSettings) -> TextEmbedder {
    TextEmbedder::new(settings, runtime()).unwrap()
}

pub(crate) fn user(text: &str) -> ChatTurn {
    ChatTurn {
        role: "user",
        text: text.to_owned(),
    }
}

pub(crate) fn schema() -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": ["facts"],
        "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    })
}

pub(crate) fn request(form: ReplyForm) -> ModelRequest {
    ModelRequest {
        call: ModelCall::Extract,
        form,
        system: "Answer with one JSON object.".into(),
        messages: vec![
            user("I'm Ondrej."),
            ChatTurn {
                role: "assistant",
                text: "[]".into(),
            },
            user("I work at Acme Corp."),
        ],
        schema: (form != ReplyForm::Demonstration).then(schema),
    }
}

/// An outcome as a line: `text`, `cut`, or the failure.
pub(crate) fn line(outcome: &Result<ModelReply, ModelFailure>) -> String {
    match outcome {
        Ok(reply) if reply.is_cut => format!("cut {}", reply.text),
        Ok(reply) => format!("text {}", reply.text),
        Err(failure) => format!("{failure:?}"),
    }
}

pub(crate) fn call(model: &LanguageModel, form: ReplyForm) -> Result<ModelReply, ModelFailure> {
    model.begin().call(&request(form))
}
