//! Review: memories that may contradict each other, as long as both are there, and those in quarantine.

use amem_memory::FactScope;
use amem_memory::store::MemoryItem;

use crate::error::Result;
use crate::limits::FACT_PAGE_BYTES;
use crate::listing::{page_bytes, version_shown};
use crate::memory_chain::{ChainEvent, MemoryChain};
use crate::scope_plan::{FactMoment, events_of};
use amem_format::types::Micros;

/// A memory that waits for a verdict: it is in quarantine, or was stored beside others that may contradict it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenConflict {
    /// The newer memory.
    pub item: MemoryItem,
    /// The older ones that are still there.
    pub others: Vec<MemoryItem>,
}

/// The open conflicts of a scope, the newest first: at most `limit`, before an event; and the cursor of the next page.
pub(crate) fn open_conflicts(
    moment: &FactMoment,
    scope: &FactScope,
    (limit, before): (usize, Option<u64>),
    now: Micros,
) -> Result<(Vec<OpenConflict>, Option<u64>)> {
    scope.validate()?;
    let (mut out, mut bytes) = (Vec::new(), 0);
    let mut ids = events_of(&moment.view, scope)?;
    ids.retain(|id| before.is_none_or(|before| id.0 < before));
    for id in ids.into_iter().rev() {
        let Some(event) = ChainEvent::read(&moment.view.node(id)?)? else {
            continue;
        };
        let is_open = event.record.quarantined || !event.record.conflicts.is_empty();
        if !is_open || !scope.covers(&event.scope) {
            continue;
        }
        let Some(shown) = version_shown(event, moment, None, now)? else {
            continue;
        };
        let mut others = Vec::new();
        for other in &shown.record.conflicts {
            let chain = MemoryChain::of(&moment.view, *other)?;
            let head = chain.head_at(moment)?;
            let head = head.filter(|head| !head.is_expired(now) && scope.covers(&head.scope));
            others.extend(head.map(ChainEvent::item));
        }
        if others.is_empty() && !shown.record.quarantined {
            continue;
        }
        let item = shown.item();
        bytes += page_bytes(&item) + others.iter().map(page_bytes).sum::<usize>();
        if out.len() == limit || bytes > FACT_PAGE_BYTES && !out.is_empty() {
            // There is one more: the next page begins with it.
            return Ok((out, Some(id.0 + 1)));
        }
        out.push(OpenConflict { item, others });
    }
    Ok((out, None))
}
