//! From a batch of fact memory to one commit of a brain.

use std::collections::{HashMap, HashSet};

use amem_format::NodeId;
use amem_format::types::{EdgeType, EventType, Micros, SessionId};
use amem_format::view::View;
use amem_memory::add::CONFLICT_WEIGHT;
use amem_memory::graph::FactGraph;
use amem_memory::store::{FactBatch, FactOp, NewAnswer, NewFact, NewRejection, NewTurn};
use amem_memory::{
    Error as MemoryError, FactKind, FactScope, FactSource, PendingWork, Role, text_hash,
};
use amem_store::mutation::{End, Ingest, NewEvent, NewLink};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::conversation;
use crate::error::Result;
use crate::limits::{KEPT_ANSWER_PART_BYTES, KEPT_ANSWER_PART_NAMES};
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::pending_work::{PendingEntry, WorkContext};
use crate::record::{
    AnswerRecord, EventAttributes, FactEventState, FactRecord, PendingRecord, PendingState,
    RejectedRecord, SupportRecord, TurnRecord, answer_key, name_key, name_parts, scoped_keys,
    turn_key,
};
use crate::standing_turns::standing_of;
use crate::stored_turns::{stored_turn, turn_event};
use crate::support::{sources_of, supports_of};

/// The text of the end of a memory: it says nothing of what ended.
const END_TEXT: &str = "a memory ended";
/// The text of an event of support: it says nothing of the memory.
const SUPPORT_TEXT: &str = "a memory was said again";
/// What history says of a version that a memory has because it was said again.
const SAID_AGAIN: &str = "again";

/// A memory as the batch leaves it, change by change.
struct OpenMemory {
    head: End,
    text: String,
    created: Micros,
    scope: FactScope,
    /// The caller's keys.
    metadata: Map<String, Value>,
    /// The turns that its version is from.
    sources: Vec<Uuid>,
    /// Hashes of its texts that need all their sources.
    joined: HashSet<String>,
    /// Existing events of the memory: they are hidden when it ends.
    events: Vec<NodeId>,
    /// Events of this batch.
    new: Vec<usize>,
    is_ended: bool,
}

/// Collects events, edges and what is hidden.
pub(crate) struct BatchPlan<'v> {
    view: &'v View,
    batch: &'v FactBatch,
    /// The session of the turns.
    session: Option<SessionId>,
    /// The event that the next turn follows.
    said_last: Option<End>,
    ingest: Ingest,
    memories: HashMap<Uuid, OpenMemory>,
    /// Where the turns of the batch are; and ids that stand for turns that another add stored first.
    turns: HashMap<Uuid, (End, Uuid)>,
    said: HashMap<Uuid, Micros>,
    /// The vectors of the new texts: a turn that is a memory as it is has the same.
    vectors: HashMap<&'v str, &'v [f32]>,
}

/// The text of a change, and its vector.
fn new_vector(op: &FactOp) -> Option<(&str, &[f32])> {
    match op {
        FactOp::Add { fact, .. } | FactOp::Update { fact, .. } => {
            Some((&fact.text, fact.vector.as_deref()?))
        }
        FactOp::Support { .. } | FactOp::Delete { .. } | FactOp::Restore { .. } => None,
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}

fn event_type(kind: FactKind) -> EventType {
    match kind {
        FactKind::Decision | FactKind::Plan => EventType::DECISION,
        FactKind::Inference => EventType::INFERENCE,
        FactKind::Skill => EventType::SKILL,
        FactKind::Correction => EventType::CORRECTION,
        FactKind::Episode => EventType::EPISODE,
        FactKind::Fact | FactKind::Preference | FactKind::Event | FactKind::Retraction => {
            EventType::FACT
        }
    }
}

impl<'v> BatchPlan<'v> {
    /// The commit of a batch. `Changed` if a memory is not what the batch says it was.
    /// The turns belong to `session`, and each follows the one before.
    pub(crate) fn of(
        view: &'v View,
        batch: &'v FactBatch,
        session: Option<SessionId>,
        work: &WorkContext,
    ) -> Result<Ingest> {
        let mut plan = Self {
            view,
            batch,
            session,
            said_last: None,
            ingest: Ingest::default(),
            memories: HashMap::new(),
            turns: HashMap::new(),
            said: HashMap::new(),
            vectors: batch.ops.iter().filter_map(new_vector).collect(),
        };
        if let Some(session) = session.filter(|_| !batch.turns.is_empty()) {
            plan.said_last = conversation::last_said(view, session)?.map(End::Event);
        }
        for turn in &batch.turns {
            plan.turn(turn)?;
        }
        for op in &batch.ops {
            plan.op(op)?;
        }
        for rejection in &batch.rejected {
            plan.rejection(rejection)?;
        }
        for left in &batch.pending {
            let entry = work.entry(batch, left, plan.scope_of(left));
            plan.hidden(pending_event(&entry, PendingState::Open)?);
        }
        if let Some(done) = work.retry_of.as_ref().filter(|_| batch.pending.is_empty()) {
            plan.hidden(pending_event(done, PendingState::Done)?);
        }
        if let Some(kept) = &batch.answered {
            plan.answer(kept)?;
        }
        Ok(plan.ingest)
    }

    /// Whose memories work is about: that of the batch, or, if it has none, that of the memories.
    fn scope_of(&self, work: &PendingWork) -> FactScope {
        if self.batch.scope != FactScope::default() {
            return self.batch.scope.clone();
        }
        let first = work.facts.first().and_then(|id| self.memories.get(id));
        first.map_or_else(FactScope::default, |memory| memory.scope.clone())
    }

    fn push(&mut self, event: NewEvent) -> usize {
        self.ingest.events.push(event);
        self.ingest.events.len() - 1
    }

    /// An event that no general query shows.
    fn hidden(&mut self, event: NewEvent) {
        let at = self.push(event);
        self.ingest.forget.push(End::New(at));
    }

    fn link(&mut self, source: End, target: End, edge_type: EdgeType, weight: f32) {
        self.ingest.links.push(NewLink {
            source,
            target,
            edge_type,
            weight,
        });
    }

    fn turn(&mut self, turn: &NewTurn) -> Result<()> {
        self.said.insert(turn.id, turn.time);
        // Another add may have stored it since this one looked.
        let scope = &self.batch.scope;
        if let Some((node, id)) = stored_turn(self.view, scope, &turn.hash, turn.time)? {
            self.turns.insert(turn.id, (End::Event(node), id));
            if self.session.is_none() {
                self.said_last = Some(End::Event(node));
            }
            return Ok(());
        }
        let mut attributes = EventAttributes::of(scope);
        attributes.turn = Some(TurnRecord {
            id: turn.id,
            key: turn_key(scope, &turn.hash, turn.time),
            hash: turn.hash.clone(),
            role: role_name(turn.role).into(),
            name: turn.name.clone(),
            standing: match turn.role {
                Role::User => standing_of(&turn.text, scope),
                Role::System | Role::Assistant | Role::Tool => None,
            },
        });
        attributes.speaker = Some(match &turn.name {
            Some(name) => name.clone(),
            None => role_name(turn.role).into(),
        });
        let mut event = NewEvent::new(EventType::FACT, turn.text.clone());
        event.session = self.session;
        event.event_time = Some(turn.time);
        event.attributes = Some(attributes.to_attributes()?);
        let known = self.vectors.get(turn.text.as_str());
        event.derive(known.map(|vector| vector.to_vec()));
        let at = self.push(event);
        if let Some(before) = self.said_last.replace(End::New(at)) {
            self.link(End::New(at), before, EdgeType::TEMPORAL_NEXT, 1.0);
        }
        self.turns.insert(turn.id, (End::New(at), turn.id));
        Ok(())
    }

    fn op(&mut self, op: &FactOp) -> Result<()> {
        match op {
            FactOp::Add {
                id,
                fact,
                conflicts,
            } => self.add(*id, fact, conflicts),
            FactOp::Update {
                id,
                old,
                fact,
                joins,
            } => self.update(*id, old, fact, *joins),
            FactOp::Restore {
                id,
                fact,
                conflicts,
            } => self.restore(*id, fact, conflicts),
            FactOp::Support {
                id,
                old,
                sources,
                expires,
            } => self.support(*id, old, sources, *expires),
            FactOp::Delete {
                id,
                old,
                sources,
                replaced_by,
                why,
                reason,
            } => self.end(*id, old, sources, *replaced_by, (why, reason.as_deref())),
        }
    }

    /// A memory that the batch changes; `Changed` if it has another text, or is gone.
    fn open(&mut self, id: Uuid, old: Option<&str>) -> Result<&mut OpenMemory> {
        if !self.memories.contains_key(&id) {
            let chain = MemoryChain::of(self.view, id)?;
            let Some(head) = chain.head() else {
                return Err(MemoryError::Changed.into());
            };
            let memory = OpenMemory {
                head: End::Event(head.node),
                text: head.text.clone(),
                created: head.created(),
                scope: head.scope.clone(),
                metadata: head.metadata.clone(),
                sources: head.record.sources.clone(),
                joined: chain
                    .events
                    .iter()
                    .filter(|event| event.record.joined)
                    .map(|event| event.record.hash.clone())
                    .collect(),
                events: chain.events.iter().map(|event| event.node).collect(),
                new: Vec::new(),
                is_ended: false,
            };
            self.memories.insert(id, memory);
        }
        match self.memories.get_mut(&id) {
            Some(memory) if !memory.is_ended && old.is_none_or(|old| old == memory.text) => {
                Ok(memory)
            }
            _ => Err(MemoryError::Changed.into()),
        }
    }

    fn sources(&self, sources: &[Uuid]) -> Vec<Uuid> {
        sources
            .iter()
            .map(|id| self.turns.get(id).map_or(*id, |(_, stored)| *stored))
            .collect()
    }

    fn record(&self, id: Uuid, fact: &NewFact, scope: &FactScope) -> FactRecord {
        FactRecord {
            id,
            state: FactEventState::Version,
            at: self.batch.at,
            created: None,
            hash: fact.hash.clone(),
            kind: fact.kind,
            source: fact.source,
            confidence: fact.confidence,
            keys: scoped_keys(scope, &fact.hash, &fact.slots, &name_parts(&fact.graph)),
            slots: fact.slots.clone(),
            sources: self.sources(&fact.sources),
            because: fact.because.clone(),
            conflicts: Vec::new(),
            why: fact.why.clone(),
            valid: fact.validity,
            expires: fact.expires,
            quarantined: fact.is_quarantined,
            joined: false,
            replaced_by: None,
            graph: fact.graph.clone(),
            review: fact.is_quarantined.then(waits),
        }
    }

    /// The event of a version, with the edges to its turns and to what it follows from.
    fn version(
        &mut self,
        fact: &NewFact,
        record: FactRecord,
        scope: &FactScope,
        event_type: EventType,
    ) -> Result<usize> {
        let said = fact.sources.iter().filter_map(|id| self.said.get(id)).min();
        let said = said.copied().or(self.batch.said);
        let said = said.unwrap_or(self.batch.at);
        let mut attributes = EventAttributes::of(scope);
        attributes.metadata = fact.metadata.clone();
        attributes.reason = fact.reason.clone();
        attributes.fact = Some(Box::new(record));
        let mut event = NewEvent::new(event_type, fact.text.clone());
        event.session = self.batch.session.map(SessionId);
        event.confidence = fact.confidence;
        event.event_time = Some(said);
        event.derive(fact.vector.clone());
        event.attributes = Some(attributes.to_attributes()?);
        let at = self.push(event);
        for source in &fact.sources {
            self.rests_on(End::New(at), *source)?;
        }
        for cause in &fact.because {
            if let Ok(memory) = self.open(*cause, None) {
                let head = memory.head;
                if head != End::New(at) {
                    self.link(End::New(at), head, EdgeType::CAUSED_BY, 1.0);
                }
            }
        }
        Ok(at)
    }

    /// An edge from a version to the turn that is its evidence.
    fn rests_on(&mut self, version: End, turn: Uuid) -> Result<()> {
        let end = match self.turns.get(&turn) {
            Some((end, _)) => Some(*end),
            None => turn_event(self.view, turn)?.map(|(node, ..)| End::Event(node)),
        };
        if let Some(end) = end {
            self.link(version, end, EdgeType::SUPPORTS, 1.0);
        }
        Ok(())
    }

    fn add(&mut self, id: Uuid, fact: &NewFact, conflicts: &[Uuid]) -> Result<()> {
        let scope = self.batch.scope.clone();
        let mut record = self.record(id, fact, &scope);
        record.conflicts = conflicts.to_vec();
        if !conflicts.is_empty() {
            record.review = Some(waits());
        }
        let sources = record.sources.clone();
        let at = self.version(fact, record, &scope, event_type(fact.kind))?;
        for other in conflicts {
            if let Ok(memory) = self.open(*other, None) {
                let head = memory.head;
                self.link(End::New(at), head, EdgeType::CONTRADICTS, CONFLICT_WEIGHT);
            }
        }
        let memory = OpenMemory {
            head: End::New(at),
            text: fact.text.clone(),
            created: self.batch.at,
            scope,
            metadata: fact.metadata.clone(),
            sources,
            joined: HashSet::new(),
            events: Vec::new(),
            new: vec![at],
            is_ended: false,
        };
        self.memories.insert(id, memory);
        Ok(())
    }

    /// A version behind the last one, which may be followed by the end of the memory.
    fn restore(&mut self, id: Uuid, fact: &NewFact, conflicts: &[Uuid]) -> Result<()> {
        let chain = MemoryChain::of(self.view, id)?;
        let last = chain.last_version();
        let Some(last) = last.filter(|_| !self.memories.contains_key(&id)) else {
            return Err(MemoryError::Changed.into());
        };
        let scope = last.scope.clone();
        let mut record = self.record(id, fact, &scope);
        record.created = Some(last.created());
        record.conflicts = conflicts.to_vec();
        if !conflicts.is_empty() {
            record.review = Some(waits());
        }
        let at = self.version(fact, record, &scope, EventType::CORRECTION)?;
        // What ended is hidden, and no edge leads to it.
        if chain.head().is_some() {
            let before = End::Event(last.node);
            self.link(End::New(at), before, EdgeType::SUPERSEDES, 1.0);
        }
        for other in conflicts {
            let chain = MemoryChain::of(self.view, *other)?;
            if let Some(other) = chain.head() {
                let other = End::Event(other.node);
                self.link(End::New(at), other, EdgeType::CONTRADICTS, CONFLICT_WEIGHT);
            }
        }
        Ok(())
    }

    fn update(&mut self, id: Uuid, old: &str, fact: &NewFact, joins: bool) -> Result<()> {
        let memory = self.open(id, Some(old))?;
        // A memory keeps its scope, whichever scope found it.
        let (before, created, scope) = (memory.head, memory.created, memory.scope.clone());
        let (joined, is_joined) = (memory.sources.clone(), memory.joined.contains(&fact.hash));
        let mut fact = fact.clone();
        if fact.source != FactSource::Caller {
            // What is said later changes a text, and none of the caller's keys but those that it brings.
            let mut metadata = memory.metadata.clone();
            metadata.extend(std::mem::take(&mut fact.metadata));
            fact.metadata = metadata;
        }
        let fact = &fact;
        let mut record = self.record(id, fact, &scope);
        record.created = Some(created);
        record.joined = joins || is_joined;
        if joins {
            record.sources.extend(joined);
            record.sources.sort_unstable();
            record.sources.dedup();
        }
        let (sources, joined) = (record.sources.clone(), record.joined);
        let at = self.version(fact, record, &scope, EventType::CORRECTION)?;
        match before {
            End::Event(_) => self.link(End::New(at), before, EdgeType::SUPERSEDES, 1.0),
            // What the same batch replaces is never seen: only history has it.
            End::New(_) => self.ingest.forget.push(before),
        }
        let memory = self.open(id, None)?;
        memory.head = End::New(at);
        memory.text = fact.text.clone();
        memory.metadata = fact.metadata.clone();
        memory.sources = sources;
        if joined {
            memory.joined.insert(fact.hash.clone());
        }
        memory.new.push(at);
        Ok(())
    }

    /// A text that was said again has more sources. It is a version of its own only if it lives longer for it.
    fn support(
        &mut self,
        id: Uuid,
        old: &str,
        sources: &[Uuid],
        expires: Option<Micros>,
    ) -> Result<()> {
        let memory = self.open(id, Some(old))?;
        let (scope, own) = (memory.scope.clone(), memory.sources.clone());
        let chain = MemoryChain::of(self.view, id)?;
        let stored = chain.head().filter(|head| head.text == old);
        let mut sources = self.sources(sources);
        if let Some(head) = stored {
            let known = sources_of(head, &supports_of(self.view, id)?);
            let ends = head.record.expires;
            if ends.is_some_and(|ends| expires.is_none_or(|expires| ends < expires)) {
                let mut fact = said_again(head, SAID_AGAIN);
                fact.expires = expires;
                let vector = self.view.node(head.node)?.vector()?;
                fact.vector = vector.map(<[f32]>::to_vec);
                fact.sources = sources;
                fact.sources.extend(known);
                fact.sources.sort_unstable();
                fact.sources.dedup();
                return self.update(id, old, &fact, false);
            }
            sources.retain(|turn| !known.contains(turn));
        }
        sources.retain(|turn| !own.contains(turn));
        if sources.is_empty() {
            return Ok(());
        }
        let head = self.open(id, Some(old))?.head;
        for turn in &sources {
            self.rests_on(head, *turn)?;
        }
        let mut attributes = EventAttributes::of(&scope);
        attributes.support = Some(SupportRecord {
            id,
            hash: text_hash(old),
            sources,
            at: self.batch.at,
        });
        let mut event = NewEvent::new(EventType::FACT, SUPPORT_TEXT);
        event.attributes = Some(attributes.to_attributes()?);
        derive_none(&mut event, self.view);
        self.hidden(event);
        Ok(())
    }

    fn end(
        &mut self,
        id: Uuid,
        old: &str,
        sources: &[Uuid],
        replaced_by: Option<Uuid>,
        (why, reason): (&str, Option<&str>),
    ) -> Result<()> {
        let memory = self.open(id, Some(old))?;
        memory.is_ended = true;
        let (created, scope) = (memory.created, memory.scope.clone());
        let hidden = memory.events.iter().map(|id| End::Event(*id));
        let hidden: Vec<End> = hidden
            .chain(memory.new.iter().map(|at| End::New(*at)))
            .collect();
        for end in hidden {
            if !self.ingest.forget.contains(&end) {
                self.ingest.forget.push(end);
            }
        }
        let mut attributes = EventAttributes::of(&scope);
        attributes.reason = reason.map(str::to_owned);
        attributes.fact = Some(Box::new(FactRecord {
            id,
            state: FactEventState::End,
            at: self.batch.at,
            created: Some(created),
            hash: String::new(),
            kind: FactKind::Fact,
            source: FactSource::Caller,
            confidence: 1.0,
            keys: Vec::new(),
            slots: Vec::new(),
            sources: self.sources(sources),
            because: Vec::new(),
            conflicts: Vec::new(),
            why: why.to_owned(),
            valid: Default::default(),
            expires: None,
            quarantined: false,
            joined: false,
            replaced_by,
            graph: FactGraph::default(),
            review: None,
        }));
        let said = sources.iter().filter_map(|id| self.said.get(id)).min();
        let mut event = NewEvent::new(EventType::FACT, END_TEXT);
        event.event_time = Some(said.copied().unwrap_or(self.batch.at));
        event.attributes = Some(attributes.to_attributes()?);
        self.hidden(event);
        Ok(())
    }

    /// A fact that is no memory, or what became of it.
    fn rejection(&mut self, rejection: &NewRejection) -> Result<()> {
        let mut attributes = EventAttributes::of(&self.batch.scope);
        attributes.rejected = Some(RejectedRecord {
            id: rejection.id,
            state: rejection.state,
            why: rejection.why.clone(),
            kind: rejection.kind,
            sources: self.sources(&rejection.sources),
            at: self.batch.at,
        });
        let mut event = NewEvent::new(EventType::FACT, rejection.text.clone());
        event.attributes = Some(attributes.to_attributes()?);
        derive_none(&mut event, self.view);
        self.hidden(event);
        Ok(())
    }

    fn answer(&mut self, kept: &NewAnswer) -> Result<()> {
        let scope = &self.batch.scope;
        let key = answer_key(scope, &kept.key);
        let text = kept.answer.to_string();
        // A part has room for the names of so many; an answer has more text than names.
        let groups = kept.names.len().div_ceil(KEPT_ANSWER_PART_NAMES).max(1);
        let bytes = KEPT_ANSWER_PART_BYTES.min(text.len() / groups).max(4);
        let parts = split(&text, bytes);
        let count = parts.len();
        let mut names = kept.names.chunks(kept.names.len().div_ceil(count).max(1));
        for (part, text) in parts.into_iter().enumerate() {
            let mut attributes = EventAttributes::of(scope);
            let named = names.next().unwrap_or_default();
            attributes.answer = Some(AnswerRecord {
                key: key.clone(),
                request: kept.request_hash.clone(),
                part,
                parts: count,
                names: named.iter().map(|id| name_key(*id)).collect(),
            });
            let mut event = NewEvent::new(EventType::FACT, text);
            event.attributes = Some(attributes.to_attributes()?);
            derive_none(&mut event, self.view);
            self.hidden(event);
        }
        Ok(())
    }
}

/// The mark of a version that waits for a review.
fn waits() -> String {
    "open".to_owned()
}

/// The version that says again what one of a memory said.
pub(crate) fn said_again(version: &ChainEvent, why: &str) -> NewFact {
    let item = version.item();
    NewFact {
        text: item.memory,
        hash: item.hash,
        kind: item.kind,
        // It has the keys of the version, and no others.
        source: FactSource::Caller,
        confidence: item.confidence,
        vector: None,
        slots: version.record.slots.clone(),
        graph: version.record.graph.clone(),
        metadata: item.metadata,
        expires: item.expires_at,
        validity: item.validity,
        sources: item.sources,
        because: item.because,
        is_quarantined: item.is_quarantined,
        why: why.to_owned(),
        reason: None,
    }
}

/// Gives an event a zero vector, which is like no other: nothing is embedded for what is never searched.
pub(crate) fn derive_none(event: &mut NewEvent, view: &View) {
    let dimension = view.vector_dimension() as usize;
    let zeros = (dimension > 0).then(|| vec![0.0; dimension]);
    event.derive(zeros);
}

/// The event of pending work.
pub(crate) fn pending_event(entry: &PendingEntry, state: PendingState) -> Result<NewEvent> {
    let mut attributes = EventAttributes::of(&entry.scope);
    attributes.pending = Some(PendingRecord {
        id: entry.id,
        state,
    });
    let mut event = NewEvent::new(EventType::FACT, entry.to_text()?);
    event.attributes = Some(attributes.to_attributes()?);
    Ok(event)
}

/// Hides all events of an ingest.
pub(crate) fn hide_all(ingest: &mut Ingest) {
    ingest.forget = (0..ingest.events.len()).map(End::New).collect();
}

/// A text in parts of at most `bytes`, cut between characters. The text is not empty.
fn split(text: &str, bytes: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while rest.len() > bytes {
        let mut at = bytes;
        while !rest.is_char_boundary(at) {
            at -= 1;
        }
        parts.push(rest[..at].to_owned());
        rest = &rest[at..];
    }
    parts.push(rest.to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn parts_join_to_the_text() {
        let text = "aéßé".repeat(9);
        for bytes in 2..12 {
            let parts = split(&text, bytes);
            assert!(parts.iter().all(|part| part.len() <= bytes), "{bytes}");
            assert_eq!(parts.concat(), text);
        }
    }
}
