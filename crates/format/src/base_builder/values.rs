//! What a new base's index of attributes has other than the old one's.

use std::borrow::Cow;

use super::copy_plan::CopyPlan;
use crate::attributes::values_of;
use crate::base::values::{IndexEdits, ValueIndex};
use crate::error::Result;
use crate::types::NodeId;

/// The index that is taken over, and what of it changes. `changed` are the events with other attributes than in the
/// base, ascending.
pub(super) fn edits<'v>(
    plan: &CopyPlan<'v>,
    changed: &[(u32, Option<Cow<'_, str>>)],
) -> Result<(Option<ValueIndex<'v>>, IndexEdits)> {
    let mut edits = IndexEdits::default();
    for (id, json) in changed {
        if let Some(json) = json {
            add(*id, json, &mut edits.added, &mut edits.unlisted);
        }
    }
    let Some(base) = plan.base() else {
        return Ok((None, edits));
    };
    let (older, attributes) = (base.values()?, base.attributes()?);
    if older.is_some() {
        for (id, _) in changed {
            if let Some(json) = attributes.get(NodeId((*id).into()))? {
                add(*id, json, &mut edits.removed, &mut edits.relisted);
            }
        }
        return Ok((older, edits));
    }
    // A base without an index, or with one of another version: what it keeps is read once.
    for &id in attributes.ids() {
        let is_kept = changed.binary_search_by_key(&id, |(id, _)| *id).is_err();
        if let Some(json) = attributes.get(NodeId(id.into()))?
            && is_kept
        {
            add(id, json, &mut edits.added, &mut edits.unlisted);
        }
    }
    Ok((None, edits))
}

/// Adds the values of an event, or the event, if an index does not tell of them.
fn add(id: u32, json: &str, pairs: &mut Vec<(u64, u32)>, unlisted: &mut Vec<u32>) {
    match values_of(json) {
        Some(hashes) => pairs.extend(hashes.into_iter().map(|hash| (hash, id))),
        None => unlisted.push(id),
    }
}
