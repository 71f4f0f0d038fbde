//! Changes to the index of attribute values.

use std::borrow::Cow;

use super::copy_plan::CopyPlan;
use crate::attributes::values_of;
use crate::base::values::{IndexEdits, ValueIndex};
use crate::error::Result;
use crate::types::NodeId;

/// The older index, and the changes to it. `changed` has the events whose attributes changed, ascending.
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
    // The older base has no index of this version: reads its attributes once.
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

/// Adds the pairs of an event, or the event itself if it has too many values.
fn add(id: u32, json: &str, pairs: &mut Vec<(u64, u32)>, unlisted: &mut Vec<u32>) {
    match values_of(json) {
        Some(hashes) => pairs.extend(hashes.into_iter().map(|hash| (hash, id))),
        None => unlisted.push(id),
    }
}
