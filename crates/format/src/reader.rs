//! Following a brain's file: the newest committed view, without a call to the daemon.
//!
//! A file that a running daemon owns is *live*: its live page names this boot, device and inode, and its `committed`
//! cell says how far frames are published. Any other file, a copy, is *offline*: its frames count up to the first bad
//! one.
//!
//! Promises: taking a view costs one atomic load if nothing is new; a view taken after the answer to a write contains
//! the write, or fails; the reader follows a checkpoint within a second, even if its hint was lost.
//! Not promised: if another process truncates the file, the reader's process ends with SIGBUS (see `mapping`);
//! `Reader::open_copy` reads the file into memory instead.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use amem_locks::LockResultExt;
use arc_swap::ArcSwap;

use crate::brain::Brain;
use crate::error::{Error, Result};
use crate::journal::live::{LOOK, Owner};
use crate::journal::scan::Position;
use crate::mapping::Map;
use crate::publish::AppliedMark;
use crate::view::View;
use amem_kernels::ticks;

/// How often the reader checks the path without a hint.
pub const PATH_CHECK_EVERY: Duration = Duration::from_secs(1);

/// Processor ticks between two reads of the clock, each of which costs a third of a view: 0.1 ms at 2.6 GHz, 1 ms on
/// the slowest machine.
const CLOCK_EVERY_TICKS: u64 = 1 << 18;

/// Follows one brain file. Shared by any number of threads.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    current: ArcSwap<FollowedFile>,
    /// Held while frames are applied or the file is replaced by its successor.
    applying: Mutex<()>,
    started: Instant,
    /// Milliseconds after `started` of the next path check.
    next_check: AtomicU64,
    /// Processor ticks of the last read of the clock.
    clock_ticks: AtomicU64,
}

/// One generation being followed.
#[derive(Debug)]
struct FollowedFile {
    brain: Arc<Brain>,
    file: Option<File>,
    identity: Owner,
    /// The `committed` cell up to which frames are applied.
    applied: AppliedMark,
    position: Mutex<Position>,
    /// What follows the last whole transaction, if not zeros.
    torn: Option<String>,
}

impl Reader {
    /// Opens a brain file: maps it, checks it, replays its journal.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let followed = FollowedFile::open(&path)?;
        Ok(Self {
            path,
            current: ArcSwap::from_pointee(followed),
            applying: Mutex::new(()),
            started: Instant::now(),
            next_check: AtomicU64::new(PATH_CHECK_EVERY.as_millis() as u64),
            clock_ticks: AtomicU64::new(0),
        })
    }

    /// Reads the file into memory: the view does not follow later commits, and changes to the file cannot harm it.
    pub fn open_copy(path: impl AsRef<Path>) -> Result<View> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        let brain = Arc::new(Brain::open(Map::owned(&bytes))?);
        if let Some(start) = brain.start() {
            brain.replay(start, u64::MAX)?;
        }
        Ok(brain.view())
    }

    /// The path that the reader was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if a daemon owns the file, so that views follow its commits.
    pub fn is_live(&self) -> bool {
        self.current.load().is_live()
    }

    /// What follows the last whole transaction of an offline file, if not zeros.
    pub fn torn(&self) -> Option<String> {
        self.current.load().torn.clone()
    }

    /// The newest committed view.
    #[inline]
    pub fn view(&self) -> Result<View> {
        let current = self.current.load();
        let applied = current.applied.up_to();
        let news = applied.is_some() && current.brain.committed() != applied;
        if !news && !self.is_check_due() {
            return Ok(current.brain.view());
        }
        drop(current);
        self.catch_up()
    }

    /// As `view`, for callers that must not wait for the disk: `None` if `view` would read more than `bytes` of frames
    /// or check the path.
    pub fn view_within(&self, bytes: u64) -> Option<Result<View>> {
        let current = self.current.load();
        let applied = current.applied.up_to();
        if self.is_check_due() {
            return None;
        }
        if let Some(applied) = applied {
            let cell = current.brain.committed()?;
            // The top bit asks for a check of the path.
            if cell & LOOK != 0 || cell.saturating_sub(applied) > bytes {
                return None;
            }
        }
        drop(current);
        Some(self.view())
    }

    /// Device and inode of the followed file.
    pub fn file_id(&self) -> (u64, u64) {
        let current = self.current.load();
        (current.identity.device, current.identity.inode)
    }

    #[inline]
    fn is_check_due(&self) -> bool {
        let ticks = ticks();
        let read_at = self.clock_ticks.load(Ordering::Relaxed);
        if ticks.is_some_and(|ticks| ticks.wrapping_sub(read_at) < CLOCK_EVERY_TICKS) {
            return false;
        }
        self.read_clock(ticks)
    }

    #[inline(never)]
    fn read_clock(&self, ticks: Option<u64>) -> bool {
        let now = self.started.elapsed().as_millis() as u64;
        let is_time = now >= self.next_check.load(Ordering::Relaxed);
        if let Some(ticks) = ticks.filter(|_| !is_time) {
            self.clock_ticks.store(ticks, Ordering::Relaxed);
        }
        is_time
    }

    #[cold]
    fn catch_up(&self) -> Result<View> {
        let _applying = self.applying.lock().unpoisoned();
        let mut current = self.current.load_full();
        // The live page is valid only while a daemon owns the file.
        let live_page = current.brain.live().filter(|_| current.is_live());
        let must_drop = live_page.is_some_and(|live| live.must_drop);
        let superseded_by = live_page.and_then(|live| live.superseded_by);
        let check = self.is_check_due();
        if check {
            let next = self.started.elapsed() + PATH_CHECK_EVERY;
            self.next_check
                .store(next.as_millis() as u64, Ordering::Relaxed);
        }
        if check || must_drop || superseded_by.is_some() {
            match (self.successor(&current), superseded_by) {
                (Successor::Later(next), _) => {
                    self.current.store(next.clone());
                    current = next;
                }
                _ if must_drop => {
                    return Err(Error::MustDrop {
                        generation: current.brain.base().identity().generation,
                    });
                }
                // Later commits are in a file that cannot be opened: this view would be stale.
                (Successor::None(why), Some(by)) => {
                    let path = self.path.clone();
                    return Err(Error::Superseded { path, by, why });
                }
                // The writer has yet to exchange the names, the file was opened under another name, or the path now
                // names an unrelated file: this file is still intact.
                (Successor::Same | Successor::None(_), _) => {}
            }
        }
        current.follow()?;
        Ok(current.brain.view())
    }

    /// Opens the path's file if it is a later generation of this instance, or if this file was offline and is owned
    /// now.
    fn successor(&self, current: &FollowedFile) -> Successor {
        // Follows symbolic links, as opening does.
        let meta = match std::fs::metadata(&self.path) {
            Ok(meta) => meta,
            Err(e) => return Successor::None(e.to_string()),
        };
        let same = (meta.dev(), meta.ino()) == (current.identity.device, current.identity.inode);
        if same && (current.is_live() || !current.is_owned_now()) {
            return Successor::Same;
        }
        let next = match FollowedFile::open(&self.path) {
            Ok(next) => next,
            Err(e) => return Successor::None(e.to_string()),
        };
        let (old, new) = (
            current.brain.base().identity(),
            next.brain.base().identity(),
        );
        let later = new.generation > old.generation || (same && new.generation == old.generation);
        match (new.instance == old.instance, later) {
            (true, true) => Successor::Later(Arc::new(next)),
            (true, false) => Successor::None(format!("generation {} is there", new.generation)),
            (false, _) => Successor::None("another brain is there".into()),
        }
    }
}

/// What the path of a followed file names now.
enum Successor {
    /// The same file.
    Same,
    /// The file that replaced it.
    Later(Arc<FollowedFile>),
    /// No successor, and why.
    None(String),
}

impl FollowedFile {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("open", path, e))?;
        let meta = file.metadata().map_err(|e| Error::io("look at", path, e))?;
        if !meta.is_file() {
            return Err(Error::invalid(
                "path",
                format!("{} is not a regular file", path.display()),
            ));
        }
        let identity = Owner {
            boot: boot_id(),
            device: meta.dev(),
            inode: meta.ino(),
        };
        let map = Map::shared(&file, meta.len()).map_err(|e| Error::io("map", path, e))?;
        let brain = Arc::new(Brain::open(map)?);
        let mut followed = Self {
            file: Some(file),
            identity,
            applied: AppliedMark::offline(),
            position: Mutex::new(Position {
                at: 0,
                lsn: crate::types::Lsn(0),
                checksum: 0,
            }),
            torn: None,
            brain,
        };
        let Some(start) = followed.brain.start() else {
            return Ok(followed);
        };
        followed.position = Mutex::new(start);
        if followed.is_owned_now() {
            followed.applied = AppliedMark::nothing();
            followed.follow()?;
        } else {
            let replayed = followed.brain.replay(start, u64::MAX)?;
            followed.position = Mutex::new(replayed.position);
            followed.torn = replayed.torn;
        }
        Ok(followed)
    }

    fn is_owned_now(&self) -> bool {
        self.identity.boot != [0, 0]
            && self
                .brain
                .live()
                .is_some_and(|live| live.owner == self.identity)
    }

    fn is_live(&self) -> bool {
        self.applied.is_live()
    }

    /// Applies the frames committed since. The caller holds the reader's `applying`, or owns `self` alone.
    fn follow(&self) -> Result<()> {
        if !self.is_live() {
            return Ok(());
        }
        let Some(cell) = self.brain.committed() else {
            return Ok(());
        };
        let committed = cell & !LOOK;
        let mut position = self.position.lock().unpoisoned();
        if committed < position.at {
            // The writer of a file never takes back what it published.
            return Err(Error::Overwritten {
                before: position.at,
                now: committed,
            });
        }
        if committed > position.at {
            if committed > self.brain.mapped()
                && let Some(file) = &self.file
            {
                let len = file
                    .metadata()
                    .map_err(|e| Error::io("look at", "the brain", e))?
                    .len();
                self.brain
                    .reach(len, || Map::shared(file, len))
                    .map_err(|e| Error::io("map", "the brain", e))?;
            }
            let replayed = self.brain.replay(*position, committed)?;
            *position = replayed.position;
            if replayed.position.at != committed {
                let why = replayed
                    .torn
                    .unwrap_or_else(|| "a committed frame is missing".into());
                return Err(Error::corrupt("journal", replayed.position.at, why));
            }
        }
        // Without the top bit: while it is set, every view checks for a successor.
        self.applied.reach(committed);
        Ok(())
    }
}

/// The kernel's id of this boot; zeros if the kernel has none.
pub fn boot_id() -> [u64; 2] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    match uuid::Uuid::parse_str(text.trim()) {
        Ok(id) => {
            let (high, low) = id.as_u64_pair();
            [high, low]
        }
        Err(_) => [0, 0],
    }
}
