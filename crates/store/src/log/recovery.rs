//! Opening a brain: acknowledged commits are there; others are there in full or not at all.
//!
//! Only the brain's own file is opened: an untracked one has to be adopted. A file that a newer version has written to
//! is only read. Else three cases:
//! - The file was closed cleanly, or made by this process: nothing to do.
//! - The operating system started since: the cache is gone, and the medium has what is read. The tail after the last
//!   whole transaction is zeroed and synced, so that no frame of it can continue a new chain.
//! - The process died in this boot: frames may be only in the cache, which after a failed sync differs from the medium;
//!   so may names. Whole transactions are copied into a new file, even if there are none. Without room for that the
//!   old file is synced, published and read, unless a sync of it has failed; nothing is written before there is room.

use std::sync::Arc;

use amem_format::brain::Brain;
use amem_format::journal::live::{self, LivePage};
use amem_format::mapping::Map;

use crate::disk::File;
use crate::error::{Error, Result};
use crate::log::space::write_zeros;
use crate::log::store::{ReadOnly, Store};
use crate::names::cleanup;
use crate::names::folder::{Folder, file_name};
use crate::names::ownership::{self, Ownership, home_of};

impl Store {
    /// Opens a brain of the folder, and recovers it if it was not closed cleanly.
    pub fn open(folder: &Folder, name: &str) -> Result<Self> {
        let file_name = file_name(name)?;
        let missing = || Error::NotFound { name: name.into() };
        // A file that is not ours is not opened for writing.
        match ownership::ownership(folder, name)? {
            Ownership::Own => {}
            Ownership::Untracked(_) => return Err(Error::Untracked { name: name.into() }),
            Ownership::Rejected(why) => {
                let name = name.into();
                return Err(Error::Rejected { name, why });
            }
            Ownership::Overwritten(what) => {
                let brain = name.into();
                return Err(Error::Overwritten { brain, what });
            }
            Ownership::Missing => return Err(missing()),
        }
        let file = folder.disk().open(&file_name).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => missing(),
            _ => Error::disk("open", &file_name, e),
        })?;
        open_file(folder, name, file)
    }
}

/// Opens a brain by its file, whichever file has the name now.
pub(crate) fn open_file(folder: &Folder, name: &str, file: Arc<dyn File>) -> Result<Store> {
    let opened = recover(folder, name, file.clone());
    // A damaged file needs its protection most, whatever its mode was. An untracked file is not ours to protect.
    if matches!(&opened, Err(e) if !matches!(e, Error::Untracked { .. })) {
        drop(file.protect(folder.readers_of(name)));
    }
    opened
}

fn recover(folder: &Folder, name: &str, file: Arc<dyn File>) -> Result<Store> {
    let (file_name, disk) = (file_name(name)?, folder.disk());
    folder.check_lock()?;
    if let Some(what) = folder.why_overwritten(file.id()) {
        let brain = name.to_owned();
        return Err(Error::Overwritten { brain, what });
    }
    cleanup::clear_old(folder, name)?;
    let failed = |action: &'static str| {
        let file_name = file_name.clone();
        move |e| Error::disk(action, file_name, e)
    };
    // An earlier run may have died between a rename and the sync of the folder.
    disk.sync_folder("").map_err(failed("sync the folder of"))?;
    let len = file.len().map_err(failed("look at"))?;
    let map: Map = file.map(len).map_err(failed("map"))?;
    let brain = Arc::new(Brain::open(map)?);
    let Some(start) = brain.start() else {
        return Err(amem_format::Error::Foreign.into());
    };
    let cell = |at| brain.live_page().and_then(|page| brain.cell(page + at));
    if cell(live::HOME) != Some(home_of(folder, name, file.id())) {
        return Err(Error::Untracked { name: name.into() });
    }
    let live = brain.live();
    let clean = cell(live::CLEAN).unwrap_or(0);
    let replayed = brain.replay(start, u64::MAX)?;
    let end = replayed.position.at;
    let durable = brain.durable();
    if durable > end {
        return Err(Error::Damaged {
            name: file_name,
            position: end,
            durable,
        });
    }
    // If the boot id of either run is unknown, it may be the same run.
    let boot = disk.boot_id();
    let same_boot = live.is_some_and(|live: LivePage| {
        live.owner.boot == boot || [live.owner.boot, boot].contains(&[0, 0])
    });
    // The cache may have what the medium does not, even if the boot id differs: a container can be started again beside
    // the cache of the one before.
    let in_doubt = cell(live::DOUBT).unwrap_or(0) != 0;
    let mut store = Store::new(
        folder.clone(),
        name.into(),
        file_name.clone(),
        file.clone(),
        brain,
        replayed.position,
        end,
    );
    let was_closed = clean == end || folder.take_created(file.id());
    if let Some(what) = store.brain.newer() {
        store.read_only = Some(ReadOnly::Newer(what));
        return Ok(store);
    }
    if (same_boot || in_doubt) && !was_closed {
        store.recover_in_full()?;
        if let Some(error) = store.read_only() {
            // Only what is on the medium is shown. After a failed sync the cache may have more.
            if in_doubt || file.sync().is_err() {
                return Err(error);
            }
            // A reader of the file sees what the views show. Where a page cannot be stored without room (btrfs), it
            // sees what was published before, which has all that was acknowledged.
            let _unpublished = store.store_committed(0);
        }
        return Ok(store);
    }
    zero_tail(&*file, end, len).map_err(failed("clear the tail of"))?;
    store.space_end = len.max(end);
    store.space_tried = store.space_end;
    store.recovered = !was_closed;
    store.take_ownership().map_err(|e| Error::Poisoned {
        why: format!("taking ownership: {e}"),
    })?;
    store.protect_at_least()?;
    Ok(store)
}

/// Zeroes the file after the last whole transaction, and syncs: nothing is written before that.
fn zero_tail(file: &dyn File, end: u64, len: u64) -> std::io::Result<()> {
    write_zeros(file, end, len)?;
    file.sync()
}
