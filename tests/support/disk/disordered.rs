//! A real disk under which a store does its steps in the wrong order, so that readers have something to find.
//!
//! Everything is done in the end: what is wrong is when. Between two steps the disk waits until the readers have
//! looked, in the right order as well as in a wrong one, so that finding a flaw is no matter of luck.
//! Not here: what the readers find (`amem-peer`).

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use amem_format::journal::head::PAGE;
use amem_format::journal::live;
use amem_locks::LockResultExt;
use amem_store::disk::{Disk, File};

use super::forward;

/// What is done in the wrong order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing.
    None,
    /// `committed` is stored before the frames are written.
    PublishedFirst,
    /// The first half of each write comes after `committed`.
    HeadLate,
    /// The end of each write comes after `committed`.
    TailLate,
    /// `committed` first names a place within the last frame.
    MidFrame,
    /// `committed` first names a place in the zeros behind the last frame.
    PastTheFrames,
    /// `committed` first names a place that the file does not have.
    PastTheFile,
    /// `committed` is stored byte by byte.
    ByteByByte,
    /// Bytes of a frame are written once more, differently, after it was published.
    Overwritten,
    /// `committed` is stored after the answer.
    AnsweredFirst,
    /// `committed` goes back to what it was.
    WentBack,
    /// A new file has its name before its `committed` speaks of the frames that were carried.
    NamedUnpublished,
    /// A new file has its name before it has the frames of which its `committed` speaks.
    NamedEmpty,
    /// A new file has its name, and is written on, before it names its owner.
    NamedUnowned,
    /// The old file never says that there is a new one.
    NotSuperseded,
    /// The old file says so, but no reader is notified.
    NotTold,
    /// The old file does not say that it must be let go of.
    NotDropped,
    /// It does after the answer.
    DroppedLate,
    /// The old file is made empty before it is removed.
    Emptied,
    /// The old file says that there is a new one as soon as that is begun. Readers look and find none yet: the path
    /// decides, not the hint. This one is not wrong.
    HintEarly,
}

impl Flaw {
    /// All that are wrong.
    pub const WRONG: [Self; 18] = [
        Self::PublishedFirst,
        Self::HeadLate,
        Self::TailLate,
        Self::MidFrame,
        Self::PastTheFrames,
        Self::PastTheFile,
        Self::ByteByByte,
        Self::Overwritten,
        Self::AnsweredFirst,
        Self::WentBack,
        Self::NamedUnpublished,
        Self::NamedEmpty,
        Self::NamedUnowned,
        Self::NotSuperseded,
        Self::NotTold,
        Self::NotDropped,
        Self::DroppedLate,
        Self::Emptied,
    ];
}

/// A file with its live page, and how far it is published.
type Live = (Arc<dyn File>, u64, u64);

/// A step that is done later than it should be.
type Step = Box<dyn FnOnce() -> io::Result<()> + Send>;

/// Of so many pauses one is made, where nothing is wrong: each takes as long as the slowest reader.
const PAUSED: u64 = 4;

/// The disk.
#[derive(Clone)]
pub struct DisorderedDisk {
    inner: Arc<dyn Disk>,
    shared: Arc<DisorderState>,
}

struct DisorderState {
    root: PathBuf,
    flaw: Flaw,
    is_active: AtomicBool,
    pause: Box<dyn Fn() + Send + Sync>,
    pauses: AtomicU64,
    /// For after the next answer.
    later: Mutex<Vec<Step>>,
    /// For after the exchange of names.
    named: Mutex<Vec<Step>>,
    /// The file that is written to.
    current: Mutex<Option<Live>>,
    /// The file that has no name yet.
    new: Mutex<Option<Live>>,
    /// Whether the file that was made last has a name.
    new_is_named: Mutex<Arc<AtomicBool>>,
}

impl DisorderState {
    fn is(&self, flaw: Flaw) -> bool {
        self.flaw == flaw && self.is_active.load(Ordering::Relaxed)
    }

    /// Between two steps.
    fn may_pause(&self) {
        let is_due = self
            .pauses
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(PAUSED);
        if is_due && self.is_active.load(Ordering::Relaxed) {
            (self.pause)();
        }
    }

    fn run(&self, steps: &Mutex<Vec<Step>>) -> io::Result<()> {
        let steps = std::mem::take(&mut *steps.lock().unpoisoned());
        steps.into_iter().try_for_each(|step| step())
    }
}

impl DisorderedDisk {
    /// Around the disk of a folder; nothing is wrong before `begin`. `pause` waits until all readers have looked.
    pub fn new(
        inner: Arc<dyn Disk>,
        root: impl Into<PathBuf>,
        flaw: Flaw,
        pause: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let shared = DisorderState {
            root: root.into(),
            flaw,
            is_active: AtomicBool::new(false),
            pause: Box::new(pause),
            pauses: AtomicU64::new(0),
            later: Mutex::default(),
            named: Mutex::default(),
            current: Mutex::default(),
            new: Mutex::default(),
            new_is_named: Mutex::default(),
        };
        let shared = Arc::new(shared);
        Self { inner, shared }
    }

    /// From now on the order is wrong.
    pub fn begin(&self) {
        self.shared.is_active.store(true, Ordering::Relaxed);
    }

    fn file(&self, inner: Arc<dyn File>, is_named: Arc<AtomicBool>) -> Arc<dyn File> {
        let (shared, state) = (self.shared.clone(), Mutex::default());
        Arc::new(DisorderedFile {
            inner,
            shared,
            is_named,
            state,
        })
    }
}

impl fmt::Debug for DisorderedDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Disk for DisorderedDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        if self.shared.is(Flaw::HintEarly)
            && let Some((file, page, committed)) = &*self.shared.current.lock().unpoisoned()
        {
            file.store_cell(*page, live::SUPERSEDED_BY, u64::MAX)?;
            file.store_cell(*page, live::COMMITTED, committed | live::LOOK)?;
        }
        let is_named = Arc::new(AtomicBool::new(false));
        *self.shared.new_is_named.lock().unpoisoned() = is_named.clone();
        Ok(self.file(self.inner.create(name)?, is_named))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let is_named = Arc::new(AtomicBool::new(true));
        Ok(self.file(self.inner.open(name)?, is_named))
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        let shared = &self.shared;
        if shared.is(Flaw::NamedEmpty)
            && let Some((file, page, committed)) = shared.new.lock().unpoisoned().take()
        {
            let (first, map) = (page + PAGE, file.map(committed)?);
            let frames = map
                .slice(first, committed - first)
                .unwrap_or_default()
                .to_vec();
            file.write_at(first, &vec![0; frames.len()])?;
            let step = move || file.write_at(first, &frames);
            shared.named.lock().unpoisoned().push(Box::new(step));
        }
        shared.may_pause();
        self.inner.exchange(from, to)?;
        shared
            .new_is_named
            .lock()
            .unpoisoned()
            .store(true, Ordering::Relaxed);
        if shared.named.lock().unpoisoned().is_empty() {
            shared.may_pause();
        } else {
            (shared.pause)();
        }
        shared.run(&shared.named)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        if self.shared.is(Flaw::Emptied) {
            let path = self.shared.root.join(name);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            fs::File::options().write(true).open(&path)?.set_len(0)?;
            (self.shared.pause)();
        }
        self.inner.remove(name)
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        self.shared.may_pause();
        self.inner.sync_folder(folder)
    }

    forward!(Disk, |this| this.inner;
        source, identity, list, create_folder, publish, replace, link, lock, now, random, boot_id, preallocation);
}

struct DisorderedFile {
    inner: Arc<dyn File>,
    shared: Arc<DisorderState>,
    is_named: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The live page, once something was stored in it.
    page: Option<u64>,
    published: u64,
    /// Bytes that are not written yet, and where.
    held: Vec<(u64, Vec<u8>)>,
    /// The last frames.
    last: (u64, Vec<u8>),
}

impl fmt::Debug for DisorderedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl DisorderedFile {
    /// True of frames behind those that are published; space is filled with zeros.
    fn are_frames(&self, position: u64, bytes: &[u8]) -> bool {
        let page = self.state.lock().unpoisoned().page;
        self.is_named.load(Ordering::Relaxed)
            && page.is_some_and(|page| position >= page + PAGE)
            && bytes.iter().any(|&byte| byte != 0)
    }

    fn store(&self, page: u64, value: u64) -> io::Result<()> {
        self.inner.store_cell(page, live::COMMITTED, value)
    }

    fn store_later(&self, page: u64, offset: u64, value: u64) {
        let file = self.inner.clone();
        let step = move || file.store_cell(page, offset, value);
        self.shared.later.lock().unpoisoned().push(Box::new(step));
    }

    /// Stores `committed` of a file that readers know, when it goes on from `before`.
    fn publish(&self, page: u64, value: u64, before: u64) -> io::Result<()> {
        let shared = &self.shared;
        let first = match shared.flaw {
            _ if !shared.is(shared.flaw) => None,
            Flaw::MidFrame => Some(value - 24),
            Flaw::PastTheFrames => Some(value + 40),
            Flaw::PastTheFile => Some(value + (1 << 40)),
            _ => None,
        };
        if let Some(first) = first {
            self.store(page, first)?;
            (shared.pause)();
        }
        if shared.is(Flaw::ByteByByte) {
            for (at, byte) in (page + live::COMMITTED..).zip(value.to_le_bytes()) {
                self.inner.write_at(at, &[byte])?;
                if at < page + live::COMMITTED + 3 {
                    (shared.pause)();
                }
            }
        }
        if shared.is(Flaw::AnsweredFirst) {
            self.store_later(page, live::COMMITTED, value);
            return Ok(());
        }
        self.store(page, value)?;
        if shared.is(Flaw::WentBack) {
            (shared.pause)();
            self.store(page, before)?;
            self.store_later(page, live::COMMITTED, value);
        }
        let held = std::mem::take(&mut self.state.lock().unpoisoned().held);
        if !held.is_empty() {
            (shared.pause)();
        }
        for (position, bytes) in held {
            self.inner.write_at(position, &bytes)?;
        }
        if shared.is(Flaw::Overwritten) {
            let (position, bytes) = std::mem::take(&mut self.state.lock().unpoisoned().last);
            self.inner.write_at(position, &vec![b'?'; bytes.len()])?;
            (shared.pause)();
            self.inner.write_at(position, &bytes)?;
        }
        shared.may_pause();
        Ok(())
    }
}

impl File for DisorderedFile {
    /// As the store believes that it wrote: it would notice some flaws itself, and readers are to.
    fn read_at(&self, position: u64, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read_at(position, into)?;
        let state = self.state.lock().unpoisoned();
        let page = state.page.map(|page| page + live::COMMITTED);
        if state.published > 0 && page == Some(position) && read >= 8 {
            into[..8].copy_from_slice(&state.published.to_le_bytes());
        }
        Ok(read)
    }

    fn write_at(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        if !self.are_frames(position, bytes) {
            return self.inner.write_at(position, bytes);
        }
        self.shared.run(&self.shared.later)?;
        self.shared.may_pause();
        self.state.lock().unpoisoned().last = (position, bytes.to_vec());
        let held = match self.shared.flaw {
            flaw if !self.shared.is(flaw) => 0..0,
            Flaw::PublishedFirst => 0..bytes.len(),
            Flaw::HeadLate => 0..bytes.len() / 2,
            Flaw::TailLate => bytes.len() - 24..bytes.len(),
            _ => 0..0,
        };
        let mut part = bytes.to_vec();
        part[held.clone()].fill(0);
        if !held.is_empty() {
            let at = position + held.start as u64;
            self.state
                .lock()
                .unpoisoned()
                .held
                .push((at, bytes[held].to_vec()));
        }
        self.inner.write_at(position, &part)
    }

    fn sync(&self) -> io::Result<()> {
        self.shared.may_pause();
        self.inner.sync()
    }

    fn sync_part(&self, position: u64, bytes: &[u8]) -> io::Result<()> {
        self.shared.may_pause();
        match self.state.lock().unpoisoned().held.is_empty() {
            true => self.inner.sync_part(position, bytes),
            // It would write them.
            false => self.inner.sync(),
        }
    }

    fn store_cell(&self, page: u64, offset: u64, value: u64) -> io::Result<()> {
        let shared = &self.shared;
        let is_named = self.is_named.load(Ordering::Relaxed);
        self.state.lock().unpoisoned().page = Some(page);
        if offset == live::COMMITTED {
            let place = if is_named {
                &shared.current
            } else {
                &shared.new
            };
            *place.lock().unpoisoned() = Some((self.inner.clone(), page, value & !live::LOOK));
            let before = std::mem::replace(
                &mut self.state.lock().unpoisoned().published,
                value & !live::LOOK,
            );
            if is_named && value & live::LOOK == 0 && before != 0 && value > before {
                return self.publish(page, value, before);
            }
            if shared.is(Flaw::NamedUnpublished) && !is_named {
                let file = self.inner.clone();
                let step = move || file.store_cell(page, offset, value);
                shared.named.lock().unpoisoned().push(Box::new(step));
                return self.store(page, page + PAGE);
            }
            if shared.is(Flaw::NotTold) {
                return self.store(page, value & !live::LOOK);
            }
        }
        let is_owner = (live::OWNER..live::OWNER + 32).contains(&offset);
        match offset {
            live::SUPERSEDED_BY if shared.is(Flaw::NotSuperseded) => return Ok(()),
            live::MUST_DROP if shared.is(Flaw::NotDropped) => return Ok(()),
            live::MUST_DROP if shared.is(Flaw::DroppedLate) => {
                self.store_later(page, offset, value);
                return Ok(());
            }
            _ if is_owner && !is_named && shared.is(Flaw::NamedUnowned) => {
                self.store_later(page, offset, value);
                return Ok(());
            }
            _ => {}
        }
        self.inner.store_cell(page, offset, value)
    }

    forward!(File, |this| this.inner; id, len, write_out, map, protect, is_sole_opening);
}
