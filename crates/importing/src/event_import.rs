//! Items as events: new ones are added, those of items that changed are replaced, those of items that are gone are
//! hidden.
//!
//! Edges are written with the later of their ends, so that an import that was interrupted completes them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use amem_format::EdgeType;
use amem_proto::v1;
use amem_sources::{ItemChange, SourceId, SourceItem};
use serde_json::{Map, Value};

use crate::batch::{AppendBatch, BatchRequest};
use crate::entry::{BatchEntry, EntryEdge};
use crate::import_sink::ItemImport;
use crate::known_sources::{KnownItem, KnownSources};
use crate::message::edge_type_number;
use crate::outcome::{ImportCounts, ReadNotes};
use crate::run::RunId;
use crate::source_event::{GONE, RESERVED, SourceEvent, edges_of, event_of, said, session_key};
use crate::target::{ChangeAnswer, EventChange, ImportTarget};

/// Events that are asked for together.
const GONE_AT_ONCE: usize = 100;
/// Why a correction was made, in its attribute `amem.reason`.
const EDITED: &str = "edited in its source";
const MOVED: &str = "moved in its source";

/// An edge of an item that the brain had.
struct KeptEdge {
    from: u128,
    event: u64,
    edge_type: EdgeType,
    to: u128,
}

/// An import under way.
pub(crate) struct EventImport<'a, T> {
    target: &'a mut T,
    /// False in a dry run.
    writes: bool,
    run: RunId,
    /// Requests so far.
    steps: u64,
    known: KnownSources,
    /// Positions of items among the ends of edges, by the fingerprint of their ids.
    numbers: HashMap<u128, u64>,
    /// Items whose event is another one since this import began.
    replaced: HashSet<u128>,
    /// Edges of items that the brain had: written if the other end is another event.
    kept: Vec<KeptEdge>,
    /// Documents with an item in this reading.
    read: HashSet<String>,
    batch: AppendBatch,
    sessions: HashMap<String, u32>,
    /// The last turn of each conversation so far.
    last_turns: HashMap<String, u128>,
    pub(crate) counts: ImportCounts,
}

impl<'a, T: ImportTarget> EventImport<'a, T> {
    /// Into a brain, which a dry run may lack; `kinds` are the names in ids of what will be read.
    pub(crate) fn new(
        target: &'a mut T,
        kinds: &[&str],
        is_dry: bool,
        is_there: bool,
    ) -> Result<Self, T::Failure> {
        let known = match is_there {
            true => KnownSources::read(target, kinds)?,
            false => KnownSources::default(),
        };
        Ok(Self {
            target,
            writes: !is_dry && is_there,
            run: RunId::new(),
            steps: 0,
            known,
            numbers: HashMap::new(),
            replaced: HashSet::new(),
            kept: Vec::new(),
            read: HashSet::new(),
            batch: AppendBatch::default(),
            sessions: HashMap::new(),
            last_turns: HashMap::new(),
            counts: ImportCounts::default(),
        })
    }

    fn options(&mut self) -> Option<v1::WriteOptions> {
        self.steps += 1;
        let step = format!("step {}", self.steps);
        Some(self.run.options(self.target.agent(), &step))
    }

    fn change(&mut self, change: EventChange) -> Result<Option<ChangeAnswer>, T::Failure> {
        match self.writes {
            true => Ok(Some(self.target.change(change)?)),
            false => Ok(None),
        }
    }

    /// Writes what is left, and hides what went: lines of documents that were read, and notes below the paths that are
    /// not there. A file of which not everything was read says nothing of what it no longer has.
    pub(crate) fn finish(
        &mut self,
        paths: &[PathBuf],
        home: Option<&Path>,
        notes: &ReadNotes,
    ) -> Result<(), T::Failure> {
        let replaced = std::mem::take(&mut self.replaced);
        let mut kept = std::mem::take(&mut self.kept);
        kept.retain(|edge| replaced.contains(&edge.to));
        for edge in kept {
            let number = self.number(edge.from);
            let to = self.number(edge.to);
            let edge_back = EntryEdge {
                to,
                edge_type: edge.edge_type,
                weight: 1.0,
            };
            self.batch
                .push_known((number, edge.event), vec![edge_back], |_| true);
        }
        while self.send()? {}
        self.settle()?;
        self.counts.unresolved += match self.writes {
            true => self.batch.unresolved(),
            // In a dry run nothing is there to connect.
            false => 0,
        };
        let gone = self.gone(paths, home, notes);
        self.counts.gone += gone.len() as u64;
        if self.writes {
            for events in gone.chunks(GONE_AT_ONCE) {
                self.hide(events)?;
            }
        }
        Ok(())
    }

    fn number(&mut self, fingerprint: u128) -> u64 {
        let next = self.numbers.len() as u64;
        *self.numbers.entry(fingerprint).or_insert(next)
    }

    fn edges(&mut self, edges: Vec<(EdgeType, SourceId)>) -> Vec<EntryEdge> {
        let ties = edges.into_iter().map(|(edge_type, to)| EntryEdge {
            to: self.number(to.fingerprint()),
            edge_type,
            weight: 1.0,
        });
        ties.collect()
    }

    fn add(&mut self, item: &SourceItem) -> Result<(), T::Failure> {
        self.counts.added += 1;
        let SourceEvent {
            mut event,
            session,
            edges,
            is_cut,
        } = event_of(item);
        self.counts.cut += u64::from(is_cut);
        if !self.writes {
            return Ok(());
        }
        let fingerprint = item.id.fingerprint();
        let number = self.number(fingerprint);
        self.replaced.insert(fingerprint);
        while !self.batch.has_room() {
            self.send()?;
        }
        let mut edges = self.edges(edges);
        if let Some(key) = session {
            if let Some(before) = self.last_turns.insert(key.clone(), fingerprint) {
                edges.push(EntryEdge {
                    to: self.number(before),
                    edge_type: EdgeType::TEMPORAL_NEXT,
                    weight: 1.0,
                });
            }
            event.session_id = self.session(key)?;
        }
        let entry = BatchEntry {
            line: 0,
            number: Some(number),
            event,
            edges,
        };
        // Any item may still come; what never does is left out at the end.
        self.batch.push(entry, |_| true);
        Ok(())
    }

    /// An item that the brain has.
    fn keep(&mut self, item: &SourceItem, known: KnownItem) {
        self.counts.known += 1;
        let (Some(event), false) = (known.event, known.is_forgotten) else {
            return;
        };
        let from = item.id.fingerprint();
        if let Some(key) = session_key(item) {
            self.last_turns.insert(key, from);
        }
        // New items may be connected to it.
        let number = self.number(from);
        self.batch.push_known((number, event), Vec::new(), |_| true);
        let edges = edges_of(item).into_iter();
        self.kept.extend(edges.map(|(edge_type, to)| KeptEdge {
            from,
            event,
            edge_type,
            to: to.fingerprint(),
        }));
    }

    fn tie(&mut self, item: &SourceItem, event: u64, edges: Vec<(EdgeType, SourceId)>) {
        let number = self.number(item.id.fingerprint());
        let edges = self.edges(edges);
        self.batch.push_known((number, event), edges, |_| true);
    }

    fn edit(&mut self, item: &SourceItem, known: KnownItem) -> Result<(), T::Failure> {
        let SourceEvent {
            event: mut edited,
            session,
            edges,
            is_cut,
        } = event_of(item);
        self.counts.cut += u64::from(is_cut);
        let is_said = said(&edited.text, edited.event_time) == known.said;
        // A line of a note is known by its text: with another one it is another line.
        let is_moved = item.id.kind.is_notes() && !item.id.part.is_empty();
        match is_said || is_moved {
            true => self.counts.moved += 1,
            false => self.counts.changed += 1,
        }
        let (true, Some(event)) = (self.writes, known.event) else {
            return Ok(());
        };
        if is_said {
            self.relabel(event, &edited.attributes_json)?;
            self.tie(item, event, edges);
            return Ok(());
        }
        if let Some(key) = session {
            edited.session_id = self.session(key)?;
        }
        let request = v1::CorrectRequest {
            options: self.options(),
            target_id: event,
            to_head: true,
            event: Some(edited),
            reason: if is_moved { MOVED } else { EDITED }.into(),
            ..Default::default()
        };
        let answer = self.change(EventChange::Correct(request))?;
        if let Some(ChangeAnswer::Event(event)) = answer {
            self.replaced.insert(item.id.fingerprint());
            self.tie(item, event, edges);
        }
        Ok(())
    }

    /// Gives an event the attributes that its item has now; it is no longer part of what was around it.
    fn relabel(&mut self, id: u64, attributes_json: &str) -> Result<(), T::Failure> {
        let part_of = edge_type_number(EdgeType::PART_OF);
        let request = v1::GetEventsRequest {
            event_ids: vec![id],
            include_edges: true,
            touch: Some(false),
            ..Default::default()
        };
        let found = self.target.events(request)?;
        let mut attributes = parsed(attributes_json);
        for event in &found {
            let own = parsed(&event.attributes_json).into_iter();
            attributes.extend(own.filter(|(name, _)| name.starts_with(RESERVED)));
        }
        let request = v1::SetAttributesRequest {
            options: self.options(),
            event_id: id,
            attributes_json: Value::Object(attributes).to_string(),
            ..Default::default()
        };
        self.change(EventChange::SetAttributes(request))?;
        let edges = found.iter().flat_map(|event| &event.edges);
        for edge in edges.filter(|edge| edge.source == id && edge.r#type == part_of) {
            let request = v1::UnlinkRequest {
                options: self.options(),
                source_id: edge.source,
                target_id: edge.target,
                r#type: part_of,
                ..Default::default()
            };
            self.change(EventChange::Unlink(request))?;
        }
        Ok(())
    }

    fn session(&mut self, key: String) -> Result<Option<u32>, T::Failure> {
        if let Some(session) = self.sessions.get(&key) {
            return Ok(Some(*session));
        }
        let request = v1::OpenSessionRequest {
            options: self.options(),
            key: key.clone(),
            ..Default::default()
        };
        match self.change(EventChange::OpenSession(request))? {
            Some(ChangeAnswer::Session(session)) => {
                self.sessions.insert(key, session);
                Ok(Some(session))
            }
            _ => Ok(None),
        }
    }

    /// Sends the next batch, once the one before is committed; false if there is none.
    fn send(&mut self) -> Result<bool, T::Failure> {
        self.settle()?;
        if !self.writes {
            return Ok(false);
        }
        let Some(BatchRequest { request, .. }) = self.batch.take_next() else {
            return Ok(false);
        };
        let request = v1::IngestRequest {
            options: self.options(),
            ..request
        };
        self.target.send(request)?;
        Ok(true)
    }

    /// Waits for the batch that was sent.
    fn settle(&mut self) -> Result<(), T::Failure> {
        if let Some(answer) = self.target.answered()? {
            self.batch.done(&answer.event_ids);
            self.counts.edges += answer.edges;
        }
        Ok(())
    }

    /// Events whose items went.
    fn gone(&self, paths: &[PathBuf], home: Option<&Path>, notes: &ReadNotes) -> Vec<u64> {
        let is_gone = |source: &String| {
            let Some((kind, document)) = source.split_once(':') else {
                return false;
            };
            let file = match (document.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => home.join(below),
                _ => PathBuf::from(document),
            };
            if notes.unread.contains(&file) {
                return false;
            }
            let is_note = matches!(kind, "markdown" | "claude-memories");
            // A ZIP that is not there says nothing of the notes that it had.
            let is_packed = document.contains(".zip!");
            let is_below = || {
                paths
                    .iter()
                    .any(|path| path.is_dir() && file.starts_with(path))
            };
            self.read.contains(source) || is_note && !is_packed && is_below() && !file.exists()
        };
        let documents: Vec<bool> = self.known.documents.iter().map(is_gone).collect();
        let unseen = self.known.ledger.unseen();
        // What was gone before, and is shown, is there by the user's wish.
        let is_shown = |item: &&KnownItem| !item.is_forgotten && !item.is_gone;
        let gone = unseen.filter(is_shown);
        let gone = gone.filter(|item| documents[item.document]);
        let mut gone: Vec<u64> = gone.filter_map(|item| item.event).collect();
        gone.sort_unstable();
        gone
    }

    /// Marks events as gone, so that they are written again if they come back, and hides them.
    fn hide(&mut self, events: &[u64]) -> Result<(), T::Failure> {
        let request = v1::GetEventsRequest {
            event_ids: events.to_vec(),
            touch: Some(false),
            ..Default::default()
        };
        let found = self.target.events(request)?;
        for event in found {
            let mut attributes = parsed(&event.attributes_json);
            attributes.insert(GONE.into(), true.into());
            let request = v1::SetAttributesRequest {
                options: self.options(),
                event_id: event.id,
                attributes_json: Value::Object(attributes).to_string(),
                ..Default::default()
            };
            self.change(EventChange::SetAttributes(request))?;
            let request = v1::ForgetRequest {
                options: self.options(),
                event_id: event.id,
                ..Default::default()
            };
            self.change(EventChange::Forget(request))?;
        }
        Ok(())
    }
}

impl<T: ImportTarget> ItemImport for EventImport<'_, T> {
    type Failure = T::Failure;

    fn take(&mut self, item: &SourceItem) -> Result<(), T::Failure> {
        if item.id.kind.is_whole_state() {
            self.read.insert(item.id.of_document().to_string());
        }
        let counts = &self.counts;
        let all = counts.added + counts.known + counts.changed + counts.moved;
        self.target.progress(all);
        match self.known.ledger.see(item, KnownItem::default()) {
            ItemChange::Repeated => Ok(()),
            ItemChange::New => self.add(item),
            // What came back to its source is written again.
            ItemChange::Known(known) | ItemChange::Edited(known)
                if known.is_gone && known.is_forgotten =>
            {
                self.add(item)
            }
            // The user forgot it: an edit does not bring it back.
            ItemChange::Edited(known) if !known.is_forgotten => self.edit(item, known),
            ItemChange::Known(known) | ItemChange::Edited(known) => {
                self.keep(item, known);
                Ok(())
            }
        }
    }
}

fn parsed(attributes_json: &str) -> Map<String, Value> {
    serde_json::from_str(attributes_json).unwrap_or_default()
}
