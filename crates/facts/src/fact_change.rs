//! What an event does to a memory, for those who follow a brain event by event.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::FactScope;
use uuid::Uuid;

use crate::error::Result;
use crate::memory_chain::{ChainEvent, MemoryChain};

/// What happened to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FactChangeKind {
    /// It was stored first.
    Add,
    /// It has another text, or other metadata.
    Update,
    /// It ended.
    Delete,
}

/// A change of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct FactChange {
    /// What happened.
    pub kind: FactChangeKind,
    /// The memory.
    pub id: Uuid,
    /// Whose it is.
    pub scope: FactScope,
    /// When.
    pub at: Micros,
    /// The text of this version; `None` of an end, and of a memory that has ended since or is hidden.
    pub memory: Option<String>,
}

impl FactChange {
    /// The change that an event is; `None` if it is none of a memory, was erased, or stores a version in quarantine.
    ///
    /// # Errors
    /// Damage.
    pub fn at(view: &View, event: NodeId) -> Result<Option<Self>> {
        let node = view.node(event)?;
        // Most events are none of these: they are not parsed.
        let is_fact = |json: &str| json.contains("amem.fact");
        if node.is_erased() || !node.attributes_json()?.is_some_and(|json| is_fact(&json)) {
            return Ok(None);
        }
        let Some(event) = ChainEvent::read(&node)?.filter(|event| !event.record.quarantined) else {
            return Ok(None);
        };
        let kind = match (event.is_version(), event.record.created) {
            (false, _) => FactChangeKind::Delete,
            (true, None) => FactChangeKind::Add,
            (true, Some(_)) => FactChangeKind::Update,
        };
        let mut memory = None;
        if event.is_version() && MemoryChain::of(view, event.record.id)?.head().is_some() {
            memory = Some(event.text);
        }
        Ok(Some(Self {
            kind,
            id: event.record.id,
            scope: event.scope,
            at: event.record.at,
            memory,
        }))
    }

    /// The memories whose current versions are among events.
    ///
    /// # Errors
    /// Damage; an event that does not exist is left out.
    pub fn current_among(view: &View, events: &[NodeId]) -> Result<Vec<Uuid>> {
        let mut current = Vec::new();
        for id in events.iter().filter(|id| id.0 < view.nodes()) {
            let Some(event) = ChainEvent::read(&view.node(*id)?)? else {
                continue;
            };
            let chain = MemoryChain::of(view, event.record.id)?;
            if chain.head().is_some_and(|head| head.node == *id) {
                current.push(event.record.id);
            }
        }
        Ok(current)
    }

    /// True if nothing is left of a memory.
    ///
    /// # Errors
    /// Damage.
    pub fn is_erased(view: &View, memory: Uuid) -> Result<bool> {
        Ok(MemoryChain::of(view, memory)?.events.is_empty())
    }
}
