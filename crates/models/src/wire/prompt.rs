//! What is asked, whatever the provider, and the request that it becomes.

use serde_json::{Value, json};

use amem_memory::model::ChatTurn;

use super::parameter::{DroppedParameters, Parameter};

/// The form of the answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReplyShape<'p> {
    /// As the model likes.
    Plain,
    /// A strict JSON schema.
    Schema(&'p Value),
    /// JSON, or a forced tool with this schema.
    Json(&'p Value),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChatPrompt<'p> {
    pub(crate) system: &'p str,
    pub(crate) messages: &'p [ChatTurn],
    pub(crate) shape: ReplyShape<'p>,
    pub(crate) is_stream: bool,
}

/// What settings and refusals say about a call.
#[derive(Debug, Clone)]
pub(crate) struct CallOptions<'s> {
    pub(crate) model: &'s str,
    pub(crate) api_version: &'s str,
    /// The path of the base URL.
    pub(crate) base_path: &'s str,
    pub(crate) max_tokens: u32,
    pub(crate) temperature: f64,
    pub(crate) dropped: DroppedParameters,
}

impl CallOptions<'_> {
    pub(super) fn has(&self, parameter: Parameter) -> bool {
        !self.dropped.contains(&parameter)
    }
}

/// Texts to embed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextBatch<'t> {
    pub(crate) texts: &'t [&'t str],
    pub(crate) dimensions: Option<usize>,
}

impl TextBatch<'_> {
    /// The length that is asked for, and the parameters that are sent for it.
    pub(super) fn asked(&self, options: &CallOptions<'_>) -> (Option<usize>, Vec<Parameter>) {
        let has_dimensions = options.has(Parameter::Dimensions);
        let asked = self.dimensions.filter(|_| has_dimensions);
        let sent = asked.map(|_| Parameter::Dimensions);
        (asked, sent.into_iter().collect())
    }
}

/// A request before it has headers.
#[derive(Debug, Clone)]
pub(crate) struct WireRequest {
    /// Follows the base URL.
    pub(crate) path: String,
    pub(crate) body: Value,
    /// Parameters in it that can be dropped.
    pub(crate) sent: Vec<Parameter>,
}

/// The system message and the messages; if the model takes no system message, the first message begins with it.
pub(super) fn messages_of(
    prompt: &ChatPrompt<'_>,
    has_system: bool,
) -> (Option<String>, Vec<(&'static str, String)>) {
    let mut messages: Vec<(&'static str, String)> = prompt
        .messages
        .iter()
        .map(|turn| (turn.role, turn.text.clone()))
        .collect();
    if prompt.system.is_empty() {
        return (None, messages);
    }
    if has_system {
        return (Some(prompt.system.to_owned()), messages);
    }
    match messages.first_mut().filter(|(role, _)| *role == "user") {
        Some((_, text)) => *text = format!("{}\n\n{text}", prompt.system),
        None => messages.insert(0, ("user", prompt.system.to_owned())),
    }
    (None, messages)
}

/// The messages as objects of a role and a content; and the parameters that are sent with them.
pub(super) fn role_messages(
    prompt: &ChatPrompt<'_>,
    options: &CallOptions<'_>,
) -> (Value, Vec<Parameter>) {
    let (system, turns) = messages_of(prompt, options.has(Parameter::System));
    let sent = system.iter().map(|_| Parameter::System).collect();
    let system = system.map(|text| ("system", text));
    let messages = system.into_iter().chain(turns);
    let objects = messages.map(|(role, text)| json!({"role": role, "content": text}));
    (objects.collect(), sent)
}

/// A name as a part of a path.
pub(super) fn path_part(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}
