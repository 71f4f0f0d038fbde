//! Pending work, kept in the brain: it survives restarts, and is listed and tried again.

use amem_format::types::Micros;
use amem_format::view::View;
use amem_memory::store::FactBatch;
use amem_memory::{FactScope, PendingWork};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::Result;
use crate::lookup::events_with;
use crate::record::{EventAttributes, path};

/// Work that is left, and what is needed to do it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingEntry {
    /// Its id; UUID v4.
    pub id: Uuid,
    /// Whose memories it is about.
    pub scope: FactScope,
    /// What is left, and why.
    pub work: PendingWork,
    /// When it was stored.
    pub since: Micros,
}

impl PendingEntry {
    pub(crate) fn new(batch: &FactBatch, work: &PendingWork) -> Self {
        Self {
            id: Uuid::new_v4(),
            scope: batch.scope.clone(),
            work: work.clone(),
            since: batch.at,
        }
    }

    /// As the text of its event.
    pub(crate) fn to_text(&self) -> String {
        // Strings, numbers and lists always are JSON.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Open work of a scope, the oldest first; that of every scope for an empty one.
pub(crate) fn open_work(view: &View, scope: &FactScope) -> Result<Vec<PendingEntry>> {
    let mut open = Vec::new();
    for node in events_with(view, path::PENDING_STATE, "open")? {
        let node = view.node(node)?;
        let attributes = EventAttributes::read(&node)?;
        let Some(attributes) = attributes.filter(|_| !node.is_erased()) else {
            continue;
        };
        let Some(record) = attributes.pending.as_ref() else {
            continue;
        };
        if !scope.covers(&attributes.scope()) || !is_newest(view, record.id, node.id())? {
            continue;
        }
        let text = node.text()?;
        let entry: PendingEntry = serde_json::from_str(&text).map_err(|e| {
            let why = format!("the pending work of event {}: {e}", node.id());
            amem_format::Error::corrupt("amem.pending", 0, why)
        })?;
        open.push(entry);
    }
    Ok(open)
}

/// True if no later event speaks of the same work.
fn is_newest(view: &View, id: Uuid, node: amem_format::NodeId) -> Result<bool> {
    let mut events = events_with(view, path::PENDING_ID, &id.to_string())?;
    while let Some(last) = events.pop() {
        let attributes = EventAttributes::read(&view.node(last)?)?;
        let pending = attributes.and_then(|attributes| attributes.pending);
        if pending.is_some_and(|pending| pending.id == id) {
            return Ok(last == node);
        }
    }
    Ok(false)
}
