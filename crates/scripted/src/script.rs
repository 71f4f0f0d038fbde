//! What a server does: steps, each for one request, and rules, which hold for all.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// Makes the text of an answer from the body of its request.
pub type AnswerText = Arc<dyn Fn(&Value) -> String + Send + Sync>;

/// What happens to one request that is valid.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// The usual answer.
    Usual,
    /// This text.
    Text(String),
    /// This text, cut by the token limit.
    Cut(String),
    /// The content as a list of parts.
    Parts(Vec<String>),
    /// This text as a stream, also if none was asked for.
    Stream(String),
    /// A stream that ends after its first piece.
    BrokenStream(String),
    /// An error in the shape of the provider.
    Refuse {
        /// The status.
        status: u16,
        /// The words of the error.
        message: String,
        /// The header Retry-After.
        retry_after: Option<String>,
    },
    /// An error with the status of success, as relays send it.
    ErrorInside(String),
    /// The usual answer after a while.
    Slow(Duration),
    /// The usual answer, after which the connection ends, although it could go on.
    Hangup,
    /// Half of the body that was announced.
    CutBody,
    /// The head without its end.
    CutHead,
    /// No body.
    EmptyBody,
    /// An answer without text.
    EmptyText,
    /// A body that is no JSON.
    Malformed,
    /// A page of HTML.
    Page,
    /// A body that says it is compressed.
    Compressed,
    /// A text of so many bytes.
    Huge(usize),
    /// A redirect to this address.
    Redirect(String),
    /// One vector less than texts.
    VectorMissing,
    /// Vectors that are shorter by one.
    VectorShort,
    /// The first vector has a value that is no number.
    VectorNotNumber,
}

/// What a server never takes.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerRule {
    /// A schema: refused with this status, in the words of servers that do so.
    NoSchema(u16),
    /// JSON in any form.
    NoJson(u16),
    /// `temperature`.
    NoTemperature,
    /// `max_tokens`; OpenAI's takes `max_completion_tokens`.
    NoMaxTokens,
    /// `stream_options`.
    NoStreamOptions,
    /// A message of the system.
    NoSystem,
    /// `dimensions` of embeddings.
    NoDimensions,
    /// A batch that has this text is refused.
    BadText(String),
}

/// The script of a server.
#[derive(Clone)]
pub struct Script {
    /// Taken one by one; after the last one every request has its usual answer.
    pub steps: Vec<Step>,
    /// Hold for every request.
    pub rules: Vec<ServerRule>,
    /// The usual answer.
    pub answer: AnswerText,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Script");
        out.field("steps", &self.steps).field("rules", &self.rules);
        out.finish_non_exhaustive()
    }
}

impl Default for Script {
    fn default() -> Self {
        let answer = |body: &Value| {
            let asked = body.to_string();
            let is_json = [
                "response_format",
                "output_config",
                "tool_choice",
                "responseMimeType",
            ]
            .iter()
            .any(|word| asked.contains(word))
                || !body["format"].is_null();
            let text = if is_json {
                "{\"facts\":[\"User works at Acme Corp\"]}"
            } else {
                "Hello from the script."
            };
            text.to_owned()
        };
        Self {
            steps: Vec::new(),
            rules: Vec::new(),
            answer: Arc::new(answer),
        }
    }
}

impl Script {
    /// These steps, then usual answers.
    pub fn steps(steps: impl IntoIterator<Item = Step>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Usual answers under rules.
    pub fn rules(rules: impl IntoIterator<Item = ServerRule>) -> Self {
        Self {
            rules: rules.into_iter().collect(),
            ..Self::default()
        }
    }
}
