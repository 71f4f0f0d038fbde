//! Scripted servers of model providers: the protocols of OpenAI, Azure, Anthropic, Google and Ollama over real HTTP.
//!
//! A server refuses what the real one refuses, in the same shape: a wrong key, missing and unknown fields, schemas that
//! are not strict. What it answers is a script: steps are taken one by one, then every request is answered.
//!
//! Promises: one thread for each connection, no state but the script and the list of requests; `.ci/models-sdk` has the
//! official SDKs talk to it. Not here: any model; a use outside of tests.

#![forbid(unsafe_code)]

mod request;
mod script;

mod fault;
mod protocols;

mod proxy;
mod server;

pub use proxy::ScriptedProxy;
pub use request::RecordedRequest;
pub use script::{AnswerText, Script, ServerRule, Step};
pub use server::{KEY, Protocol, ScriptedServer};
