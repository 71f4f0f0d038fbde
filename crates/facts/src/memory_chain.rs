//! A memory in a brain: its versions and its end, in order of their events.

use amem_format::NodeId;
use amem_format::types::{EdgeType, Micros};
use amem_format::view::{Direction, Node, View};
use amem_memory::FactScope;
use amem_memory::store::MemoryItem;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::error::Result;
use crate::record::{EventAttributes, FactEventState, FactRecord, path};
use crate::scope_plan::FactMoment;
use amem_query::planner::events_with;

/// One version of a memory, or its end, as a brain has it.
#[derive(Debug, Clone)]
pub(crate) struct ChainEvent {
    pub(crate) node: NodeId,
    pub(crate) record: Box<FactRecord>,
    pub(crate) scope: FactScope,
    pub(crate) metadata: Map<String, Value>,
    /// Empty for an end.
    pub(crate) text: String,
    /// Why the caller changed or ended it.
    pub(crate) reason: Option<String>,
    /// When its turn was said, else when it was stored.
    pub(crate) said: Micros,
    is_forgotten: bool,
}

impl ChainEvent {
    /// Reads an event; `None` if it is none of a memory, or was erased.
    pub(crate) fn read(node: &Node<'_>) -> Result<Option<Self>> {
        if node.is_erased() {
            return Ok(None);
        }
        let attributes = EventAttributes::read(node)?;
        attributes.map_or(Ok(None), |attributes| Self::of(node, attributes))
    }

    /// The same of an event whose attributes were read already.
    pub(crate) fn of(node: &Node<'_>, attributes: EventAttributes) -> Result<Option<Self>> {
        let scope = attributes.scope();
        let reason = attributes.reason;
        let Some(record) = attributes.fact else {
            return Ok(None);
        };
        Ok(Some(Self {
            node: node.id(),
            scope,
            reason,
            metadata: attributes.metadata,
            text: match record.state {
                FactEventState::Version => node.text()?.into_owned(),
                FactEventState::End => String::new(),
            },
            said: node.event_time()?.unwrap_or(record.at),
            record,
            is_forgotten: node.is_forgotten(),
        }))
    }

    pub(crate) fn is_version(&self) -> bool {
        self.record.state == FactEventState::Version
    }

    /// When the memory was first stored.
    pub(crate) fn created(&self) -> Micros {
        self.record.created.unwrap_or(self.record.at)
    }

    pub(crate) fn is_expired(&self, now: Micros) -> bool {
        self.record.expires.is_some_and(|at| at <= now)
    }

    /// As clients see it.
    pub(crate) fn item(&self) -> MemoryItem {
        let record = &self.record;
        MemoryItem {
            id: record.id,
            memory: self.text.clone(),
            hash: record.hash.clone(),
            scope: self.scope.clone(),
            metadata: self.metadata.clone(),
            kind: record.kind,
            validity: record.valid,
            confidence: record.confidence,
            created_at: self.created(),
            updated_at: record.at,
            expires_at: record.expires,
            is_quarantined: record.quarantined,
            sources: record.sources.clone(),
            because: record.because.clone(),
            happened_at: Some(self.said),
            event: Some(self.node),
        }
    }
}

/// The events of one memory up to a moment, in order; the last one says what it is.
#[derive(Debug, Clone)]
pub(crate) struct MemoryChain {
    pub(crate) events: Vec<ChainEvent>,
}

impl MemoryChain {
    /// The chain of a memory; empty if there is none, or it was erased.
    pub(crate) fn of(view: &View, id: Uuid) -> Result<Self> {
        let mut events = Vec::new();
        for node in events_with(view, path::FACT_ID, &id.to_string())? {
            let event = ChainEvent::read(&view.node(node)?)?;
            events.extend(event.filter(|event| event.record.id == id));
        }
        Ok(Self { events })
    }

    /// The newest version, also of a memory that ended.
    pub(crate) fn last_version(&self) -> Option<&ChainEvent> {
        self.events.iter().rev().find(|event| event.is_version())
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.events.last().is_some_and(|event| !event.is_version())
    }

    /// The version that is current, if the memory is neither ended nor hidden by a general call.
    pub(crate) fn head(&self) -> Option<&ChainEvent> {
        self.events
            .last()
            .filter(|event| event.is_version() && !event.is_forgotten)
    }

    /// The version that was current at a moment. What ended since is hidden by now, and was there then.
    pub(crate) fn head_at(&self, moment: &FactMoment) -> Result<Option<&ChainEvent>> {
        let Some(last) = self.events.last().filter(|event| event.is_version()) else {
            return Ok(None);
        };
        if !last.is_forgotten {
            return Ok(Some(last));
        }
        if !moment.is_past() {
            return Ok(None);
        }
        let newest = Self::of(&moment.now, last.record.id)?;
        Ok(newest.is_ended().then_some(last))
    }

    /// The version that says what was so at a time, as far as this chain knows.
    ///
    /// A version is so from the start that its text states, else from when it was said, until its own end, or the
    /// beginning of the next version, or the end of the memory.
    pub(crate) fn valid_at(&self, time: Micros) -> Option<&ChainEvent> {
        let begins = |event: &ChainEvent| match event.record.valid.from {
            Some(from) if event.is_version() => from,
            _ => event.said,
        };
        let started = self
            .events
            .iter()
            .rev()
            .find(|event| begins(event) <= time)?;
        let is_over = started.record.valid.to.is_some_and(|to| to <= time)
            || started.is_expired(time)
            || !started.is_version();
        (!is_over).then_some(started)
    }
}

/// True if an event is the current version of its memory, as its flags and edges say: what a list needs, without the
/// chain.
pub(crate) fn is_head(view: &View, node: &Node<'_>) -> Result<bool> {
    if node.is_forgotten() {
        return Ok(false);
    }
    let edges = view.edges_of(node.id(), Direction::Incoming)?;
    Ok(!edges
        .iter()
        .any(|edge| edge.edge_type == EdgeType::SUPERSEDES))
}
