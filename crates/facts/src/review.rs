//! Review: memories that may contradict each other, as long as both are there, those in quarantine, and rejected facts.

use amem_memory::FactScope;
use amem_memory::store::MemoryItem;

use crate::error::Result;
use crate::limits::{FACT_PAGE_BYTES, REVIEW_COUNTED_MAX};
use crate::listing::{page_bytes, version_shown};
use crate::memory_chain::{ChainEvent, MemoryChain, is_head};
use crate::record::path;
use crate::rejection::open_rejection;
use crate::scope_plan::{FactMoment, events_of};
use amem_format::types::Micros;
use amem_format::view::View;
use amem_query::planner::events_with;

/// A memory that waits for a verdict: it is in quarantine, or was stored beside others that may contradict it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenConflict {
    /// The newer memory.
    pub item: MemoryItem,
    /// The older ones that are still there.
    pub others: Vec<MemoryItem>,
    /// Why it is no memory yet, of a fact that was rejected; `None` for a memory.
    pub rejected: Option<String>,
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
            let Some((item, why)) = open_rejection(&moment.view, id, scope)? else {
                continue;
            };
            bytes += page_bytes(&item);
            if out.len() == limit || bytes > FACT_PAGE_BYTES && !out.is_empty() {
                return Ok((out, Some(id.0 + 1)));
            }
            out.push(OpenConflict {
                item,
                others: Vec::new(),
                rejected: Some(why),
            });
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
        out.push(OpenConflict {
            item,
            others,
            rejected: None,
        });
    }
    Ok((out, None))
}

/// How many memories and rejected facts of a brain wait for a review; of each at most `limits::REVIEW_COUNTED_MAX` are
/// looked at.
pub fn review_count(view: &View) -> Result<u64> {
    let mut ids = events_with(view, path::FACT_REVIEW, "open")?;
    ids.truncate(REVIEW_COUNTED_MAX);
    let mut count = 0;
    for id in ids {
        let node = view.node(id)?;
        if !is_head(view, &node)? {
            continue;
        }
        let Some(event) = ChainEvent::read(&node)?.filter(ChainEvent::is_version) else {
            continue;
        };
        let mut is_open = event.record.quarantined;
        for other in &event.record.conflicts {
            is_open = is_open || MemoryChain::of(view, *other)?.head().is_some();
        }
        count += u64::from(is_open);
    }
    let rejected = events_with(view, path::REJECTED_STATE, "open")?;
    for id in rejected.into_iter().take(REVIEW_COUNTED_MAX) {
        count += u64::from(open_rejection(view, id, &FactScope::default())?.is_some());
    }
    Ok(count)
}
