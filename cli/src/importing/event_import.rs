//! Items as events: new ones are added, those of items that changed are replaced, those of items that are gone are
//! hidden.

use std::collections::{HashMap, HashSet};

use amem_client::v1;
use amem_sources::SourceItem;

use super::import_sink::ItemImport;
use super::item_event::{edge_of, event_of};
use super::known_items::{KnownItem, KnownItems, known_items};
use super::outcome::ImportCounts;
use crate::brain::writable::Writable;
use crate::failure::Failure;
use crate::output::context::CommandContext;

/// Events of a commit.
const BATCH_EVENTS: usize = 4_000;
/// Bytes of the texts of a commit.
const BATCH_BYTES: usize = 4 << 20;
/// Edges of a commit.
const BATCH_EDGES: usize = 4_000;

/// An item that waits for its commit.
struct WaitingItem {
    id: String,
    hash: u128,
    event: v1::NewEvent,
}

/// A connection that waits until both ends are events.
struct WaitingEdge {
    from: String,
    to: String,
    name: String,
}

/// An import under way.
pub(crate) struct EventImport<'a> {
    cx: &'a mut CommandContext,
    /// The brain.
    name: String,
    known: KnownItems,
    waiting: Vec<WaitingItem>,
    waiting_bytes: usize,
    edges: Vec<WaitingEdge>,
    sessions: HashMap<String, u32>,
    /// Documents that were read.
    documents: HashSet<String>,
    /// True if nothing is written.
    is_dry: bool,
    pub(crate) counts: ImportCounts,
}

impl<'a> EventImport<'a> {
    /// Into a brain, which a dry run may lack; `kinds` are the names in ids of what will be read.
    pub(crate) fn new(
        cx: &'a mut CommandContext,
        (name, brain): (String, Option<&Writable>),
        kinds: &HashSet<&'static str>,
        is_dry: bool,
    ) -> Result<Self, Failure> {
        let mut known = KnownItems::new();
        if let Some(brain) = brain {
            for kind in kinds {
                known.extend(known_items(cx, &brain.opened, kind)?);
            }
        }
        Ok(Self {
            cx,
            name,
            known,
            waiting: Vec::new(),
            waiting_bytes: 0,
            edges: Vec::new(),
            sessions: HashMap::new(),
            documents: HashSet::new(),
            is_dry,
            counts: ImportCounts::default(),
        })
    }

    fn options(&self) -> Option<v1::WriteOptions> {
        Some(v1::WriteOptions {
            agent: self.cx.reach().agent.clone(),
            ..v1::WriteOptions::default()
        })
    }

    /// The event of an item that changed is superseded.
    fn replace(&mut self, id: &str, target: u64, item: &SourceItem) -> Result<(), Failure> {
        self.counts.changed += 1;
        if self.is_dry {
            return Ok(());
        }
        let request = v1::CorrectRequest {
            brain: self.name.clone(),
            options: self.options(),
            target_id: target,
            to_head: true,
            event: Some(event_of(item)),
            reason: "the source changed".into(),
            ..v1::CorrectRequest::default()
        };
        let remote = self.cx.daemon()?;
        let done = remote.call(remote.client.memory().correct(request))?;
        if let Some(known) = self.known.get_mut(id) {
            known.event = done.event_id;
        }
        Ok(())
    }

    /// The number of a conversation's session.
    fn session(&mut self, document: &str) -> Result<u32, Failure> {
        if let Some(number) = self.sessions.get(document) {
            return Ok(*number);
        }
        // A key has 256 bytes at most; the end of a path says more than its beginning.
        let mut start = document.len().saturating_sub(256);
        while !document.is_char_boundary(start) {
            start += 1;
        }
        let request = v1::OpenSessionRequest {
            brain: self.name.clone(),
            options: self.options(),
            key: document[start..].to_owned(),
        };
        let remote = self.cx.daemon()?;
        let opened = remote.call(remote.client.memory().open_session(request))?;
        self.sessions.insert(document.to_owned(), opened.session_id);
        Ok(opened.session_id)
    }

    /// Commits what waits.
    fn write(&mut self) -> Result<(), Failure> {
        let items = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        self.counts.added += items.len() as u64;
        if self.is_dry || items.is_empty() {
            return Ok(());
        }
        let mut events = Vec::with_capacity(items.len());
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            let document = item.id.split('#').next().unwrap_or_default().to_owned();
            let session = self.session(&document)?;
            events.push(v1::NewEvent {
                session_id: Some(session),
                ..item.event
            });
            names.push((item.id, item.hash));
        }
        let request = v1::IngestRequest {
            brain: self.name.clone(),
            options: self.options(),
            events,
            ..v1::IngestRequest::default()
        };
        let remote = self.cx.daemon()?;
        let done = remote.call(remote.client.memory().ingest(request))?;
        for ((id, hash), event) in names.into_iter().zip(done.event_ids) {
            let item = KnownItem {
                event,
                hash,
                is_seen: true,
                is_new: true,
            };
            self.known.insert(id, item);
        }
        Ok(())
    }

    /// Commits the rest, connects the items, and hides what is gone. `is_whole` says of a document's id whether it
    /// would have been read if it were there: one that was not read is gone.
    pub(crate) fn finish(&mut self, is_whole: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        self.write()?;
        self.connect()?;
        self.hide(is_whole)
    }

    fn connect(&mut self) -> Result<(), Failure> {
        let edges = std::mem::take(&mut self.edges);
        let mut links = Vec::new();
        for edge in edges {
            let (from, to) = (self.known.get(&edge.from), self.known.get(&edge.to));
            let (Some(from), Some(to)) = (from, to) else {
                // In a dry run nothing is there to connect.
                self.counts.unresolved += u64::from(!self.is_dry);
                continue;
            };
            // Connections of what did not change are there.
            if !from.is_new && !to.is_new {
                continue;
            }
            let (edge_type, is_turned) = edge_of(&edge.name);
            let (source, target) = match is_turned {
                true => (to.event, from.event),
                false => (from.event, to.event),
            };
            if source == target {
                continue;
            }
            let end = |event: u64| {
                Some(v1::LinkEnd {
                    end: Some(v1::link_end::End::EventId(event)),
                })
            };
            links.push(v1::NewLink {
                source: end(source),
                target: end(target),
                r#type: edge_type.into(),
                weight: None,
            });
        }
        for part in links.chunks(BATCH_EDGES) {
            let request = v1::IngestRequest {
                brain: self.name.clone(),
                options: self.options(),
                links: part.to_vec(),
                ..v1::IngestRequest::default()
            };
            let remote = self.cx.daemon()?;
            let done = remote.call(remote.client.memory().ingest(request))?;
            self.counts.edges += done.edges;
        }
        Ok(())
    }

    fn hide(&mut self, is_whole: &dyn Fn(&str) -> bool) -> Result<(), Failure> {
        let documents = &self.documents;
        let is_gone = |id: &str| {
            let document = id.split('#').next().unwrap_or_default();
            documents.contains(document) || is_whole(document)
        };
        let gone: Vec<u64> = self
            .known
            .iter()
            .filter(|(id, item)| !item.is_seen && is_gone(id))
            .map(|(_, item)| item.event)
            .collect();
        self.counts.gone += gone.len() as u64;
        if self.is_dry {
            return Ok(());
        }
        for event in gone {
            let request = v1::ForgetRequest {
                brain: self.name.clone(),
                options: self.options(),
                event_id: event,
            };
            let remote = self.cx.daemon()?;
            remote.call(remote.client.memory().forget(request))?;
        }
        Ok(())
    }
}

impl ItemImport for EventImport<'_> {
    fn take(&mut self, item: &SourceItem) -> Result<(), Failure> {
        let id = item.id.to_string();
        self.documents.insert(item.id.of_document().to_string());
        for relation in &item.relations {
            self.edges.push(WaitingEdge {
                from: id.clone(),
                to: relation.to.to_string(),
                name: relation.name.clone(),
            });
        }
        if let Some(known) = self.known.get_mut(&id) {
            known.is_seen = true;
            let event = known.event;
            if known.hash == item.hash {
                self.counts.known += 1;
                return Ok(());
            }
            (known.hash, known.is_new) = (item.hash, true);
            return self.replace(&id, event, item);
        }
        let event = event_of(item);
        self.waiting_bytes += event.text.len() + event.attributes_json.len();
        self.waiting.push(WaitingItem {
            id,
            hash: item.hash,
            event,
        });
        match self.waiting.len() >= BATCH_EVENTS || self.waiting_bytes >= BATCH_BYTES {
            true => self.write(),
            false => Ok(()),
        }
    }
}
