//! One webhook: what it is sent, where to, and how far it is.

use std::collections::VecDeque;
use std::str::FromStr;

use amem_facts::FactChangeKind;
use amem_format::Micros;
use amem_format::view::View;
use amem_proto::answer::Code;
use serde::{Deserialize, Serialize};
use tokio_rustls::rustls::crypto::ring;
use uuid::Uuid;

use crate::auth::hex;
use crate::limits::{WEBHOOK_ERASED_MAX, WEBHOOK_NAME_BYTES_MAX, WEBHOOK_URL_BYTES_MAX};
use crate::refusal::{Refusal, Result};

/// The prefix of a secret, by which scanners find leaked ones.
const PREFIX: &str = "amem_wh_";
/// Random bytes of a secret.
const RANDOM_BYTES: usize = 32;

/// What a webhook is sent, in mem0's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum WebhookEvent {
    #[serde(rename = "memory_add")]
    Add,
    #[serde(rename = "memory_update")]
    Update,
    #[serde(rename = "memory_delete")]
    Delete,
    /// Accepted, because clients ask for it, and never sent: memories have no categories here.
    #[serde(rename = "memory_categorize")]
    Categorize,
}

impl WebhookEvent {
    pub(crate) const ALL: [Self; 4] = [Self::Add, Self::Update, Self::Delete, Self::Categorize];

    pub(crate) fn of(kind: FactChangeKind) -> Self {
        match kind {
            FactChangeKind::Add => Self::Add,
            FactChangeKind::Update => Self::Update,
            FactChangeKind::Delete => Self::Delete,
        }
    }

    /// Such as `memory_add`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Add => "memory_add",
            Self::Update => "memory_update",
            Self::Delete => "memory_delete",
            Self::Categorize => "memory_categorize",
        }
    }
}

impl FromStr for WebhookEvent {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        let named = Self::ALL.into_iter().find(|event| event.name() == text);
        named.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("unknown event {text:?}: use {names}")
        })
    }
}

/// The key of a webhook's signatures. `Debug` hides it.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct WebhookSecret(String);

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("WebhookSecret")
    }
}

impl WebhookSecret {
    fn new() -> Result<Self> {
        let mut random = [0; RANDOM_BYTES];
        let filled = ring::default_provider().secure_random.fill(&mut random);
        filled.map_err(|_| {
            let message = "the system has no random bytes: try again";
            Refusal::new(Code::Unavailable, "RANDOM", message)
        })?;
        Ok(Self(format!("{PREFIX}{}", hex(&random))))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// A position among the events of a brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WebhookPosition {
    pub(crate) instance: Uuid,
    /// The next event.
    pub(crate) event: u64,
}

impl WebhookPosition {
    /// The end of a brain.
    pub(crate) fn end(view: &View) -> Self {
        Self {
            instance: view.instance(),
            event: view.nodes(),
        }
    }
}

/// A memory that is to be sent as erased, once the events before `event` have been sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ErasedMemory {
    pub(crate) event: u64,
    pub(crate) id: Uuid,
}

/// How far a webhook is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct WebhookProgress {
    /// `None`: from the first event of a brain that did not exist when the webhook was created.
    pub(crate) position: Option<WebhookPosition>,
    pub(crate) erased: VecDeque<ErasedMemory>,
    /// Posts that failed since the last one that did not.
    pub(crate) failures: u32,
    /// Microseconds since 1970, as all times here.
    pub(crate) next_try: Option<i64>,
    pub(crate) last_error: Option<String>,
}

impl WebhookProgress {
    /// Queues memories that are erased; returns how many were dropped for them.
    pub(super) fn erase(&mut self, event: u64, ids: &[Uuid]) -> usize {
        let erased = ids.iter().map(|id| ErasedMemory { event, id: *id });
        self.erased.extend(erased);
        let dropped = self.erased.len().saturating_sub(WEBHOOK_ERASED_MAX);
        self.erased.drain(..dropped);
        dropped
    }

    /// Nothing holds up the next post.
    pub(super) fn succeeded(&mut self) {
        self.failures = 0;
        self.next_try = None;
        self.last_error = None;
    }
}

/// A webhook.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Webhook {
    pub(crate) id: Uuid,
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) brain: String,
    /// In order, each once.
    pub(crate) events: Vec<WebhookEvent>,
    pub(crate) secret: WebhookSecret,
    pub(crate) is_active: bool,
    pub(crate) created: i64,
    pub(crate) updated: i64,
    pub(crate) progress: WebhookProgress,
}

/// What a request sets of a webhook.
#[derive(Debug, Clone, Default)]
pub(crate) struct WebhookChange {
    pub(crate) name: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) events: Option<Vec<WebhookEvent>>,
    pub(crate) is_active: Option<bool>,
}

impl WebhookChange {
    pub(super) fn validate(&self) -> Result<()> {
        let limits = [
            ("name", &self.name, WEBHOOK_NAME_BYTES_MAX),
            ("url", &self.url, WEBHOOK_URL_BYTES_MAX),
        ];
        for (field, text, max) in limits {
            let Some(text) = text else { continue };
            if text.len() > max {
                let why = format!("{field}: it has {} bytes, the limit is {max}", text.len());
                return Err(Refusal::new(Code::InvalidArgument, "LIMIT", why));
            }
            if text.is_empty() || text.chars().any(char::is_control) {
                let why = "it must be text, without control characters";
                return Err(Refusal::invalid(field, why));
            }
        }
        if self.events.as_ref().is_some_and(Vec::is_empty) {
            return Err(Refusal::invalid("event_types", "name at least one"));
        }
        Ok(())
    }
}

impl Webhook {
    /// A webhook of a brain. The change has a URL, and was validated.
    pub(super) fn new(
        brain: &str,
        change: WebhookChange,
        position: Option<WebhookPosition>,
        now: Micros,
    ) -> Result<Self> {
        let url = change.url.clone().unwrap_or_default();
        let mut webhook = Self {
            id: Uuid::new_v4(),
            name: "webhook".into(),
            url,
            brain: brain.to_owned(),
            events: WebhookEvent::ALL[..3].to_vec(),
            secret: WebhookSecret::new()?,
            is_active: true,
            created: now.0,
            updated: now.0,
            progress: WebhookProgress {
                position,
                ..WebhookProgress::default()
            },
        };
        webhook.change(change, now);
        Ok(webhook)
    }

    /// Changes what is set. It is active then, unless the change says otherwise: what failed is tried at once.
    pub(super) fn change(&mut self, change: WebhookChange, now: Micros) {
        let WebhookChange {
            name,
            url,
            events,
            is_active,
        } = change;
        self.name = name.unwrap_or(std::mem::take(&mut self.name));
        self.url = url.unwrap_or(std::mem::take(&mut self.url));
        if let Some(mut events) = events {
            events.sort_unstable();
            events.dedup();
            self.events = events;
        }
        self.is_active = is_active.unwrap_or(true);
        self.progress.succeeded();
        self.updated = now.0;
    }
}
