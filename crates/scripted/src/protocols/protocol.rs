//! What a valid request asks for, whatever its provider.

use serde_json::Value;

use crate::fault::Fault;
use crate::request::RecordedRequest;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedForm {
    Plain,
    Json,
    Schema,
    Tool,
}

#[derive(Debug, Clone)]
pub(crate) enum AskedCall {
    Chat {
        form: AskedForm,
        is_stream: bool,
        has_usage: bool,
    },
    Embed {
        texts: Vec<String>,
        dimensions: Option<usize>,
        is_base64: bool,
    },
}

#[derive(Debug, Clone)]
pub(crate) struct AskedRequest {
    pub(crate) model: String,
    pub(crate) call: AskedCall,
    pub(crate) has_temperature: bool,
    /// The field that limits tokens, if there is one.
    pub(crate) token_field: Option<&'static str>,
    pub(crate) has_system: bool,
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finish {
    Stop,
    Length,
}

/// A stream: its type and its frames.
pub(crate) struct StreamFrames {
    pub(crate) content_type: &'static str,
    pub(crate) frames: Vec<String>,
}

/// One provider.
pub(crate) trait ProviderProtocol: Send + Sync {
    /// Refuses what the provider refuses.
    fn read(&self, request: &RecordedRequest) -> Result<AskedRequest, Fault>;

    /// The body of an error.
    fn error(&self, fault: &Fault) -> Value;

    /// A whole answer.
    fn whole(&self, asked: &AskedRequest, parts: &[String], finish: Finish) -> Value;

    /// The answer as a stream.
    fn stream(&self, asked: &AskedRequest, pieces: &[String], finish: Finish) -> StreamFrames;

    /// Vectors.
    fn vectors(&self, asked: &AskedRequest, vectors: Vec<Value>) -> Value;

    /// The words with which a form is refused, and the field that they name.
    fn form_refusal(&self, status: u16, form: AskedForm) -> Fault;
}
