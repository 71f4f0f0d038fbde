//! What is certain to be durable at one point of a log, and what is not.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use super::choice::{AtomId, Choice, Half, Survival};
use crate::disk::{AnsweredBounds, Content, Entry, Image, Log, Op, folder_of};

/// The unit that a medium writes whole.
pub(super) const SECTOR: u64 = 512;

/// The state of the medium after some of a log's operations.
#[derive(Debug, Clone)]
pub struct Medium {
    files: BTreeMap<u64, Arc<FileState>>,
    names: Arc<BTreeMap<Arc<str>, Register>>,
    /// What had been promised by then.
    pub answered: AnsweredBounds,
}

#[derive(Debug, Clone, Default)]
struct FileState {
    /// What is certain, before `later`.
    durable: Content,
    /// What the running machine sees.
    cached: Content,
    /// Writes after that, in order. A certain one may follow an uncertain one and then covers it.
    later: Vec<Later>,
}

#[derive(Debug, Clone, Copy)]
struct Later {
    op: usize,
    certain: bool,
    /// A sync of it failed: no later one makes it certain.
    limbo: bool,
}

/// What a name stood for, in order. At least the first `certain` changes survive a crash.
#[derive(Debug, Clone, Default)]
struct Register {
    certain: usize,
    history: Vec<Atom>,
}

#[derive(Debug, Clone, Copy)]
struct Atom {
    id: AtomId,
    entry: Option<Entry>,
    /// Survives together with the other half of its operation, while both are uncertain.
    tied: bool,
    limbo: bool,
}

impl Register {
    fn pending(&self) -> &[Atom] {
        &self.history[self.certain..]
    }
}

impl Medium {
    /// The medium at a log's start.
    pub fn new(log: &Log) -> Self {
        let files = log.base.files.iter().map(|(inode, content)| {
            let file = FileState {
                durable: content.clone(),
                cached: content.clone(),
                later: Vec::new(),
            };
            (*inode, Arc::new(file))
        });
        let names = log.base.names.iter().map(|(name, entry)| {
            let atom = Atom {
                id: (0, Half::To),
                entry: Some(*entry),
                tied: false,
                limbo: false,
            };
            let register = Register {
                certain: 1,
                history: vec![atom],
            };
            (name.clone(), register)
        });
        Self {
            files: files.collect(),
            names: Arc::new(names.collect()),
            answered: log.answered,
        }
    }

    /// Notes the log's `number`-th operation, counted from 1.
    pub fn apply(&mut self, log: &Log, number: usize) {
        let Some(op) = number.checked_sub(1).and_then(|i| log.ops.get(i)) else {
            return;
        };
        self.answered.note(op);
        match op {
            Op::Create { inode, name } => {
                self.files.insert(*inode, Arc::default());
                self.change(name, (number, Half::To), Some(Entry::File(*inode)), false);
            }
            Op::Write {
                inode,
                position,
                bytes,
                ..
            } => {
                let file = self.file(*inode);
                file.cached.write(*position, bytes);
                file.later.push(Later {
                    op: number,
                    certain: false,
                    limbo: false,
                });
            }
            Op::Sync { inode, range } => self.file(*inode).settle(log, range),
            Op::SyncFailed { inode } => {
                for later in &mut self.file(*inode).later {
                    later.limbo |= !later.certain;
                }
            }
            Op::Rename { inode, from, to } => {
                let tied = log.whole_renames || folder_of(from) == folder_of(to);
                self.change(to, (number, Half::To), Some(Entry::File(*inode)), tied);
                self.change(from, (number, Half::From), None, tied);
            }
            Op::Link { inode, name } => {
                self.change(name, (number, Half::To), Some(Entry::File(*inode)), false);
            }
            Op::Exchange { from, to } => {
                self.change(&to.0, (number, Half::To), Some(Entry::File(to.1)), true);
                let entry = Some(Entry::File(from.1));
                self.change(&from.0, (number, Half::From), entry, true);
            }
            Op::Remove { name } => self.change(name, (number, Half::From), None, false),
            Op::CreateFolder { name } => {
                self.change(name, (number, Half::To), Some(Entry::Folder), false);
            }
            Op::SyncFolder { folder } => {
                for (_, register) in in_folder(&mut self.names, folder) {
                    let sure = register.history.iter().rposition(|atom| !atom.limbo);
                    register.certain = register.certain.max(sure.map_or(0, |last| last + 1));
                }
                if log.whole_renames {
                    self.settle_renames();
                }
            }
            Op::SyncFolderFailed { folder } => {
                for (_, register) in in_folder(&mut self.names, folder) {
                    let certain = register.certain;
                    for atom in &mut register.history[certain..] {
                        atom.limbo = true;
                    }
                }
            }
            Op::Lock { inode, name, text } => {
                let (durable, cached) = (Content::new(text), Content::new(text));
                let file = FileState {
                    durable,
                    cached,
                    later: Vec::new(),
                };
                self.files.insert(*inode, Arc::new(file));
                self.change(name, (number, Half::To), Some(Entry::File(*inode)), false);
                if let Some(register) = Arc::make_mut(&mut self.names).get_mut(name) {
                    register.certain = register.history.len();
                }
            }
            Op::Protect { .. } | Op::Submitted(_) | Op::Answered(_) => {}
        }
    }

    fn file(&mut self, inode: u64) -> &mut FileState {
        Arc::make_mut(self.files.entry(inode).or_default())
    }

    fn change(&mut self, name: &Arc<str>, id: AtomId, entry: Option<Entry>, tied: bool) {
        let names = Arc::make_mut(&mut self.names);
        let register = names.entry(name.clone()).or_default();
        register.history.push(Atom {
            id,
            entry,
            tied,
            limbo: false,
        });
    }

    /// Makes certain what is tied to what is, and all that came before: where one half of a rename is durable, the
    /// other is, even if a sync of its folder failed.
    fn settle_renames(&mut self) {
        loop {
            let certain = |register: &Register| register.history[..register.certain].to_vec();
            let sure: BTreeSet<_> = self
                .names
                .values()
                .flat_map(certain)
                .filter(|atom| atom.tied && !atom.limbo)
                .map(|atom| atom.id.0)
                .collect();
            let mut settled = true;
            for register in Arc::make_mut(&mut self.names).values_mut() {
                let tied = |atom: &Atom| atom.tied && sure.contains(&atom.id.0);
                let last = register.history.iter().rposition(tied);
                let certain = last.map_or(0, |last| last + 1);
                if certain > register.certain {
                    (register.certain, settled) = (certain, false);
                }
            }
            if settled {
                return;
            }
        }
    }

    /// The changes of names that are not certain, in the order of the log.
    pub fn uncertain_names(&self) -> BTreeSet<AtomId> {
        let pending = self.names.values().flat_map(Register::pending);
        pending.map(|atom| atom.id).collect()
    }

    /// The smallest set that can survive together and has all of `wanted`.
    pub fn with_what_they_need(&self, wanted: &BTreeSet<AtomId>) -> BTreeSet<AtomId> {
        let uncertain = self.uncertain_names();
        let mut kept: BTreeSet<_> = wanted.intersection(&uncertain).copied().collect();
        loop {
            let before = kept.len();
            for register in self.names.values() {
                let pending = register.pending();
                let last = pending.iter().rposition(|atom| kept.contains(&atom.id));
                for atom in &pending[..last.map_or(0, |last| last + 1)] {
                    kept.insert(atom.id);
                    let (op, half) = atom.id;
                    let other = match half {
                        Half::To => (op, Half::From),
                        Half::From => (op, Half::To),
                    };
                    if atom.tied && uncertain.contains(&other) {
                        kept.insert(other);
                    }
                }
            }
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// The names there are if these changes survived.
    pub fn names(&self, kept: &BTreeSet<AtomId>) -> BTreeMap<Arc<str>, Entry> {
        let mut names = BTreeMap::<Arc<str>, Entry>::new();
        for (name, register) in self.names.iter() {
            let pending = register.pending();
            let last = pending.iter().rposition(|atom| kept.contains(&atom.id));
            let changes = register.certain + last.map_or(0, |last| last + 1);
            let folder = folder_of(name);
            // A folder sorts before what is in it.
            let reachable = folder.is_empty() || names.get(folder) == Some(&Entry::Folder);
            let entry = changes
                .checked_sub(1)
                .and_then(|i| register.history[i].entry);
            if let (true, Some(entry)) = (reachable, entry) {
                names.insert(name.clone(), entry);
            }
        }
        names
    }

    /// The uncertain writes to files that have one of these names, in the order of the log.
    pub fn uncertain_writes(&self, names: &BTreeMap<Arc<str>, Entry>) -> Vec<usize> {
        let mut inodes = BTreeSet::new();
        for entry in names.values() {
            if let Entry::File(inode) = entry {
                inodes.insert(*inode);
            }
        }
        let files = inodes.iter().filter_map(|inode| self.files.get(inode));
        let later = files.flat_map(|file| file.later.iter().filter(|later| !later.certain));
        let mut writes: Vec<_> = later.map(|later| later.op).collect();
        writes.sort_unstable();
        writes
    }

    /// What a choice leaves. Choices of what is certain or unknown here change nothing.
    pub fn image(&self, log: &Log, choice: &Choice) -> Image {
        let (names, data) = if choice.kill {
            (self.names(&self.uncertain_names()), None)
        } else {
            let kept = self.with_what_they_need(&choice.names);
            (self.names(&kept), Some(choice.data.as_slice()))
        };
        let mut files = BTreeMap::new();
        for entry in names.values() {
            if let Entry::File(inode) = entry
                && let Some(file) = self.files.get(inode)
            {
                files.entry(*inode).or_insert_with(|| file.after(log, data));
            }
        }
        Image { names, files }
    }
}

impl FileState {
    /// A sync of a range succeeded. What was only partly in it is no more certain than before.
    fn settle(&mut self, log: &Log, range: &Range<u64>) {
        for later in &mut self.later {
            let within = write_at(log, later.op).is_some_and(|(position, bytes)| {
                range.start <= position && position + bytes.len() as u64 <= range.end
            });
            later.certain |= within && !later.limbo;
        }
        let sure = self.later.iter().take_while(|later| later.certain).count();
        for later in self.later.drain(..sure) {
            if let Some((position, bytes)) = write_at(log, later.op) {
                self.durable.write(position, bytes);
            }
        }
    }

    /// The content if of the uncertain writes these survived; `None` means all.
    fn after(&self, log: &Log, data: Option<&[(usize, Survival)]>) -> Content {
        let Some(data) = data else {
            return self.cached.clone();
        };
        let kept = |later: &Later| {
            let found = data.binary_search_by_key(&later.op, |(op, _)| *op);
            found.ok().map(|i| &data[i].1)
        };
        let whole = |later: &Later| later.certain || kept(later) == Some(&Survival::All);
        if self.later.iter().all(whole) {
            return self.cached.clone();
        }
        let mut content = self.durable.clone();
        for later in &self.later {
            let Some((position, bytes)) = write_at(log, later.op) else {
                continue;
            };
            match kept(later) {
                _ if later.certain => content.write(position, bytes),
                None => {}
                Some(Survival::All) => content.write(position, bytes),
                Some(Survival::Some { sectors, length }) => {
                    for &(first, last) in sectors {
                        let (from, to) = part(position, bytes.len(), first, last);
                        content.write(position + from as u64, &bytes[from..to]);
                    }
                    if *length {
                        content.grow(position + bytes.len() as u64);
                    }
                }
            }
        }
        content
    }
}

/// The number of sectors a write touches.
pub(super) fn sectors(position: u64, len: usize) -> u32 {
    let last = (position + (len as u64).saturating_sub(1)) / SECTOR;
    (last - position / SECTOR + 1) as u32
}

/// Which of a write's bytes are in its sectors `first..=last`.
fn part(position: u64, len: usize, first: u32, last: u32) -> (usize, usize) {
    let edge =
        |sector: u64| ((position / SECTOR + sector) * SECTOR).saturating_sub(position) as usize;
    let to = edge(u64::from(last) + 1).min(len);
    (edge(u64::from(first)).min(to), to)
}

/// Position and bytes of a write, by its number.
pub(super) fn write_at(log: &Log, number: usize) -> Option<(u64, &[u8])> {
    match log.ops.get(number.checked_sub(1)?)? {
        Op::Write {
            position, bytes, ..
        } => Some((*position, bytes)),
        _ => None,
    }
}

fn in_folder<'a>(
    names: &'a mut Arc<BTreeMap<Arc<str>, Register>>,
    folder: &'a str,
) -> impl Iterator<Item = (&'a Arc<str>, &'a mut Register)> {
    let all = Arc::make_mut(names).iter_mut();
    all.filter(move |(name, _)| folder_of(name) == folder)
}
