//! Pending work, kept in the brain: it survives restarts, and is listed and tried again.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_format::view::{Node, View};
use amem_memory::add::{AddRequest, AssistantPolicy};
use amem_memory::store::FactBatch;
use amem_memory::{FactScope, PendingWork, retry_pause};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::error::Result;
use crate::record::{EventAttributes, path};
use amem_query::planner::events_with;

/// What an add asked for besides its messages: another try asks for the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AddOptions {
    /// The caller's own instructions for a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Which memories may be changed, in the specification's spelling.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub filter: Value,
    /// Keys of each memory.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// When the memories end by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Micros>,
    /// True if the agent's turns are facts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub assistant_facts: bool,
}

impl AddOptions {
    pub(crate) fn of(request: &AddRequest) -> Self {
        Self {
            prompt: request.prompt.clone(),
            filter: request
                .filters
                .as_ref()
                .map_or(Value::Null, |filter| filter.to_json()),
            metadata: request.metadata.clone(),
            expires: request.expires,
            assistant_facts: request.assistant == AssistantPolicy::Facts,
        }
    }
}

/// Work that is left, and what is needed to do it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingEntry {
    /// Its id; UUID v4, the same over all tries.
    pub id: Uuid,
    /// Whose memories it is about.
    pub scope: FactScope,
    /// What is left, and why.
    pub work: PendingWork,
    /// When it was stored first.
    pub since: Micros,
    /// What the add asked for.
    #[serde(default)]
    pub options: AddOptions,
}

/// The work that a request is about: what an add leaves is kept with its options, and a try goes on with its entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct WorkContext {
    pub(crate) options: AddOptions,
    pub(crate) retry_of: Option<PendingEntry>,
}

impl WorkContext {
    /// The entry of work that a batch leaves.
    pub(crate) fn entry(
        &self,
        batch: &FactBatch,
        work: &PendingWork,
        scope: FactScope,
    ) -> PendingEntry {
        match &self.retry_of {
            Some(before) => before.failed_again(&work.detail, batch.at),
            None => PendingEntry {
                id: Uuid::new_v4(),
                scope,
                work: work.clone(),
                since: batch.at,
                options: self.options.clone(),
            },
        }
    }
}

impl PendingEntry {
    /// The same work after one more try.
    pub(crate) fn failed_again(&self, detail: &str, now: Micros) -> Self {
        let mut next = self.clone();
        next.work.detail = detail.to_owned();
        next.work.failed(now);
        next
    }

    /// True if it is time for the next try.
    pub fn is_due(&self, now: Micros) -> bool {
        is_due(self.work.next_try, now)
    }

    /// The entry that an event has as its text.
    pub(crate) fn read(node: &Node<'_>) -> Result<Self> {
        let read = serde_json::from_str(&node.text()?);
        Ok(read.map_err(|e| {
            let why = format!("the pending work of event {}: {e}", node.id());
            amem_format::Error::corrupt("amem.pending", 0, why)
        })?)
    }

    /// As the text of its event.
    pub(crate) fn to_text(&self) -> Result<String> {
        let text = serde_json::to_string(self);
        let text = text.map_err(|e| amem_format::Error::invalid("pending work", e.to_string()));
        Ok(text?)
    }
}

/// True if the time of a try has come. A time beyond the longest pause was written by a clock that was ahead: it would
/// hold work up for as long as that.
pub(crate) fn is_due(next_try: Option<Micros>, now: Micros) -> bool {
    let longest = retry_pause(u32::MAX).as_micros();
    let latest = now
        .0
        .saturating_add(i64::try_from(longest).unwrap_or(i64::MAX));
    next_try.is_some_and(|at| at <= now || at.0 > latest)
}

/// Open work of a scope, the oldest first; that of every scope for an empty one.
pub(crate) fn open_work(view: &View, scope: &FactScope) -> Result<Vec<PendingEntry>> {
    let mut open: Vec<PendingEntry> = Vec::new();
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
        open.push(PendingEntry::read(&node)?);
    }
    open.sort_by_key(|entry| (entry.since, entry.id));
    Ok(open)
}

/// True if no later event speaks of the same work.
fn is_newest(view: &View, id: Uuid, node: NodeId) -> Result<bool> {
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
