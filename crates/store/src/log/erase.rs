//! Erase: when erased content is gone, and where else it may be.
//!
//! 1. The frame (`plan::erase`) hides the content; every view from that commit on is without it.
//! 2. `clear_for_erase` removes leftovers in `.amemd/tmp` that may have it, and vectors of another space.
//! 3. A checkpoint builds a generation without it; `install` puts that in place and removes the old file, durably.
//! 4. `tell_readers_to_drop` has readers of the old file release their mapping.
//!
//! Files in quarantine are not the store's to change: `whole_in` and `has_text_of` search them, and the caller refuses
//! the erase while one still has the content.

use std::collections::HashSet;

use amem_format::NodeId;
use amem_format::journal::{frame, live};
use amem_format::view::View;

use crate::error::Result;
use crate::limits::MERGE_MEMORY_BYTES_MAX;
use crate::log::store::Store;
use crate::merge::budget::MemoryBudget;
use crate::merge::matching;

impl Store {
    /// True if something was erased whose bytes are still in the file.
    pub fn erase_pending(&self) -> bool {
        let log = &self.brain.delta().log;
        (0..log.published())
            .filter_map(|at| log.get(at))
            .any(|entry| entry.commit.kind == frame::Kind::Erase)
    }

    /// Removes leftovers that may have erased content, if any is pending. Called before a new generation is built, so
    /// that one that cannot be installed does not fill the disk, and again when it is installed.
    pub fn clear_for_erase(&self) -> Result<()> {
        if self.erase_pending() {
            self.folder.clear_leftovers(&self.name)?;
            self.folder.remove_vector_rows(&self.name)
        } else {
            Ok(())
        }
    }

    /// Makes readers of a replaced file drop their mapping, which has erased content.
    pub(crate) fn tell_readers_to_drop(&self) -> Result<(), String> {
        self.store_hint(live::MUST_DROP, 1)
            .map_err(|e| format!("telling readers: {e}"))
    }
}

/// Those of these events that another brain has, not erased.
pub fn whole_in(view: &View, other: &View, ids: &[NodeId]) -> Result<Vec<NodeId>> {
    let mut budget = MemoryBudget::new(MERGE_MEMORY_BYTES_MAX);
    let (ids, mut found) = (ids.iter().collect::<HashSet<_>>(), Vec::new());
    let matching = matching::Matching::of(view, other, &mut budget)?;
    for (ours, theirs) in matching.pairs() {
        if ids.contains(&ours) && !other.node(theirs)?.is_erased() {
            found.push(ours);
        }
    }
    if found.is_empty() && matching.withheld() > 0 {
        // One of the withheld events may be an event erased here.
        let erased = ids
            .iter()
            .filter(|id| view.node(***id).is_ok_and(|node| node.is_erased()));
        found.extend(erased.map(|id| **id));
    }
    Ok(found)
}

/// True if another brain has the text of one of these events. For files of another layout, which do not name the brain
/// that they came from.
pub fn has_text_of(view: &View, other: &View, ids: &[NodeId]) -> Result<bool> {
    let mut texts = HashSet::with_capacity(ids.len());
    for id in ids {
        texts.insert(view.node(*id)?.text()?.into_owned());
    }
    for at in 0..other.nodes() {
        if texts.contains(&*other.node(NodeId(at))?.text()?) {
            return Ok(true);
        }
    }
    Ok(false)
}
