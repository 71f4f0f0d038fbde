//! Lookups by the value of an attribute: from the index of the base, and that of the journal.
//!
//! What an index lists may be more than what matches: callers compare.

use amem_format::attributes::{ScalarValue, hash};
use amem_format::view::View;
use amem_format::{NodeId, Result};

use super::values::ValueIds;
use crate::filter::Filter;

fn hash_of(path: &str, value: &str) -> u64 {
    hash(&mut path.as_bytes().to_vec(), &ScalarValue::Text(value))
}

/// How many events of the journal a view shows.
fn added(view: &View) -> u32 {
    let added = view.nodes().saturating_sub(view.brain().base().nodes());
    // The number of events is bounded by `limits::NODES_MAX`.
    added as u32
}

/// About how many events have a value; no less than there are, but for those that are in every list.
pub fn count_with(view: &View, path: &str, value: &str) -> Result<u64> {
    let hash = hash_of(path, value);
    let base = view.brain().base().values()?;
    let of_base = base.map_or(Ok(0), |values| values.count(hash))?;
    Ok(of_base + view.recent_values()?.count(hash))
}

/// False if no event has a value.
pub(crate) fn may_have(view: &View, path: &str, value: &str) -> Result<bool> {
    let base = view.brain().base();
    let unlisted_of_base = match base.values()? {
        Some(values) => !values.unlisted().is_empty(),
        None => !base.attributes()?.ids().is_empty(),
    };
    Ok(unlisted_of_base
        || !view.brain().delta().events.described.is_empty()
        || view.recent_values()?.unlisted().next().is_some()
        || count_with(view, path, value)? > 0)
}

/// An upper bound of the events that may match a filter; `None` if the index does not know which they are.
pub fn count_matching(view: &View, filter: &Filter) -> Result<Option<u64>> {
    let proposed = ValueIds::new(view, filter)?;
    Ok(proposed.map(|ids| ids.len()))
}

/// The events that may match a filter, ascending, if the index proposes fewer than `below`; else `None`.
pub fn events_matching(view: &View, filter: &Filter, below: u64) -> Result<Option<Vec<NodeId>>> {
    let Some(mut proposed) = ValueIds::new(view, filter)?.filter(|ids| ids.len() < below) else {
        return Ok(None);
    };
    let mut ids = Vec::new();
    let mut from = 0;
    while let Some(id) = proposed.first_from(from)? {
        ids.push(NodeId(id.into()));
        from = id + 1;
    }
    Ok(Some(ids))
}

/// The events that may have a value, ascending.
pub fn events_with(view: &View, path: &str, value: &str) -> Result<Vec<NodeId>> {
    let hash = hash_of(path, value);
    let (base, delta) = (view.brain().base(), view.brain().delta());
    let mut ids: Vec<u32> = Vec::new();
    match base.values()? {
        Some(values) => {
            if let Some(list) = values.find(hash)? {
                values.append_all(&list, &mut ids)?;
            }
            ids.extend_from_slice(values.unlisted());
        }
        // Without an index every event with attributes may have it.
        None => ids.extend_from_slice(base.attributes()?.ids()),
    }
    ids.extend(delta.events.described.iter().copied());
    let (recent, added) = (view.recent_values()?, added(view));
    // Ids fit 32 bits (`NODES_MAX`).
    let first = base.nodes() as u32;
    ids.extend(recent.events(hash, added).map(|at| first + at));
    ids.extend(
        recent
            .unlisted()
            .filter(|at| *at < added)
            .map(|at| first + at),
    );
    ids.sort_unstable();
    ids.dedup();
    let end = view.nodes();
    let ids = ids.into_iter().map(|id| NodeId(id.into()));
    Ok(ids.filter(|id| id.0 < end).collect())
}
