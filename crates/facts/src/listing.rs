//! Lists of memories, page by page: the newest first.

use amem_format::NodeId;
use amem_format::types::Micros;
use amem_memory::store::MemoryItem;
use amem_memory::{Error as MemoryError, FactFilter, FactScope};
use serde_json::Value;

use crate::error::Result;
use crate::limits::{FACT_PAGE_BYTES, FACT_PAGE_DEFAULT, FACT_PAGE_MAX};
use crate::memory_chain::{ChainEvent, MemoryChain, is_head};
use crate::record::item_json;
use crate::scope_plan::{FactMoment, events_passing, scopes_of};

/// Asks for the memories of a scope.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Whose; a filter may name it instead.
    pub scope: FactScope,
    /// What must hold as well.
    pub filter: Option<FactFilter>,
    /// Memories of the page; 0 for the default.
    pub limit: usize,
    /// The cursor of the page before; `None` for the first.
    pub before: Option<u64>,
    /// What was so then; `None` for what is current.
    pub at: Option<Micros>,
    /// The present: what has expired by then is left out.
    pub now: Micros,
    /// True for memories that ended as well, with their last version. Exports only.
    pub with_ended: bool,
}

/// A page of memories.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedMemories {
    /// The newest version first.
    pub items: Vec<MemoryItem>,
    /// The cursor of the next page; `None` for the last.
    pub next: Option<u64>,
}

/// The version that a request is about, if `event` is the one to list it at: so that each memory is listed once.
pub(crate) fn version_shown(
    event: ChainEvent,
    moment: &FactMoment,
    at: Option<Micros>,
    now: Micros,
) -> Result<Option<ChainEvent>> {
    if !event.is_version() {
        return Ok(None);
    }
    if let Some(time) = at {
        let chain = MemoryChain::of(&moment.view, event.record.id)?;
        let shown = chain
            .valid_at(time)
            .filter(|shown| shown.node == event.node);
        return Ok(shown.cloned());
    }
    let node = moment.view.node(event.node)?;
    let is_current = if moment.is_past() {
        let chain = MemoryChain::of(&moment.view, event.record.id)?;
        let head = chain.head_at(moment)?;
        head.is_some_and(|head| head.node == event.node)
    } else {
        is_head(&moment.view, &node)?
    };
    Ok((is_current && !event.is_expired(now)).then_some(event))
}

/// The event, if it is the last version of a memory that ended.
fn last_of_ended(event: &ChainEvent, moment: &FactMoment) -> Result<Option<ChainEvent>> {
    if !event.is_version() {
        return Ok(None);
    }
    let chain = MemoryChain::of(&moment.view, event.record.id)?;
    let last = chain
        .last_version()
        .filter(|last| chain.is_ended() && last.node == event.node);
    Ok(last.cloned())
}

/// The memories of a scope at one moment, the newest version first, one after the other. The ids of its events are in
/// memory, 8 bytes each; nothing else is.
#[derive(Debug)]
pub struct FactCursor {
    moment: FactMoment,
    scopes: Vec<FactScope>,
    filter: Option<FactFilter>,
    at: Option<Micros>,
    now: Micros,
    with_ended: bool,
    /// Events that were not looked at yet, ascending.
    ids: Vec<NodeId>,
}

impl FactCursor {
    /// From the page of a request on; its limit is not used. Errors: no scope.
    pub(crate) fn new(moment: &FactMoment, request: &ListRequest) -> Result<Self> {
        let scopes = scopes_of(&request.scope, request.filter.as_ref())?;
        let mut ids = Vec::new();
        for scope in &scopes {
            ids.extend(events_passing(
                &moment.view,
                scope,
                request.filter.as_ref(),
            )?);
        }
        ids.sort_unstable();
        ids.dedup();
        if let Some(before) = request.before {
            ids.truncate(ids.partition_point(|id| id.0 < before));
        }
        Ok(Self {
            moment: moment.clone(),
            scopes,
            filter: request.filter.clone(),
            at: request.at,
            now: request.now,
            with_ended: request.with_ended,
            ids,
        })
    }

    /// The moment that is read.
    pub fn moment(&self) -> &FactMoment {
        &self.moment
    }

    /// The scope of the request that a memory is in; a filter may name several.
    pub(crate) fn scope_of(&self, item: &MemoryItem) -> Option<FactScope> {
        let mut scopes = self.scopes.iter();
        scopes.find(|scope| scope.covers(&item.scope)).cloned()
    }

    /// The next memory, and the event of its version; `None` at the end.
    pub(crate) fn advance(&mut self) -> Result<Option<(NodeId, MemoryItem)>> {
        let next = self.advance_version()?;
        Ok(next.map(|(id, version)| (id, version.item())))
    }

    /// The version of the next memory, and its event; `None` at the end.
    pub(crate) fn advance_version(&mut self) -> Result<Option<(NodeId, ChainEvent)>> {
        while let Some(id) = self.ids.pop() {
            let Some(event) = ChainEvent::read(&self.moment.view.node(id)?)? else {
                continue;
            };
            if !self.scopes.iter().any(|scope| scope.covers(&event.scope)) {
                continue;
            }
            let ended = match self.with_ended {
                true => last_of_ended(&event, &self.moment)?,
                false => None,
            };
            let shown = match ended {
                Some(ended) => Some(ended),
                None => version_shown(event, &self.moment, self.at, self.now)?,
            };
            let Some(shown) = shown else {
                continue;
            };
            let filter = self.filter.as_ref();
            if filter.is_none_or(|filter| filter.matches(&item_json(&shown.item()))) {
                return Ok(Some((id, shown)));
            }
        }
        Ok(None)
    }
}

/// What a memory takes of a page.
pub(crate) fn page_bytes(item: &MemoryItem) -> usize {
    let metadata = Value::Object(item.metadata.clone()).to_string();
    item.memory.len() + metadata.len()
}

/// A page of the memories of a scope.
pub(crate) fn list(moment: &FactMoment, request: &ListRequest) -> Result<ListedMemories> {
    let limit = match request.limit {
        0 => FACT_PAGE_DEFAULT,
        limit if limit <= FACT_PAGE_MAX => limit,
        limit => {
            return Err(MemoryError::TooLarge {
                what: "the page size",
                found: limit as u64,
                limit: FACT_PAGE_MAX as u64,
            }
            .into());
        }
    };
    let mut cursor = FactCursor::new(moment, request)?;
    let (mut items, mut bytes) = (Vec::new(), 0);
    while let Some((id, item)) = cursor.advance()? {
        bytes += page_bytes(&item);
        let is_full = items.len() == limit || bytes > FACT_PAGE_BYTES && !items.is_empty();
        if is_full {
            // There is one more: the next page begins with it.
            let next = Some(id.0 + 1);
            return Ok(ListedMemories { items, next });
        }
        items.push(item);
    }
    Ok(ListedMemories { items, next: None })
}
