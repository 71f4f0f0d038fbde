//! A small store, right and in many ways wrong, to prove the proof.
//!
//! One file: a header sector (generation, epoch, base count, checksum), a base of eight bytes per transaction,
//! then from a 4 KiB boundary on frames. A transaction is two frames; the first says that more follows.

use std::io;
use std::sync::Arc;

use amem_store::disk::{Disk, File};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::scenario::{Scenario, Trace};
use super::violation::{Breach, Violation};
use crate::disk::{AnsweredBounds, SimDisk};

const NAME: &str = "toy";
const TMP: &str = "tmp";
const FRAMES_BYTES: u64 = 16 * 1024;
const FRAME_HEADER: usize = 40;

/// What is done wrongly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Nothing.
    None,
    /// Commits are never synced.
    CommitNotSynced,
    /// The answer is given before the sync.
    AnswerBeforeSync,
    /// A new file is published and its folder not synced.
    FolderNotSyncedAfterPublish,
    /// Instead of the folder that got the name, the one that lost it is synced.
    OtherFolderSynced,
    /// After an exchange the folder is not synced.
    FolderNotSyncedAfterExchange,
    /// The names are exchanged first, then the new file is synced.
    ExchangeBeforeSync,
    /// The old file is removed, then the new one published.
    RemoveThenPublish,
    /// A checkpoint rewrites header and base where they are.
    BaseInPlace,
    /// A checkpoint forgets the frames that came while it wrote.
    YoungerFramesForgotten,
    /// Frames have no checksum.
    NoChecksum,
    /// Recovery leaves the old tail where it should zero it.
    TailNotZeroed,
    /// Checksums aren't chained where they should be.
    Unchained,
    /// The first half of a transaction counts.
    HalfTransaction,
    /// Recovery believes the live cell.
    CellBelieved,
    /// Recovery shows what it found in the cache, unsynced.
    RecoveryNotSynced,
    /// Recovery makes the file durable in place, but not its name.
    RecoveryFolderNotSynced,
    /// Recovery syncs the file in place, which a failed sync before makes worthless.
    RecoveryInPlace,
    /// A failed sync is tried again.
    SyncRetried,
    /// A failed sync is ignored.
    SyncErrorIgnored,
    /// A failed write is ignored.
    WriteErrorIgnored,
    /// A failed folder sync is ignored.
    FolderErrorIgnored,
}

/// What keeps an old tail, frames that came through a crash behind one that did not, from going on behind new frames.
/// A retry may have the bytes of the first try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Guard {
    /// Recovery copies what is whole into a new file.
    Copy,
    /// Recovery zeroes the tail, and nothing else does it: checksums aren't chained.
    Zeros,
    /// The tail stays, and does not continue the chain: each frame says which process wrote it.
    Chain,
}

/// So many transactions, synced in groups, with a checkpoint after every few groups.
pub(super) struct Toy {
    pub(super) flaw: Flaw,
    pub(super) guard: Guard,
    pub(super) transactions: u64,
    pub(super) group: u64,
    pub(super) checkpoint_every: u64,
}

struct Store {
    disk: Arc<dyn Disk>,
    file: Arc<dyn File>,
    flaw: Flaw,
    guard: Guard,
    /// Which process this is, if frames say so.
    process: u64,
    generation: u64,
    /// Where the next frame goes.
    end: u64,
    /// The checksum of the frame before.
    chain: u64,
    count: u64,
    /// Opened with the first half of a transaction and not the second.
    half: bool,
}

/// A file that was read.
#[derive(Default)]
struct Contents {
    generation: u64,
    end: u64,
    chain: u64,
    count: u64,
    half: bool,
}

/// A transaction's value.
fn value(n: u64) -> u64 {
    xxh3_64(&n.to_le_bytes())
}

fn frames_at(base_count: u64) -> u64 {
    (512 + 8 * base_count).next_multiple_of(4096)
}

fn word(bytes: &[u8], at: usize) -> u64 {
    let word = bytes.get(at..at + 8).map(<[u8; 8]>::try_from);
    word.map_or(0, |word| word.map_or(0, u64::from_le_bytes))
}

/// Whether a checksum goes on from the one before.
fn is_chained(flaw: Flaw, guard: Guard) -> bool {
    guard != Guard::Zeros && flaw != Flaw::Unchained
}

/// A frame: length, transaction, `more`, checksum, process, then its value over and over, 600 bytes and more. It
/// continues `chain`, if there is one.
fn frame(chain: Option<u64>, process: u64, n: u64, more: bool) -> (Vec<u8>, u64) {
    let len = FRAME_HEADER + 600 + 8 * (n % 3) as usize;
    let mut bytes = Vec::with_capacity(len);
    for field in [len as u64, n, u64::from(more), 0, process] {
        bytes.extend(field.to_le_bytes());
    }
    while bytes.len() < len {
        bytes.extend(value(n).to_le_bytes());
    }
    let sum = checksum(chain, &bytes);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
    (bytes, sum)
}

fn checksum(chain: Option<u64>, frame: &[u8]) -> u64 {
    let mut zeroed = frame.to_vec();
    zeroed[24..32].fill(0);
    xxh3_64_with_seed(&zeroed, chain.unwrap_or_default())
}

fn header(generation: u64, epoch: u64, count: u64, base: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [0x0059_4F54, generation, epoch, count, xxh3_64(base)] {
        bytes.extend(u64::to_le_bytes(field));
    }
    bytes.extend(xxh3_64(&bytes).to_le_bytes());
    bytes.resize(512, 0);
    bytes
}

/// Reads a file up to its first bad frame; `Err` if its base is damaged.
fn read(flaw: Flaw, guard: Guard, file: &dyn File) -> Result<Contents, String> {
    let text = |e: io::Error| e.to_string();
    let len = file.len().map_err(text)?;
    let map = file.map(len).map_err(text)?;
    let bytes = map.slice(0, len).unwrap_or_default();
    let base_count = word(bytes, 24);
    let base = bytes.get(512..512 + 8 * base_count.min(1 << 20) as usize);
    let base = base.ok_or("the base is cut off")?;
    if word(bytes, 40) != xxh3_64(&bytes[..40]) || word(bytes, 32) != xxh3_64(base) {
        return Err("the base is damaged".into());
    }
    if (0..base_count).any(|i| word(base, 8 * i as usize) != value(i + 1)) {
        return Err("the base holds other transactions".into());
    }
    let (mut at, mut chain, mut count) = (frames_at(base_count), word(bytes, 16), base_count);
    let mut contents = Contents {
        generation: word(bytes, 8),
        end: at,
        chain,
        count,
        half: false,
    };
    let committed = word(bytes, 128);
    loop {
        let start = at as usize;
        let frame_len = word(bytes, start) as usize;
        let Some(frame) = bytes.get(start..start.saturating_add(frame_len)) else {
            break;
        };
        let stop = flaw == Flaw::CellBelieved && at >= committed;
        let sum = word(frame, 24);
        let before = is_chained(flaw, guard).then_some(chain);
        let valid = flaw == Flaw::NoChecksum || sum == checksum_of(before, frame);
        if frame.len() <= FRAME_HEADER || word(frame, 8) != count + 1 || !valid || stop {
            break;
        }
        (at, chain) = (at + frame_len as u64, sum);
        if frame[FRAME_HEADER..]
            .chunks(8)
            .any(|v| word(v, 0) != value(count + 1))
        {
            return Err(format!("transaction {} has a wrong value", count + 1));
        }
        let half = word(frame, 16) == 1;
        count += u64::from(!half);
        if !half || flaw == Flaw::HalfTransaction {
            contents = Contents {
                end: at,
                chain,
                count,
                half,
                ..contents
            };
        }
    }
    Ok(contents)
}

fn checksum_of(chain: Option<u64>, frame: &[u8]) -> u64 {
    match frame.len() {
        0..FRAME_HEADER => 0,
        _ => checksum(chain, frame),
    }
}

impl Store {
    /// Opens the store, or makes one. Unless another guard is asked for it is copied into a new file: the old one may
    /// be in the cache only.
    fn open(disk: Arc<dyn Disk>, flaw: Flaw, guard: Guard) -> Result<Self, String> {
        let text = |e: io::Error| e.to_string();
        disk.create_folder(TMP).map_err(text)?;
        for name in disk.list(TMP).map_err(text)? {
            disk.remove(&format!("{TMP}/{name}")).map_err(text)?;
        }
        let old = match disk.open(NAME) {
            Ok(file) => Some((read(flaw, guard, &*file)?, file)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return Err(text(e)),
        };
        let exists = old.is_some();
        let (contents, file) = match old {
            Some(old) => old,
            None => {
                let file = disk.create(&format!("{TMP}/first")).map_err(text)?;
                (Contents::default(), file)
            }
        };
        let mut store = Self::of(disk, file, (flaw, guard), &contents);
        let in_place = [
            Flaw::RecoveryNotSynced,
            Flaw::RecoveryFolderNotSynced,
            Flaw::RecoveryInPlace,
        ];
        if !exists {
            store
                .fill(&*store.file.clone(), store.count)
                .map_err(text)?;
            store.file.sync().map_err(text)?;
            store.disk.publish("tmp/first", NAME).map_err(text)?;
            match flaw {
                Flaw::FolderNotSyncedAfterPublish => {}
                Flaw::OtherFolderSynced => store.sync_folder(TMP).map_err(text)?,
                _ => store.sync_folder("").map_err(text)?,
            }
        } else if guard != Guard::Copy || in_place.contains(&flaw) {
            if guard != Guard::Chain && flaw != Flaw::TailNotZeroed {
                let len = store.file.len().map_err(text)?;
                let zeros = vec![0; len.saturating_sub(store.end) as usize];
                store.file.write_at(store.end, &zeros).map_err(text)?;
            }
            if flaw != Flaw::RecoveryNotSynced {
                store.file.sync().map_err(text)?;
            }
            if flaw != Flaw::RecoveryFolderNotSynced {
                store.sync_folder("").map_err(text)?;
            }
        } else {
            store.checkpoint(|_| Ok(())).map_err(text)?;
        }
        Ok(store)
    }

    fn of(
        disk: Arc<dyn Disk>,
        file: Arc<dyn File>,
        (flaw, guard): (Flaw, Guard),
        contents: &Contents,
    ) -> Self {
        let process = match guard {
            Guard::Chain => word(&disk.random(), 0),
            Guard::Copy | Guard::Zeros => 0,
        };
        Self {
            disk,
            file,
            flaw,
            guard,
            process,
            generation: contents.generation,
            end: contents.end,
            chain: contents.chain,
            count: contents.count,
            half: contents.half,
        }
    }

    /// Writes header, base and room for frames.
    fn fill(&mut self, file: &dyn File, count: u64) -> io::Result<()> {
        let base: Vec<u8> = (1..=count).flat_map(|n| value(n).to_le_bytes()).collect();
        self.generation += 1;
        self.chain = word(&self.disk.random(), 0);
        self.end = frames_at(count);
        file.write_at(512, &base)?;
        let room = vec![0; (FRAMES_BYTES + self.end - 512) as usize - base.len()];
        file.write_at(512 + base.len() as u64, &room)?;
        file.write_at(0, &header(self.generation, self.chain, count, &base))
    }

    fn append(&mut self, n: u64) -> io::Result<()> {
        for more in [true, false] {
            let chain = is_chained(self.flaw, self.guard).then_some(self.chain);
            let (bytes, sum) = frame(chain, self.process, n, more);
            match self.file.write_at(self.end, &bytes) {
                Err(e) if self.flaw != Flaw::WriteErrorIgnored => return Err(e),
                _ => {}
            }
            self.end += bytes.len() as u64;
            self.chain = sum;
        }
        self.count = n;
        Ok(())
    }

    /// Commits all up to `last` as one group.
    fn commit(&mut self, last: u64, trace: &Trace) -> io::Result<()> {
        trace.submit(last);
        for n in self.count + 1..=last {
            self.append(n)?;
        }
        if self.flaw == Flaw::AnswerBeforeSync {
            trace.acknowledge(last);
        }
        if self.flaw != Flaw::CommitNotSynced {
            match (self.file.sync(), self.flaw) {
                (Err(_), Flaw::SyncRetried) => self.file.sync()?,
                (Err(_), Flaw::SyncErrorIgnored) | (Ok(()), _) => {}
                (Err(e), _) => return Err(e),
            }
        }
        self.file.store_cell(0, 128, self.end)?;
        trace.acknowledge(last);
        Ok(())
    }

    /// Makes a new file of all transactions; `meanwhile` commits to the old one while it is written.
    fn checkpoint(
        &mut self,
        meanwhile: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.flaw == Flaw::BaseInPlace {
            let file = self.file.clone();
            self.fill(&*file, self.count)?;
            return self.file.sync();
        }
        let name = format!("{TMP}/{:x}", word(&self.disk.random(), 0));
        let file = self.disk.create(&name)?;
        let base_count = self.count;
        let old = (self.generation, self.end, self.chain);
        self.fill(&*file, base_count)?;
        let new = (self.generation, self.end, self.chain);
        (self.generation, self.end, self.chain) = old;
        file.sync()?;
        meanwhile(self)?;
        (self.generation, self.end, self.chain) = new;
        let old = std::mem::replace(&mut self.file, file);
        let younger = base_count + 1..=self.count;
        if self.flaw == Flaw::YoungerFramesForgotten {
            self.count = base_count;
        } else {
            for n in younger {
                self.append(n)?;
            }
        }
        match self.flaw {
            Flaw::ExchangeBeforeSync => {}
            _ => self.file.sync()?,
        }
        if self.flaw == Flaw::RemoveThenPublish {
            self.disk.remove(NAME)?;
            self.disk.publish(&name, NAME)?;
            self.sync_folder("")?;
            return Ok(());
        }
        let exchanged = match self.disk.exchange(&name, NAME) {
            Err(e) if e.kind() == io::ErrorKind::Unsupported => {
                self.disk.replace(&name, NAME)?;
                false
            }
            done => done.map(|()| true)?,
        };
        if self.flaw != Flaw::FolderNotSyncedAfterExchange {
            self.sync_folder("")?;
        }
        if self.flaw == Flaw::ExchangeBeforeSync {
            self.file.sync()?;
        }
        drop(old);
        if exchanged {
            self.disk.remove(&name)?;
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &str) -> io::Result<()> {
        match self.disk.sync_folder(folder) {
            Err(e) if self.flaw != Flaw::FolderErrorIgnored => Err(e),
            _ => Ok(()),
        }
    }
}

impl Toy {
    fn work(&self, disk: &Arc<SimDisk>, trace: &Trace) -> Result<(), String> {
        let text = |e: io::Error| e.to_string();
        let mut store = Store::open(disk.clone(), self.flaw, self.guard)?;
        while store.count < self.transactions {
            let last = store.count + self.group;
            store.commit(last, trace).map_err(text)?;
            if last.is_multiple_of(self.checkpoint_every * self.group) {
                let more = |store: &mut Store| store.commit(last + 1, trace);
                store.checkpoint(more).map_err(text)?;
            }
        }
        Ok(())
    }
}

impl Scenario for Toy {
    fn run(&self, disk: Arc<SimDisk>, trace: &Trace) {
        // Poisoned once, it recovers; twice, it gives up.
        if self.work(&disk, trace).is_err() {
            self.work(&disk, trace).unwrap_or_default();
        }
    }

    fn check(
        &self,
        disk: Arc<SimDisk>,
        answered: AnsweredBounds,
        trace: &Trace,
    ) -> Result<u64, Violation> {
        let text = |e: io::Error| e.to_string();
        let open = || Store::open(disk.clone(), self.flaw, self.guard);
        let open = || open().map_err(|why| Breach::Unopened.of(why));
        let mut store = open()?;
        if store.half {
            return Err(format!("half of transaction {} is there", store.count + 1).into());
        }
        let found = store.count;
        if found < answered.must || found > answered.may {
            return Ok(found);
        }
        trace.acknowledge(found);
        store.commit(found + 1, trace).map_err(text)?;
        drop(store);
        let again = open()?.count;
        if again != found + 1 {
            let breach = if again > found {
                Breach::Unasked
            } else {
                Breach::Lost
            };
            return Err(breach.of(format!(
                "{found} transactions and one more are {again} when opened again"
            )));
        }
        Ok(found)
    }
}
