//! The port to a language model.
//!
//! It is synchronous: an add is one function from a request to a commit, and its caller runs it on a thread that may
//! wait. An implementation owns the deadline: a call that would pass it fails with `Unreachable`.

use std::time::Duration;

use serde_json::Value;

use super::form::ReplyForm;

/// Which call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelCall {
    /// Call A: facts of turns.
    Extract,
    /// Call B: what facts do to memories.
    Decide,
    /// The summary of a session.
    Summarise,
}

/// One message to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatTurn {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// The text.
    pub text: String,
}

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// Which call it is.
    pub call: ModelCall,
    /// The form that the answer is asked in.
    pub form: ReplyForm,
    /// The system message.
    pub system: String,
    /// The messages, the last one from the user.
    pub messages: Vec<ChatTurn>,
    /// The JSON schema of the answer; `None` for a demonstration.
    pub schema: Option<Value>,
}

/// The answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelReply {
    /// The text.
    pub text: String,
    /// True if the token limit cut it.
    pub is_cut: bool,
    /// Tokens of the request, as the provider counts them.
    pub tokens_in: u64,
    /// Tokens of the answer.
    pub tokens_out: u64,
    /// Milliseconds that the call took.
    pub millis: u64,
}

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelFailure {
    /// No connection, a time-out, or a fault of the server.
    Unreachable(String),
    /// Too many requests; how long to wait, if the provider says so.
    RateLimit(Option<Duration>),
    /// The key or the model is refused.
    Refused(String),
    /// The server does not take the form (`response_format`, `schema`, a forced tool).
    FormRefused(String),
    /// The budget of calls or tokens is spent.
    Budget(String),
}

/// A language model.
pub trait Model {
    /// What names the server and the model: the forms that it refuses are remembered under it.
    fn key(&self) -> String;

    /// Asks it.
    fn call(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure>;

    /// Waits before another try; false, at once, if the deadline would pass.
    fn wait(&self, pause: Duration) -> bool;
}
