//! The request of an add.

use serde_json::{Map, Value};
use uuid::Uuid;

use amem_format::types::Micros;

use crate::conversation::Message;
use crate::error::{Error, Result};
use crate::filter::FactFilter;
use crate::hash::text_hash;
use crate::kind::FactKind;
use crate::limits::{BECAUSE_MAX, IDEMPOTENCY_KEY_BYTES_MAX, METADATA_BYTES_MAX, PROMPT_BYTES_MAX};
use crate::scope::FactScope;
use crate::secrets::SecretPolicy;

/// Whether the agent's own turns are facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AssistantPolicy {
    /// They explain the person's turns. With an agent and no user in the scope they are facts.
    #[default]
    Context,
    /// They are facts.
    Facts,
}

/// What happens while the model cannot answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ModelFallback {
    /// The turns wait; patterns take over when retries are used up.
    #[default]
    Wait,
    /// Patterns at once.
    Patterns,
}

/// An add.
#[derive(Debug, Clone, PartialEq)]
pub struct AddRequest {
    /// The conversation.
    pub messages: Vec<Message>,
    /// Whose memory it is.
    pub scope: FactScope,
    /// With `infer` off, what the memories are; facts if unset.
    pub kind: Option<FactKind>,
    /// With `infer` off, the memories that they follow from.
    pub because: Vec<Uuid>,
    /// False: each message is a memory as it is.
    pub infer: bool,
    /// True: nothing is stored.
    pub dry_run: bool,
    /// The caller's own system message for call A.
    pub prompt: Option<String>,
    /// Which memories may be changed.
    pub filters: Option<FactFilter>,
    /// Keys of each memory.
    pub metadata: Map<String, Value>,
    /// When messages without a time were said.
    pub timestamp: Option<Micros>,
    /// When the memories end by themselves.
    pub expires: Option<Micros>,
    /// A repetition under this key gets the same answer and stores nothing.
    pub idempotency_key: Option<String>,
    /// Whether the agent's turns are facts.
    pub assistant: AssistantPolicy,
    /// What happens while the model cannot answer.
    pub fallback: ModelFallback,
    /// The session of the brain that the turns and the new memories belong to.
    pub session: Option<u32>,
    /// With `infer` off: true for a memory of another store. Its message is no turn, and is not stored as one.
    pub without_turns: bool,
    /// With `infer` off: true to store a memory beside those that it contradicts, and to name them. Nothing ends.
    pub marks_conflicts: bool,
    /// What happens to secrets in the messages and the metadata.
    pub secrets: SecretPolicy,
    /// True for pending work: its turns are stored already, and are extracted all the same.
    pub is_retry: bool,
    /// The present.
    pub now: Micros,
}

impl AddRequest {
    /// An add with the defaults: facts are inferred and stored.
    pub fn new(messages: Vec<Message>, scope: FactScope, now: Micros) -> Self {
        Self {
            messages,
            scope,
            kind: None,
            because: Vec::new(),
            infer: true,
            dry_run: false,
            prompt: None,
            filters: None,
            metadata: Map::new(),
            timestamp: None,
            expires: None,
            idempotency_key: None,
            assistant: AssistantPolicy::default(),
            fallback: ModelFallback::default(),
            session: None,
            without_turns: false,
            marks_conflicts: false,
            secrets: SecretPolicy::default(),
            is_retry: false,
            now,
        }
    }

    /// An error if the request cannot be run, whatever is stored.
    pub fn validate(&self) -> Result<()> {
        self.scope.validate()?;
        if let Some(expires) = self.expires.filter(|expires| *expires <= self.now) {
            return Err(Error::Expired {
                expires,
                now: self.now,
            });
        }
        if self.infer && (self.kind.is_some() || !self.because.is_empty()) {
            let why = "facts that are found have their own: set it with infer false";
            let field = if self.kind.is_some() {
                "kind"
            } else {
                "because_ids"
            };
            return Err(Error::invalid(field, why));
        }
        if self.marks_conflicts && self.infer {
            let why = "facts that are found name them always: set infer to false, or leave it out";
            return Err(Error::invalid("mark_conflicts", why));
        }
        if self.without_turns && (self.infer || self.messages.len() != 1) {
            let why = "it stores one memory as it is: set infer to false, and send one message";
            return Err(Error::invalid("without_turns", why));
        }
        if self.kind == Some(FactKind::Retraction) {
            return Err(Error::invalid(
                "kind",
                "a retraction has no text of its own",
            ));
        }
        Error::check_limit(
            "the memories that it follows from",
            self.because.len(),
            BECAUSE_MAX,
        )?;
        if let Some(prompt) = &self.prompt {
            Error::check_limit("the prompt in bytes", prompt.len(), PROMPT_BYTES_MAX)?;
            if prompt.trim().is_empty() {
                return Err(Error::invalid("prompt", "it is empty: leave it out"));
            }
        }
        if let Some(key) = &self.idempotency_key {
            Error::check_limit(
                "the idempotency key in bytes",
                key.len(),
                IDEMPOTENCY_KEY_BYTES_MAX,
            )?;
            if key.is_empty() {
                return Err(Error::invalid(
                    "idempotency_key",
                    "it is empty: leave it out",
                ));
            }
        }
        let metadata = Value::Object(self.metadata.clone()).to_string();
        Error::check_limit("the metadata in bytes", metadata.len(), METADATA_BYTES_MAX)?;
        if let Some(reserved) = self.metadata.keys().find(|key| key.starts_with("amem.")) {
            let why =
                format!("{reserved:?} is reserved: use keys that do not begin with \"amem.\"");
            return Err(Error::invalid("metadata", why));
        }
        Ok(())
    }

    /// What makes two requests the same: everything but the present and the key.
    pub(crate) fn request_hash(&self) -> String {
        let messages: Vec<_> = self
            .messages
            .iter()
            .map(|message| format!("{message:?}"))
            .collect();
        let rest = (
            &self.scope,
            self.infer,
            &self.prompt,
            &self.filters,
            &self.metadata,
            self.timestamp,
            self.expires,
            self.assistant,
        );
        // A request with neither has the hash that it always had.
        let own = match (self.kind, self.because.as_slice()) {
            (None, []) => String::new(),
            (kind, because) => format!("{kind:?}{because:?}"),
        };
        let own = match self.session {
            None => own,
            Some(session) => format!("{own} session {session}"),
        };
        let own = match self.without_turns {
            false => own,
            true => format!("{own} without turns"),
        };
        text_hash(&format!("{messages:?}{rest:?}{own}"))
    }
}
