//! The simulated disk: names, locks, the clock, chance, faults.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use amem_format::Micros;
use amem_locks::LockResultExt;
use amem_store::disk::{Disk, File, FileId, Lock, LockError, Preallocation, SourceFile};

use super::file::SimFile;
use super::{
    Among, AnsweredBounds, Chance, Content, Entry, Fault, Image, Kind, Log, Op, folder_of,
};

/// The device number of every simulated file.
const DEVICE: u64 = 0x51D;

/// Which file an inode is.
pub(super) fn id(inode: u64) -> FileId {
    FileId {
        device: DEVICE,
        inode,
        born: 0,
    }
}

/// A folder in memory. Clones are handles on the same folder.
#[derive(Clone)]
pub struct SimDisk(Arc<Mutex<State>>);

/// The running machine's view, and how it came to be.
pub(super) struct State {
    pub(super) image: Image,
    pub(super) log: Log,
    pub(super) protected: BTreeSet<u64>,
    held: BTreeSet<Arc<str>>,
    chance: Chance,
    counts: [u64; Kind::COUNT],
    fault: Option<Fault>,
    /// Operations that the fault has counted.
    counted: u64,
    /// Where the log was when the fault first struck.
    struck: Option<usize>,
    /// What is said to be free.
    free_bytes: Option<u64>,
}

impl SimDisk {
    /// Sets the clock: the next reading is a moment after this one.
    pub fn set_clock(&self, now: Micros) {
        self.state().log.clock = now;
    }

    /// Says how many bytes are free; `None` for a disk that cannot say.
    pub fn set_free_bytes(&self, bytes: Option<u64>) {
        self.state().free_bytes = bytes;
    }

    /// An empty folder.
    pub fn new(seed: u64) -> Self {
        let log = Log {
            base: Image::default(),
            answered: AnsweredBounds::default(),
            ops: Vec::new(),
            first: 0,
            seed,
            boot: 1,
            clock: Micros(1_700_000_000_000_000),
            next_inode: 100,
            exchanges: true,
            whole_renames: false,
            links: true,
            room: Preallocation::default(),
        };
        Self::resume(Image::default(), log)
    }

    /// A machine that sees `image`, which is what `log` has made of its base. No lock is held.
    pub(crate) fn resume(image: Image, log: Log) -> Self {
        // A later process draws other numbers than an earlier one did.
        let chance = Chance::of(log.seed, (log.boot << 32) ^ log.ops.len() as u64);
        Self(Arc::new(Mutex::new(State {
            image,
            log,
            protected: BTreeSet::new(),
            held: BTreeSet::new(),
            chance,
            counts: [0; Kind::COUNT],
            fault: None,
            counted: 0,
            struck: None,
            free_bytes: None,
        })))
    }

    /// Another machine whose disk is a copy of this one, byte by byte: files have the inodes that they had.
    #[must_use]
    pub fn cloned(&self) -> Self {
        let log = self.log();
        let boot = log.boot + 1;
        Self::resume(self.image(), Log { boot, ..log })
    }

    /// The same on a file system that cannot exchange names.
    #[must_use]
    pub fn without_exchange(self) -> Self {
        self.state().log.exchanges = false;
        self
    }

    /// The same on a file system where a rename across folders survives whole or not at all.
    #[must_use]
    pub fn with_whole_renames(self) -> Self {
        self.state().log.whole_renames = true;
        self
    }

    /// The same on a file system where a file has one name.
    #[must_use]
    pub fn without_links(self) -> Self {
        self.state().log.links = false;
        self
    }

    /// The same with little room in its files, so that they grow in the midst of things, and are shorter to look at.
    #[must_use]
    pub fn in_small_steps(self) -> Self {
        self.state().log.room = Preallocation {
            min: 8 << 10,
            max: 16 << 10,
            last_round: 8 << 10,
        };
        self
    }

    /// What happened so far.
    pub fn log(&self) -> Log {
        self.state().log.clone()
    }

    /// How many operations are in the log.
    pub fn position(&self) -> usize {
        self.state().log.ops.len()
    }

    /// The folder as the running machine sees it.
    pub fn image(&self) -> Image {
        self.state().image.clone()
    }

    /// The bytes under a name.
    pub fn contents(&self, name: &str) -> Option<Vec<u8>> {
        Some(self.state().image.file(name)?.read(u64::MAX))
    }

    /// The names of all files that contain these bytes, which are not all zeros.
    pub fn files_with(&self, needle: &[u8]) -> Vec<String> {
        let image = self.image();
        let contains = |name: &str| image.file(name).is_some_and(|c| c.contains(needle));
        let found = image.names.keys().filter(|name| contains(name));
        found.map(|name| name.to_string()).collect()
    }

    /// True if the file under a name was protected by this process.
    pub fn is_protected(&self, name: &str) -> bool {
        let state = self.state();
        matches!(state.image.names.get(name), Some(Entry::File(inode)) if state.protected.contains(inode))
    }

    /// Moves the clock on.
    pub fn advance(&self, micros: i64) {
        self.state().log.clock.0 += micros;
    }

    /// Makes an operation fail; it replaces an earlier fault.
    pub fn fail(&self, fault: Fault) {
        let mut state = self.state();
        state.fault = Some(fault);
        state.counted = 0;
        state.struck = None;
    }

    /// How many operations the log had when the fault first struck.
    pub fn struck_at(&self) -> Option<usize> {
        self.state().struck
    }

    /// Ends a fault.
    pub fn heal(&self) {
        self.state().fault = None;
    }

    /// How many operations there were, failed ones included.
    pub fn operations(&self, among: Among) -> u64 {
        let state = self.state();
        let counted = Kind::ALL.into_iter().filter(|kind| among.counts(*kind));
        counted.map(|kind| state.counts[kind as usize]).sum()
    }

    /// Notes that the first `n` transactions have been handed to the store.
    pub(crate) fn submitted(&self, n: u64) {
        self.state().log.ops.push(Op::Submitted(n));
    }

    /// Notes that the first `n` transactions have been answered.
    pub(crate) fn answered(&self, n: u64) {
        self.state().log.ops.push(Op::Answered(n));
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unpoisoned()
    }

    /// Does one operation, unless a fault strikes it.
    pub(super) fn perform<T>(
        &self,
        kind: Kind,
        act: impl FnOnce(&mut State) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut state = self.state();
        match state.strike(kind) {
            None => act(&mut state),
            Some(fault) => {
                if fault.effect == super::Effect::Everything {
                    act(&mut state)?;
                }
                Err(fault.error())
            }
        }
    }

    fn handle(&self, inode: u64) -> Arc<dyn File> {
        Arc::new(SimFile {
            disk: self.clone(),
            inode,
        })
    }
}

impl State {
    /// Counts an operation; the fault that strikes it, if any.
    pub(super) fn strike(&mut self, kind: Kind) -> Option<Fault> {
        self.counts[kind as usize] += 1;
        let fault = self.fault?;
        if !fault.among.counts(kind) {
            return None;
        }
        self.counted += 1;
        let due = if fault.lasting {
            self.counted > fault.after
        } else {
            self.counted == fault.after + 1
        };
        if due {
            self.struck.get_or_insert(self.log.ops.len());
        }
        due.then_some(fault)
    }

    fn inode_of(&self, name: &str) -> io::Result<u64> {
        match self.image.names.get(name) {
            Some(Entry::File(inode)) => Ok(*inode),
            Some(Entry::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    /// A new file under a name that is free and whose folder exists.
    fn new_file(&mut self, name: &str) -> io::Result<(u64, Arc<str>)> {
        self.free(name)?;
        let (inode, name) = (self.log.next_inode, Arc::<str>::from(name));
        self.log.next_inode += 1;
        self.image.files.insert(inode, Content::default());
        self.image.names.insert(name.clone(), Entry::File(inode));
        Ok((inode, name))
    }

    fn free(&self, name: &str) -> io::Result<()> {
        if !self.image.has_folder(folder_of(name)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        if self.image.names.contains_key(name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Ok(())
    }

    fn rename(&mut self, inode: u64, from: &str, to: &str) {
        let (from, to) = (Arc::<str>::from(from), Arc::<str>::from(to));
        self.image.names.remove(&from);
        self.image.names.insert(to.clone(), Entry::File(inode));
        self.log.ops.push(Op::Rename { inode, from, to });
    }
}

impl Disk for SimDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let inode = self.perform(Kind::Create, |state| {
            let (inode, name) = state.new_file(name)?;
            state.log.ops.push(Op::Create { inode, name });
            Ok(inode)
        })?;
        Ok(self.handle(inode))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        let inode = self.perform(Kind::Open, |state| state.inode_of(name))?;
        Ok(self.handle(inode))
    }

    fn source(&self, name: &str, _alone: bool) -> io::Result<Box<dyn SourceFile>> {
        let inode = self.perform(Kind::Open, |state| state.inode_of(name))?;
        let disk = self.clone();
        Ok(Box::new(SimFile { disk, inode }))
    }

    fn identity(&self, name: &str) -> io::Result<FileId> {
        self.perform(Kind::Identity, |state| Ok(id(state.inode_of(name)?)))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.perform(Kind::List, |state| {
            if !state.image.has_folder(folder) {
                return Err(io::ErrorKind::NotFound.into());
            }
            let names = state.image.names.iter().filter(|(name, entry)| {
                matches!(entry, Entry::File(_)) && folder_of(name) == folder
            });
            Ok(names
                .map(|(name, _)| name.rsplit('/').next().unwrap_or(name).to_owned())
                .collect())
        })
    }

    fn create_folder(&self, folder: &str) -> io::Result<()> {
        self.perform(Kind::CreateFolder, |state| {
            let ends = folder.match_indices('/').map(|(at, _)| at);
            for end in ends.chain([folder.len()]).filter(|&end| end > 0) {
                let name = Arc::<str>::from(&folder[..end]);
                match state.image.names.get(&name) {
                    Some(Entry::Folder) => {}
                    Some(Entry::File(_)) => return Err(io::ErrorKind::AlreadyExists.into()),
                    None => {
                        state.image.names.insert(name.clone(), Entry::Folder);
                        state.log.ops.push(Op::CreateFolder { name });
                    }
                }
            }
            Ok(())
        })
    }

    fn publish(&self, from: &str, to: &str) -> io::Result<()> {
        self.perform(Kind::Publish, |state| {
            let inode = state.inode_of(from)?;
            state.free(to)?;
            state.rename(inode, from, to);
            Ok(())
        })
    }

    fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        self.perform(Kind::Exchange, |state| {
            let (first, second) = (state.inode_of(from)?, state.inode_of(to)?);
            if !state.log.exchanges {
                return Err(io::ErrorKind::Unsupported.into());
            }
            let (from, to) = (Arc::<str>::from(from), Arc::<str>::from(to));
            state.image.names.insert(to.clone(), Entry::File(first));
            state.image.names.insert(from.clone(), Entry::File(second));
            let (from, to) = ((from, second), (to, first));
            state.log.ops.push(Op::Exchange { from, to });
            Ok(())
        })
    }

    fn replace(&self, from: &str, to: &str) -> io::Result<()> {
        self.perform(Kind::Replace, |state| {
            let inode = state.inode_of(from)?;
            state.rename(inode, from, to);
            Ok(())
        })
    }

    fn link(&self, from: &str, to: &str) -> io::Result<()> {
        self.perform(Kind::Link, |state| {
            let inode = state.inode_of(from)?;
            if !state.log.links {
                return Err(io::ErrorKind::Unsupported.into());
            }
            state.free(to)?;
            let name = Arc::<str>::from(to);
            state.image.names.insert(name.clone(), Entry::File(inode));
            state.log.ops.push(Op::Link { inode, name });
            Ok(())
        })
    }

    fn check_file_system(&self, _folder: &str) -> io::Result<()> {
        let state = self.state();
        if state.log.exchanges || state.log.links {
            return Ok(());
        }
        let why = "the simulated file system can neither exchange two names nor give a file two";
        Err(io::Error::new(io::ErrorKind::Unsupported, why))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.perform(Kind::Remove, |state| {
            state.inode_of(name)?;
            state.image.names.remove(name);
            state.log.ops.push(Op::Remove { name: name.into() });
            Ok(())
        })
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        let mut state = self.state();
        if !state.image.has_folder(folder) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let name = Arc::<str>::from(folder);
        match state.strike(Kind::SyncFolder) {
            None => {
                state.log.ops.push(Op::SyncFolder { folder: name });
                Ok(())
            }
            Some(fault) => {
                state.log.ops.push(Op::SyncFolderFailed { folder: name });
                Err(fault.error())
            }
        }
    }

    fn lock(&self, name: &str, text: &str) -> Result<Box<dyn Lock>, LockError> {
        let mut state = self.state();
        if let Some(fault) = state.strike(Kind::Lock) {
            return Err(LockError::Io(fault.error()));
        }
        let key = Arc::<str>::from(name);
        if state.held.contains(&key) {
            let holder = state.image.file(name).map(|c| c.read(u64::MAX));
            let holder = String::from_utf8_lossy(&holder.unwrap_or_default()).into_owned();
            return Err(LockError::Held(holder.trim().to_owned()));
        }
        let inode = match state.inode_of(name) {
            Ok(inode) => inode,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                state.new_file(name).map_err(LockError::Io)?.0
            }
            Err(e) => return Err(LockError::Io(e)),
        };
        let content = Content::new(text.as_bytes());
        state.image.files.insert(inode, content);
        state.held.insert(key.clone());
        let (name, text) = (key.clone(), text.as_bytes().into());
        state.log.ops.push(Op::Lock { inode, name, text });
        Ok(Box::new(SimLock {
            disk: self.clone(),
            name: key,
        }))
    }

    fn free_bytes(&self) -> io::Result<Option<u64>> {
        Ok(self.state().free_bytes)
    }

    fn now(&self) -> Micros {
        let mut state = self.state();
        state.log.clock.0 += 1000;
        state.log.clock
    }

    fn random(&self) -> [u8; 16] {
        let mut state = self.state();
        let (a, b) = (state.chance.word(), state.chance.word());
        ((u128::from(a) << 64) | u128::from(b)).to_le_bytes()
    }

    fn boot_id(&self) -> [u64; 2] {
        let state = self.state();
        [state.log.seed, state.log.boot]
    }

    fn preallocation(&self) -> Preallocation {
        self.state().log.room
    }
}

impl fmt::Debug for SimDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("SimDisk")
            .field("names", &state.image.names)
            .field("operations", &state.log.ops.len())
            .finish_non_exhaustive()
    }
}

/// A held lock.
#[derive(Debug)]
struct SimLock {
    disk: SimDisk,
    name: Arc<str>,
}

impl Lock for SimLock {}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.disk.state().held.remove(&self.name);
    }
}
