//! Items as memories: facts are found in what was said, and what another store remembers is remembered as it is.

use std::path::PathBuf;

use amem_client::v1;
use amem_format::Micros;
use amem_sources::{ItemType, SourceItem, TurnRole};
use serde_json::{Value, json};

use super::import_sink::ItemImport;
use super::item_event::text_of;
use super::outcome::ImportCounts;
use crate::failure::Failure;
use crate::mcp::{SourceOptions, memory_place};
use crate::output::context::CommandContext;
use crate::when::timestamp;

/// Messages of a request.
const BATCH_MESSAGES: usize = 100;
/// Bytes of their texts.
const BATCH_BYTES: usize = 512 << 10;
/// Characters of an agent's turn that are kept: it explains what the person says.
const ANSWER_CHARS_MAX: usize = 4_000;

/// Whose memories they become.
#[derive(Debug, Clone)]
pub(crate) struct ImportScope {
    /// The user.
    pub(crate) user: String,
    /// The project of everything; that of each conversation's folder if `None`.
    pub(crate) project: Option<String>,
}

/// What waits for its request: messages of one document.
#[derive(Default)]
struct WaitingMessages {
    document: String,
    kind: &'static str,
    is_said: bool,
    scope: v1::Scope,
    messages: Vec<v1::FactMessage>,
    bytes: usize,
}

/// An import under way.
pub(crate) struct FactImport<'a> {
    cx: &'a mut CommandContext,
    brain: String,
    scope: ImportScope,
    waiting: WaitingMessages,
    is_dry: bool,
    /// False in a dry run into a brain that is not there.
    is_there: bool,
    pub(crate) counts: ImportCounts,
}

impl<'a> FactImport<'a> {
    pub(crate) fn new(
        cx: &'a mut CommandContext,
        brain: String,
        scope: ImportScope,
        is_dry: bool,
        is_there: bool,
    ) -> Self {
        Self {
            cx,
            brain,
            scope,
            waiting: WaitingMessages::default(),
            is_dry,
            is_there,
            counts: ImportCounts::default(),
        }
    }

    /// Whose memory an item is: the project's that it was said in, else the user's.
    fn scope_of(&self, item: &SourceItem) -> v1::Scope {
        let mut scope = v1::Scope::default();
        let folder = item.attributes.get("project").and_then(Value::as_str);
        let project = self.scope.project.clone().or_else(|| {
            let folder = PathBuf::from(folder?);
            if !folder.is_absolute() {
                return None;
            }
            let (place, _) = memory_place(&SourceOptions::default(), folder).ok()?;
            place.project.map(|project| project.id)
        });
        match project {
            Some(project) => scope.app = Some(project),
            None => scope.user = Some(self.scope.user.clone()),
        }
        scope
    }

    /// Sends what waits.
    pub(crate) fn write(&mut self) -> Result<(), Failure> {
        let messages = std::mem::take(&mut self.waiting.messages);
        self.waiting.bytes = 0;
        if messages.is_empty() {
            return Ok(());
        }
        let count = messages.len() as u64;
        if !self.is_there {
            // Only a brain says what would be found; a dry run makes none.
            return Ok(());
        }
        let metadata = json!({
            "import_kind": self.waiting.kind,
            "import_document": self.waiting.document,
        });
        let request = v1::AddFactsRequest {
            brain: self.brain.clone(),
            messages,
            scope: Some(self.waiting.scope.clone()),
            infer: Some(self.waiting.is_said),
            dry_run: self.is_dry,
            metadata_json: metadata.to_string(),
            options: Some(v1::WriteOptions {
                agent: self.cx.reach().agent.clone(),
                ..v1::WriteOptions::default()
            }),
            ..v1::AddFactsRequest::default()
        };
        let remote = self.cx.daemon()?;
        let added = remote.call(remote.client.facts().add_facts(request))?;
        for result in &added.results {
            match result.event() {
                v1::FactEvent::Add => self.counts.added += 1,
                v1::FactEvent::Update => self.counts.changed += 1,
                v1::FactEvent::Delete => self.counts.gone += 1,
                v1::FactEvent::None | v1::FactEvent::Feedback | v1::FactEvent::Unspecified => {
                    self.counts.known += 1
                }
            }
        }
        if !added.pending.is_empty() {
            self.counts.pending += count;
        }
        Ok(())
    }
}

impl ItemImport for FactImport<'_> {
    fn take(&mut self, item: &SourceItem) -> Result<(), Failure> {
        // The title of a note and the name of an entity are lent to what they are about.
        if matches!(item.item_type, ItemType::Document | ItemType::Entity) {
            return Ok(());
        }
        let is_said = item.item_type == ItemType::Turn;
        let document = item.id.of_document().to_string();
        let is_other = document != self.waiting.document || is_said != self.waiting.is_said;
        let is_full =
            self.waiting.messages.len() >= BATCH_MESSAGES || self.waiting.bytes >= BATCH_BYTES;
        if is_other || is_full {
            self.write()?;
        }
        if is_other {
            self.waiting.scope = self.scope_of(item);
        }
        (self.waiting.document, self.waiting.is_said) = (document, is_said);
        self.waiting.kind = item.id.kind.id_name();
        let (role, name) = match &item.role {
            Some(TurnRole::Assistant) => (v1::FactRole::Assistant, String::new()),
            Some(TurnRole::Speaker(name)) => (v1::FactRole::User, name.clone()),
            Some(TurnRole::User) | None => (v1::FactRole::User, String::new()),
        };
        let mut text = text_of(item);
        if role == v1::FactRole::Assistant {
            text = text.chars().take(ANSWER_CHARS_MAX).collect();
        }
        self.waiting.bytes += text.len();
        self.waiting.messages.push(v1::FactMessage {
            role: role.into(),
            text,
            name,
            time: item.time.map(|time| timestamp(Micros(time.0))),
        });
        Ok(())
    }
}
