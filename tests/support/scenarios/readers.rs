//! Who has a file of a brain mapped while the brain goes on in another one: a reader outlives the process that is
//! killed.
//!
//! A reader that has an old file sees what was answered before the names were exchanged, and looks for a later file
//! only when the old one tells it to (and once a second, which is too late for a caller that was just answered).

use std::collections::BTreeMap;
use std::sync::Arc;

use amem_format::Lsn;
use amem_format::brain::Brain;
use amem_format::journal::live::LOOK;
use amem_store::disk::Disk;

use crate::disk::{Content, Entry, Log, Op, SimDisk};

/// Holds each file that has, or had, a name against what was answered: in every one that another has taken the place of
/// there are so many transactions, or it says that there is a later one. `count` tells how many there are by their LSN.
pub(super) fn expect_told(
    disk: &SimDisk,
    name: &str,
    answered: u64,
    count: impl Fn(Lsn) -> Option<u64>,
) -> Result<(), String> {
    let current = disk.image().names.get(name).copied();
    for (inode, content) in files_named(&disk.log(), name) {
        if current == Some(Entry::File(inode)) {
            continue;
        }
        let seen = seen(disk, inode, &content)?;
        let Some(ReaderState { lsn, is_hinted }) = seen else {
            continue;
        };
        let there = count(lsn).ok_or_else(|| format!("a reader sees half of {lsn}"))?;
        if there < answered && !is_hinted {
            return Err(format!(
                "a reader of an old file sees {there} transactions of {answered}, and no hint at a later file"
            ));
        }
    }
    Ok(())
}

/// What a reader has of a file.
struct ReaderState {
    /// Up to where the file is committed.
    lsn: Lsn,
    /// Whether it says that readers have to look for a later one, or let go of it.
    is_hinted: bool,
}

/// What a reader sees that follows a file; none does if the file is not owned, or no brain yet.
fn seen(disk: &SimDisk, inode: u64, content: &Content) -> Result<Option<ReaderState>, String> {
    let map = content.map(content.len());
    let Some(Ok(brain)) = map.map(Brain::open) else {
        return Ok(None);
    };
    let (Some(start), Some(cell), Some(live)) = (brain.start(), brain.committed(), brain.live())
    else {
        return Ok(None);
    };
    if (live.owner.boot, live.owner.inode) != (disk.boot_id(), inode) {
        return Ok(None);
    }
    let replayed = brain.replay(start, live.committed);
    replayed.map_err(|e| format!("who has an old file mapped finds it damaged: {e}"))?;
    let is_later = live.superseded_by > Some(brain.base().identity().generation);
    let (lsn, _) = Arc::new(brain).view().moment();
    let is_hinted = cell & LOOK != 0 && (is_later || live.must_drop);
    Ok(Some(ReaderState { lsn, is_hinted }))
}

/// The files that have, or had, a name, as the running machine sees them, by inode number.
fn files_named(log: &Log, name: &str) -> BTreeMap<u64, Content> {
    let mut files = BTreeMap::new();
    let at_first = |inode| log.base.files.get(inode).cloned().unwrap_or_default();
    if let Some(Entry::File(inode)) = log.base.names.get(name) {
        files.insert(*inode, at_first(inode));
    }
    for op in &log.ops {
        let named = match op {
            Op::Create { inode, name } | Op::Link { inode, name } => (name, inode),
            Op::Rename { inode, to, .. } => (to, inode),
            Op::Exchange { to, .. } => (&to.0, &to.1),
            _ => continue,
        };
        if **named.0 == *name {
            files.insert(*named.1, at_first(named.1));
        }
    }
    for op in &log.ops {
        if let Op::Write {
            inode,
            position,
            bytes,
            ..
        } = op
            && let Some(content) = files.get_mut(inode)
        {
            content.write(*position, bytes);
        }
    }
    files
}
