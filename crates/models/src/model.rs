//! A language model: the port of an add, and what else is asked of it.

use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use amem_memory::model::{
    ChatTurn, Model, ModelCall, ModelFailure, ModelReply, ModelRequest, ReplyForm,
};

use crate::budget::DayUsage;
use crate::cache::{ReplyCache, request_hash};
use crate::check::CheckReport;
use crate::client::{ProviderClient, now_secs};
use crate::error::{Error, Result};
use crate::failure::{CallError, failure_text};
use crate::runtime::{ModelRuntime, WaitFailure};
use crate::settings::ModelSettings;
use crate::stream::ChatStream;
use crate::wire::{CallOptions, ChatPrompt, Parameter, ReplyShape, WireRequest, chat_request};

/// A language model. Clones share budget, cache and limits.
#[derive(Clone)]
pub struct LanguageModel {
    shared: Arc<ModelShared>,
    runtime: ModelRuntime,
}

struct ModelShared {
    client: ProviderClient,
    cache: ReplyCache,
}

impl fmt::Debug for LanguageModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LanguageModel").field(&self.name()).finish()
    }
}

impl LanguageModel {
    /// Sets a model up; nothing is called yet, and no key is read.
    ///
    /// # Errors
    /// If a setting cannot be used, or TLS cannot be set up.
    pub fn new(settings: ModelSettings, runtime: &ModelRuntime) -> Result<Self> {
        if settings.dimensions.is_some() {
            return Err(Error::setting("dimensions", "a language model has none"));
        }
        let cache = ReplyCache::new(settings.cache_bytes);
        let client = ProviderClient::new(settings)?;
        Ok(Self {
            shared: Arc::new(ModelShared { client, cache }),
            runtime: runtime.clone(),
        })
    }

    /// Provider, model and server, for people.
    pub fn name(&self) -> String {
        self.shared.client.name()
    }

    /// The model during one add: its deadline begins now.
    pub fn begin(&self) -> ModelSession {
        self.begin_within(self.shared.client.settings.deadline())
    }

    /// The same with another deadline: a probe makes many calls.
    pub fn begin_within(&self, deadline: Duration) -> ModelSession {
        ModelSession {
            model: self.clone(),
            deadline,
            until: Instant::now() + deadline,
        }
    }

    /// What was used today (UTC), to be kept over restarts.
    pub fn usage(&self) -> DayUsage {
        self.shared.client.budget.usage(now_secs())
    }

    /// Continues the day of an earlier process.
    pub fn restore(&self, usage: DayUsage) {
        self.shared.client.budget.restore(usage, now_secs());
    }

    /// Asks for an answer in pieces. A failure before the first piece is the first item.
    pub fn chat_stream(&self, system: &str, messages: Vec<ChatTurn>) -> ChatStream {
        let shared = self.shared.clone();
        let system = system.to_owned();
        ChatStream::start(&self.runtime, move |pieces| async move {
            pieces.run(&shared.client, &system, &messages).await;
        })
    }

    /// One tiny call, with what came of it.
    pub fn check(&self) -> CheckReport {
        let request = ModelRequest {
            call: ModelCall::Extract,
            form: ReplyForm::Demonstration,
            system: "Answer with one word.".into(),
            messages: vec![ChatTurn {
                role: "user",
                text: "Say yes.".into(),
            }],
            schema: None,
        };
        CheckReport::of(self.name(), || {
            let reply = self.begin().call(&request);
            let reply = reply.map_err(|failure| failure_text(&failure))?;
            if reply.text.trim().is_empty() {
                return Ok(
                    "it answers, with an empty text: max_tokens may be too small for its thoughts"
                        .into(),
                );
            }
            let tokens = reply.tokens_in + reply.tokens_out;
            Ok(format!("it answers ({tokens} tokens)"))
        })
    }
}

impl ModelShared {
    async fn reply(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let client = &self.client;
        let shape = match (&request.schema, request.form) {
            (Some(schema), ReplyForm::Schema) => ReplyShape::Schema(schema),
            (Some(schema), ReplyForm::JsonObject) => ReplyShape::Json(schema),
            _ => ReplyShape::Plain,
        };
        let has_form = !matches!(shape, ReplyShape::Plain);
        let prompt = ChatPrompt {
            system: &request.system,
            messages: &request.messages,
            shape,
            is_stream: false,
        };
        let build =
            |options: &CallOptions<'_>| chat_request(client.settings.provider, &prompt, options);
        let hash = |request: &WireRequest| {
            let body = request.body.to_string();
            request_hash(&[&client.key(), &request.path, &body])
        };
        let first = build(&client.options());
        if self.is_cached(&first)
            && let Some(reply) = self.cache.get(&hash(&first))
        {
            return Ok(reply);
        }
        let slot = client.slots.acquire().await;
        let started = Instant::now();
        let failed = |why: CallError| why.failure(has_form);
        let mut answer = match client.send(build).await {
            Err(CallError::Refusal(refusal)) if refusal.is_about_prompt() => {
                // An answer without facts: the next form, at last the patterns.
                let why = refusal.text();
                tracing::warn!(model = client.settings.model, why, "the prompt is refused");
                return Ok(ModelReply::default());
            }
            answered => answered.map_err(failed)?,
        };
        let read = client.reply(&mut answer).await.map_err(failed)?;
        drop(slot);
        let estimated = |text: &str| u64::try_from(text.len().div_ceil(4)).unwrap_or(u64::MAX);
        let asked = || {
            let texts = request.messages.iter().map(|turn| turn.text.as_str());
            texts.chain([request.system.as_str()]).map(estimated).sum()
        };
        let reply = ModelReply {
            is_cut: read.is_cut(),
            tokens_in: read.tokens_in.unwrap_or_else(asked),
            tokens_out: read.tokens_out.unwrap_or_else(|| estimated(&read.text)),
            text: read.text,
            millis: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        };
        client
            .budget
            .add_tokens(reply.tokens_in + reply.tokens_out, now_secs());
        let sent = build(&client.options());
        if self.is_cached(&sent) {
            self.cache.put(hash(&sent), &reply);
        }
        Ok(reply)
    }

    /// Only where a repeated question has the same answer.
    fn is_cached(&self, request: &WireRequest) -> bool {
        let is_fixed = self.client.settings.temperature == 0.0;
        self.cache.is_on() && is_fixed && request.sent.contains(&Parameter::Temperature)
    }
}

/// A model with a deadline: the port that an add is handed.
#[derive(Debug)]
pub struct ModelSession {
    model: LanguageModel,
    deadline: Duration,
    until: Instant,
}

impl ModelSession {
    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl Model for ModelSession {
    fn key(&self) -> String {
        self.model.shared.client.key()
    }

    fn call(&self, request: &ModelRequest) -> Result<ModelReply, ModelFailure> {
        let settings = &self.model.shared.client.settings;
        let (left, of_call) = (self.left(), settings.call_after());
        if left.is_zero() {
            let seconds = self.deadline.as_secs();
            return Err(ModelFailure::Unreachable(format!(
                "the deadline of {seconds} s has passed"
            )));
        }
        let (shared, request) = (self.model.shared.clone(), request.clone());
        let limit = left.min(of_call);
        let done = self
            .model
            .runtime
            .wait(limit, async move { shared.reply(&request).await });
        done.unwrap_or_else(|failure| {
            Err(ModelFailure::Unreachable(match failure {
                WaitFailure::Timeout if left < of_call => {
                    format!(
                        "no answer before the deadline of {} s",
                        self.deadline.as_secs()
                    )
                }
                WaitFailure::Timeout => format!("no answer within {} s", settings.call_secs),
                WaitFailure::Ended => "the runtime of models has ended".into(),
            }))
        })
    }

    fn wait(&self, pause: Duration) -> bool {
        if pause >= self.left() {
            return false;
        }
        thread::sleep(pause);
        true
    }
}
