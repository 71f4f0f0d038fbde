//! Following a brain's file: always the newest committed view, without asking anyone.
//!
//! A file that a running daemon owns is *live*: its live page names this boot, device and inode, and its
//! `committed` cell says how far frames are published. Any other file, a copy, is *offline*: the chain of
//! frames is the truth, up to its first bad frame.
//!
//! Promises: taking a view costs one atomic load when nothing is new; a view taken after a write was
//! answered contains it, or is refused; a checkpoint is followed within a second even if its hint was lost.
//! Not promised: a file truncated by someone else ends the process with SIGBUS (see `mapping`);
//! `Reader::open_copy` reads the file into memory instead.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;

use crate::brain::Brain;
use crate::error::{Error, Result};
use crate::journal::live::{LOOK, Owner};
use crate::journal::scan::Position;
use crate::mapping::Map;
use crate::publish::Applied;
use crate::simd::ticks;
use crate::view::View;

/// How often the path is looked at although nothing calls for it.
pub const PATH_CHECK_EVERY: Duration = Duration::from_secs(1);

/// For so many ticks of the processor the clock is not asked again, which would cost a third of a view: 0.1 ms at
/// 2.6 GHz, and a millisecond on the slowest machine.
const TICKS_UNASKED: u64 = 1 << 18;

/// Follows one brain file. Shared by any number of threads.
#[derive(Debug)]
pub struct Reader {
    path: PathBuf,
    current: ArcSwap<Followed>,
    /// Held while frames are applied or the file is changed for another.
    applying: Mutex<()>,
    started: Instant,
    /// Milliseconds after `started` at which the path is looked at next.
    look_at: AtomicU64,
    /// The processor's ticks when the clock last said that it is not yet time to look.
    asked_at: AtomicU64,
}

/// One generation being followed.
#[derive(Debug)]
struct Followed {
    brain: Arc<Brain>,
    file: Option<File>,
    identity: Owner,
    /// The `committed` cell up to which frames are applied.
    applied: Applied,
    position: Mutex<Position>,
    /// What stood where the chain ended, if not zeros.
    torn: Option<String>,
}

impl Reader {
    /// Opens a brain file: maps it, checks it, replays its journal.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let followed = Followed::open(&path)?;
        Ok(Self {
            path,
            current: ArcSwap::from_pointee(followed),
            applying: Mutex::new(()),
            started: Instant::now(),
            look_at: AtomicU64::new(PATH_CHECK_EVERY.as_millis() as u64),
            asked_at: AtomicU64::new(0),
        })
    }

    /// Opens a copy of the file's present bytes in memory: it does not follow, and nothing done to the file
    /// can hurt it.
    pub fn open_copy(path: impl AsRef<Path>) -> Result<View> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
        let brain = Arc::new(Brain::open(Map::owned(&bytes))?);
        if let Some(start) = brain.start() {
            brain.replay(start, u64::MAX)?;
        }
        Ok(brain.view())
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if a daemon owns the file now, so that views follow its commits.
    pub fn is_live(&self) -> bool {
        self.current.load().is_live()
    }

    /// What stands behind the last whole transaction of an offline file, if not zeros.
    pub fn torn(&self) -> Option<String> {
        self.current.load().torn.clone()
    }

    /// The newest committed view.
    #[inline]
    pub fn view(&self) -> Result<View> {
        let current = self.current.load();
        let applied = current.applied.up_to();
        let news = applied.is_some() && current.brain.committed() != applied;
        if !news && !self.is_time_to_look() {
            return Ok(current.brain.view());
        }
        drop(current);
        self.catch_up()
    }

    /// As `view`, if at most so many bytes of frames are to be read for it and no other file is looked at: for who
    /// must not wait for the disk. None if `view` would do more.
    pub fn view_within(&self, bytes: u64) -> Option<Result<View>> {
        let current = self.current.load();
        let applied = current.applied.up_to();
        if self.is_time_to_look() {
            return None;
        }
        if let Some(applied) = applied {
            let cell = current.brain.committed()?;
            // The top bit calls for a look at the path.
            if cell & LOOK != 0 || cell.saturating_sub(applied) > bytes {
                return None;
            }
        }
        drop(current);
        Some(self.view())
    }

    /// Device and inode of the file that is followed.
    pub fn file_id(&self) -> (u64, u64) {
        let current = self.current.load();
        (current.identity.device, current.identity.inode)
    }

    #[inline]
    fn is_time_to_look(&self) -> bool {
        let ticks = ticks();
        let asked = self.asked_at.load(Ordering::Relaxed);
        if ticks.is_some_and(|ticks| ticks.wrapping_sub(asked) < TICKS_UNASKED) {
            return false;
        }
        self.ask_clock(ticks)
    }

    #[inline(never)]
    fn ask_clock(&self, ticks: Option<u64>) -> bool {
        let now = self.started.elapsed().as_millis() as u64;
        let is_time = now >= self.look_at.load(Ordering::Relaxed);
        if let Some(ticks) = ticks.filter(|_| !is_time) {
            self.asked_at.store(ticks, Ordering::Relaxed);
        }
        is_time
    }

    #[cold]
    fn catch_up(&self) -> Result<View> {
        let _applying = self.applying.lock().unwrap_or_else(PoisonError::into_inner);
        let mut current = self.current.load_full();
        // What the live page says means something only while a daemon owns the file.
        let said = current.brain.live().filter(|_| current.is_live());
        let must_drop = said.is_some_and(|live| live.must_drop);
        let superseded_by = said.and_then(|live| live.superseded_by);
        let look = self.is_time_to_look();
        if look {
            let next = self.started.elapsed() + PATH_CHECK_EVERY;
            self.look_at
                .store(next.as_millis() as u64, Ordering::Relaxed);
        }
        if look || must_drop || superseded_by.is_some() {
            match (self.successor(&current), superseded_by) {
                (Found::Later(next), _) => {
                    self.current.store(next.clone());
                    current = next;
                }
                _ if must_drop => {
                    return Err(Error::MustDrop {
                        generation: current.brain.base().identity().generation,
                    });
                }
                // What is committed since is in a file that we can't find: this view would be an old one.
                (Found::Nothing(why), Some(by)) => {
                    let path = self.path.clone();
                    return Err(Error::Superseded { path, by, why });
                }
                // The names are about to be exchanged, it was opened by a name of its own, or whatever stands under
                // the name now has nothing to do with this brain, which is still whole.
                (Found::Same | Found::Nothing(_), _) => {}
            }
        }
        current.follow()?;
        Ok(current.brain.view())
    }

    /// The generation that the path names now, if it is a later one of this instance, or if this file was
    /// offline and is owned now.
    fn successor(&self, current: &Followed) -> Found {
        // Of the file that a link leads to, as it is opened.
        let meta = match std::fs::metadata(&self.path) {
            Ok(meta) => meta,
            Err(e) => return Found::Nothing(e.to_string()),
        };
        let same = (meta.dev(), meta.ino()) == (current.identity.device, current.identity.inode);
        if same && (current.is_live() || !current.is_owned_now()) {
            return Found::Same;
        }
        let next = match Followed::open(&self.path) {
            Ok(next) => next,
            Err(e) => return Found::Nothing(e.to_string()),
        };
        let (old, new) = (
            current.brain.base().identity(),
            next.brain.base().identity(),
        );
        let later = new.generation > old.generation || (same && new.generation == old.generation);
        match (new.instance == old.instance, later) {
            (true, true) => Found::Later(Arc::new(next)),
            (true, false) => Found::Nothing(format!("generation {} is there", new.generation)),
            (false, _) => Found::Nothing("another brain is there".into()),
        }
    }
}

/// What the path of a file that is followed names now.
enum Found {
    /// That file.
    Same,
    /// The brain's file that took its place.
    Later(Arc<Followed>),
    /// Nothing that continues it, and why.
    Nothing(String),
}

impl Followed {
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
            applied: Applied::offline(),
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
            followed.applied = Applied::nothing();
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

    /// Applies what was committed since. The caller holds the reader's `applying`, or is alone.
    fn follow(&self) -> Result<()> {
        if !self.is_live() {
            return Ok(());
        }
        let Some(cell) = self.brain.committed() else {
            return Ok(());
        };
        let committed = cell & !LOOK;
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
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
        // The top bit is left out: as long as it is set, every view looks whether there is a successor.
        self.applied.reach(committed);
        Ok(())
    }
}

/// This run of the operating system, from the kernel; zeros where it does not say.
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
