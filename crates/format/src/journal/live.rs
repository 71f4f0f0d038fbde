//! The live page: the writer's messages to readers on the same machine. Recovery finds every frame without it; the page
//! can only make recovery more careful, or save it work after a clean close.
//!
//! Each cell has its own cache line. A reader trusts the page only if `owner` names the boot, device and inode that the
//! reader itself sees; in any other file, such as a copy, the chain of frames decides.

use crate::mapping::GrowingMap;
use crate::types::Generation;

/// Position up to which frames are published; its top bit says "look at the rest of this page".
pub const COMMITTED: u64 = 0;
/// Boot id (two cells), device, inode.
pub const OWNER: u64 = 64;
/// The generation that replaces this file, or 0.
pub const SUPERSEDED_BY: u64 = 128;
/// 1 if readers must let go of this file at their next view.
pub const MUST_DROP: u64 = 192;

/// Up to where the file was synced when it was last closed in order; no reader looks at it.
pub const CLEAN: u64 = 256;

/// The owned file: a hash of the folder's id and the file's inode and time of birth, written by the daemon that owns
/// it. It does not match in a copy under any inode. Readers ignore it.
pub const HOME: u64 = 320;

/// 1 once writing or syncing this file has failed: what the cache has of it may not be on the medium, and a later sync
/// may not say so. It is in the same cache itself; no reader looks at it.
pub const DOUBT: u64 = 384;

/// The top bit of `committed`.
pub const LOOK: u64 = 1 << 63;

/// A file's identity when its daemon took it. A copy has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owner {
    /// The boot during which the file was owned.
    pub boot: [u64; 2],
    /// The device of the file.
    pub device: u64,
    /// The inode of the file.
    pub inode: u64,
}

impl Owner {
    /// The four cells, in order.
    pub fn cells(&self) -> [u64; 4] {
        [self.boot[0], self.boot[1], self.device, self.inode]
    }
}

/// The page at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LivePage {
    /// Position up to which frames are published, without the top bit.
    pub committed: u64,
    /// The file that the writer opened.
    pub owner: Owner,
    /// The generation that replaces this file.
    pub superseded_by: Option<Generation>,
    /// Readers must let go.
    pub must_drop: bool,
}

/// Reads the page at `page` in the file; `None` if it is not mapped.
pub fn load(map: &GrowingMap, page: u64) -> Option<LivePage> {
    let committed = map.load(page + COMMITTED)?;
    let cell = |at: u64| map.load(page + at);
    let superseded_by = cell(SUPERSEDED_BY)?;
    Some(LivePage {
        committed: committed & !LOOK,
        owner: Owner {
            boot: [cell(OWNER)?, cell(OWNER + 8)?],
            device: cell(OWNER + 16)?,
            inode: cell(OWNER + 24)?,
        },
        superseded_by: (superseded_by != 0).then_some(Generation(superseded_by)),
        must_drop: cell(MUST_DROP)? != 0,
    })
}
