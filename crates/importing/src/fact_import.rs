//! Items as memories: facts are found in what was said, and what another store remembers is remembered as it is.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use amem_format::Micros;
use amem_proto::v1;
use amem_sources::{ItemType, SourceItem};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::import_sink::ItemImport;
use crate::item_message::{message, own_metadata};
use crate::message::{now, timestamp};
use crate::outcome::{ImportCounts, ReadNotes};
use crate::source_event::{HASH, ID, KIND, SOURCE, session_key};
use crate::target::{ChangeAnswer, EventChange, ImportTarget};

/// Messages of a request.
const BATCH_MESSAGES: usize = 100;
/// Bytes of their texts.
const BATCH_BYTES: usize = 512 << 10;
/// Memories of an answer.
const PAGE_FACTS: u32 = 1_000;

/// Whose memories they become.
#[derive(Debug, Clone)]
pub struct ImportScope {
    /// The user, of what names nobody.
    pub user: String,
    /// True if the user was named: everything is that user's.
    pub is_named: bool,
    /// The project of everything; that of each conversation's folder if `None`.
    pub project: Option<String>,
}

/// Turns of one document that wait for their request.
#[derive(Default)]
struct WaitingTurns {
    document: String,
    kind: &'static str,
    scope: v1::Scope,
    /// The key of their session.
    session: Option<String>,
    messages: Vec<v1::FactMessage>,
    bytes: usize,
}

/// A memory that an earlier import wrote.
struct KnownMemory {
    fact: String,
    hash: String,
    document: String,
    is_seen: bool,
}

/// The memories of a scope, by the ids of their items.
type KnownMemories = HashMap<String, KnownMemory>;

/// An import under way.
pub(crate) struct FactImport<'a, T> {
    target: &'a mut T,
    scope: &'a ImportScope,
    waiting: WaitingTurns,
    known: HashMap<String, (v1::Scope, KnownMemories)>,
    /// The sessions of conversations, by key.
    sessions: HashMap<String, u32>,
    /// The projects of the folders that were looked at.
    projects: HashMap<PathBuf, Option<String>>,
    /// Documents of which everything was read.
    read: HashSet<String>,
    is_dry: bool,
    /// False in a dry run into a brain that is not there.
    is_there: bool,
    taken: u64,
    pub(crate) counts: ImportCounts,
}

impl<'a, T: ImportTarget> FactImport<'a, T> {
    pub(crate) fn new(
        target: &'a mut T,
        scope: &'a ImportScope,
        is_dry: bool,
        is_there: bool,
    ) -> Self {
        Self {
            target,
            scope,
            waiting: WaitingTurns::default(),
            known: HashMap::new(),
            sessions: HashMap::new(),
            projects: HashMap::new(),
            read: HashSet::new(),
            is_dry,
            is_there,
            taken: 0,
            counts: ImportCounts::default(),
        }
    }

    /// Whose memory an item is: of whom it says so, else the project's that it was said in, else the user's.
    fn scope_of(&mut self, item: &SourceItem) -> Result<v1::Scope, T::Failure> {
        let named = |name: &str| {
            let value = item.attributes.get(name).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let own = v1::Scope {
            user: named("user_id"),
            agent: named("agent_id"),
            run: named("run_id"),
            app: named("app_id"),
        };
        let is_free = !self.scope.is_named && self.scope.project.is_none();
        if is_free && own != v1::Scope::default() {
            return Ok(own);
        }
        let mut scope = v1::Scope::default();
        let folder = named("project").map(PathBuf::from);
        let project = match (&self.scope.project, folder) {
            (Some(project), _) => Some(project.clone()),
            (None, Some(folder)) if folder.is_absolute() => self.project_of(folder)?,
            _ => None,
        };
        match project {
            Some(project) if !self.scope.is_named => scope.app = Some(project),
            Some(project) if self.scope.project.is_some() => {
                (scope.app, scope.user) = (Some(project), Some(self.scope.user.clone()));
            }
            _ => scope.user = Some(self.scope.user.clone()),
        }
        Ok(scope)
    }

    /// The project of a folder, as the hooks of a client in it have it.
    fn project_of(&mut self, folder: PathBuf) -> Result<Option<String>, T::Failure> {
        if let Some(known) = self.projects.get(&folder) {
            return Ok(known.clone());
        }
        let project = self.target.project_of(&folder)?;
        self.projects.insert(folder, project.clone());
        Ok(project)
    }

    fn options(&self) -> Option<v1::WriteOptions> {
        Some(v1::WriteOptions {
            agent: self.target.agent().to_owned(),
            ..v1::WriteOptions::default()
        })
    }

    /// Sends the turns that wait.
    fn write(&mut self) -> Result<(), T::Failure> {
        let messages = std::mem::take(&mut self.waiting.messages);
        self.waiting.bytes = 0;
        if messages.is_empty() {
            return Ok(());
        }
        let count = messages.len() as u64;
        let session_id = match self.waiting.session.clone() {
            Some(key) => self.session(key)?,
            None => 0,
        };
        let metadata = json!({KIND: self.waiting.kind, SOURCE: self.waiting.document});
        let added = self.add(v1::AddFactsRequest {
            messages,
            session_id,
            scope: Some(self.waiting.scope.clone()),
            metadata_json: metadata.to_string(),
            ..v1::AddFactsRequest::default()
        })?;
        if added.is_some_and(|added| !added.pending.is_empty()) {
            self.counts.pending += count;
        }
        Ok(())
    }

    /// The session of a conversation; 0 in a dry run, which opens none.
    fn session(&mut self, key: String) -> Result<u32, T::Failure> {
        if self.is_dry || !self.is_there {
            return Ok(0);
        }
        if let Some(known) = self.sessions.get(&key) {
            return Ok(*known);
        }
        let listed = v1::ListFactsRequest {
            brain: self.target.brain().to_owned(),
            scope: Some(self.waiting.scope.clone()),
            page_size: 1,
            ..v1::ListFactsRequest::default()
        };
        let request = v1::OpenSessionRequest {
            brain: self.target.brain().to_owned(),
            key: key.clone(),
            options: self.options(),
        };
        // The brain of facts is made by the first call about facts.
        self.target.list_facts(listed)?;
        let session = match self.target.change(EventChange::OpenSession(request))? {
            ChangeAnswer::Session(session) => session,
            ChangeAnswer::Event(_) | ChangeAnswer::Done => 0,
        };
        self.sessions.insert(key, session);
        Ok(session)
    }

    fn add(
        &mut self,
        request: v1::AddFactsRequest,
    ) -> Result<Option<v1::AddFactsResponse>, T::Failure> {
        if !self.is_there {
            // Only a brain says what would be found; a dry run makes none.
            return Ok(None);
        }
        let request = v1::AddFactsRequest {
            brain: self.target.brain().to_owned(),
            dry_run: self.is_dry,
            options: self.options(),
            ..request
        };
        let added = self.target.add_facts(request)?;
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
        Ok(Some(added))
    }

    /// A turn: facts are found in it and in those beside it.
    fn turn(&mut self, item: &SourceItem) -> Result<(), T::Failure> {
        let document = item.id.of_document().to_string();
        let is_other = document != self.waiting.document;
        let is_full =
            self.waiting.messages.len() >= BATCH_MESSAGES || self.waiting.bytes >= BATCH_BYTES;
        if is_other || is_full {
            self.write()?;
        }
        if is_other {
            self.waiting.scope = self.scope_of(item)?;
            self.waiting.session = session_key(item);
        }
        self.waiting.document = document;
        self.waiting.kind = item.id.kind.id_name();
        let message = message(item);
        self.waiting.bytes += message.text.len();
        self.waiting.messages.push(message);
        Ok(())
    }

    /// What another store remembers: as it is, brought up to date if it changed there.
    fn memory(&mut self, item: &SourceItem) -> Result<(), T::Failure> {
        let scope = self.scope_of(item)?;
        let (id, hash) = (item.id.to_string(), format!("{:032x}", item.hash));
        let document = item.id.of_document().to_string();
        if item.id.kind.is_whole_state() {
            self.read.insert(document.clone());
        }
        let known = self.known_of(&scope)?;
        let had = known.get_mut(&id).map(|known| {
            known.is_seen = true;
            (known.fact.clone(), known.hash == hash)
        });
        let is_replaced = item.attributes.contains_key("replaced");
        if is_replaced || item.ends.is_some_and(|ends| ends.0 <= now().0) {
            // It holds no longer there; one that was remembered ends here too.
            self.counts.ended += 1;
            return match had {
                Some((fact, false)) => self.delete(fact),
                _ => Ok(()),
            };
        }
        let (mut metadata, is_cut) = own_metadata(item, &scope);
        for (name, value) in [
            (KIND, item.id.kind.id_name().to_owned()),
            (SOURCE, document),
            (ID, id),
            (HASH, hash),
        ] {
            metadata.insert(name.to_owned(), value.into());
        }
        let metadata = Value::Object(metadata);
        if !matches!(had, Some((_, true))) {
            self.counts.cut += u64::from(is_cut);
        }
        match had {
            Some((_, true)) => {
                self.counts.known += 1;
                Ok(())
            }
            Some((fact, false)) => {
                self.counts.changed += 1;
                if self.is_dry {
                    return Ok(());
                }
                let request = v1::UpdateFactRequest {
                    brain: self.target.brain().to_owned(),
                    id: fact,
                    text: Some(message(item).text),
                    metadata_json: Some(metadata.to_string()),
                    options: self.options(),
                    reason: "it changed where it was imported from".into(),
                    ..v1::UpdateFactRequest::default()
                };
                self.target.update_fact(request)
            }
            None if self.is_own(item)? => {
                self.counts.known += 1;
                Ok(())
            }
            None => {
                let added = self.add(v1::AddFactsRequest {
                    messages: vec![message(item)],
                    scope: Some(scope.clone()),
                    infer: Some(false),
                    without_turns: true,
                    metadata_json: metadata.to_string(),
                    expires_at: item.ends.map(|ends| timestamp(Micros(ends.0))),
                    ..v1::AddFactsRequest::default()
                })?;
                // One that came a second time in other words of the source is not another memory.
                if let Some(result) = added.as_ref().and_then(|added| added.results.first()) {
                    self.learn(&scope, result.id.clone(), &metadata)?;
                }
                Ok(())
            }
        }
    }

    /// True for a memory of this very brain, which an export wrote: what the brain says of it now is newer.
    fn is_own(&mut self, item: &SourceItem) -> Result<bool, T::Failure> {
        let id = item.attributes.get("memory_id").and_then(Value::as_str);
        let Some(id) = id.filter(|id| self.is_there && Uuid::try_parse(id).is_ok()) else {
            return Ok(false);
        };
        let request = v1::GetFactRequest {
            brain: self.target.brain().to_owned(),
            id: id.to_owned(),
            ..v1::GetFactRequest::default()
        };
        self.target.has_fact(request)
    }

    /// Keeps which memory an item is, so that the item is known when it comes again.
    fn learn(
        &mut self,
        scope: &v1::Scope,
        fact: String,
        metadata: &Value,
    ) -> Result<(), T::Failure> {
        let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let memory = KnownMemory {
            fact,
            hash: text(HASH),
            document: text(SOURCE),
            is_seen: true,
        };
        self.known_of(scope)?.insert(text(ID), memory);
        Ok(())
    }

    /// The memories of a scope that are of sources; those of a brain that is not there are none.
    fn known_of(&mut self, scope: &v1::Scope) -> Result<&mut KnownMemories, T::Failure> {
        let key = format!("{scope:?}");
        if !self.known.contains_key(&key) {
            let known = match self.is_there {
                true => self.listed(scope)?,
                false => KnownMemories::new(),
            };
            self.known.insert(key.clone(), (scope.clone(), known));
        }
        let entry = self.known.entry(key).or_default();
        Ok(&mut entry.1)
    }

    fn listed(&mut self, scope: &v1::Scope) -> Result<KnownMemories, T::Failure> {
        let (mut known, mut page_token) = (KnownMemories::new(), String::new());
        loop {
            let request = v1::ListFactsRequest {
                brain: self.target.brain().to_owned(),
                scope: Some(scope.clone()),
                page_size: PAGE_FACTS,
                page_token,
                ..v1::ListFactsRequest::default()
            };
            let page = self.target.list_facts(request)?;
            known.extend(page.facts.into_iter().filter_map(known_memory));
            if page.next_page_token.is_empty() {
                return Ok(known);
            }
            page_token = page.next_page_token;
        }
    }

    fn delete(&mut self, fact: String) -> Result<(), T::Failure> {
        self.counts.gone += 1;
        if self.is_dry {
            return Ok(());
        }
        let request = v1::DeleteFactRequest {
            brain: self.target.brain().to_owned(),
            id: fact,
            options: self.options(),
            ..v1::DeleteFactRequest::default()
        };
        self.target.delete_fact(request)
    }

    /// Sends what waits, and ends what a store that is read as a whole no longer has, unless a file could not be read
    /// to its end.
    pub(crate) fn finish(&mut self, notes: &ReadNotes) -> Result<(), T::Failure> {
        self.write()?;
        if !notes.unread.is_empty() {
            return Ok(());
        }
        let known = self.known.values().flat_map(|(_, known)| known.values());
        let gone = known.filter(|known| !known.is_seen && self.read.contains(&known.document));
        let gone: Vec<String> = gone.map(|known| known.fact.clone()).collect();
        for fact in gone {
            self.delete(fact)?;
        }
        Ok(())
    }
}

/// A memory of a source, by the id of its item.
fn known_memory(fact: v1::Fact) -> Option<(String, KnownMemory)> {
    let metadata: Value = serde_json::from_str(&fact.metadata_json).ok()?;
    let text = |name: &str| metadata[name].as_str().map(str::to_owned);
    let memory = KnownMemory {
        fact: fact.id,
        hash: text(HASH)?,
        document: text(SOURCE)?,
        is_seen: false,
    };
    Some((text(ID)?, memory))
}

impl<T: ImportTarget> ItemImport for FactImport<'_, T> {
    type Failure = T::Failure;

    fn take(&mut self, item: &SourceItem) -> Result<(), T::Failure> {
        self.taken += 1;
        self.target.progress(self.taken);
        let is_heading = item.attributes.get("shape") == Some(&json!("heading"));
        match item.item_type {
            ItemType::Turn => self.turn(item),
            // Titles, headings and names alone are no memories: they stand above what they are about.
            ItemType::Document | ItemType::Entity => Ok(()),
            _ if is_heading => Ok(()),
            _ => self.memory(item),
        }
    }
}
