//! What a writer and readers of its file in other processes tell each other: a page of cells.
//!
//! The writer says what it has answered and when, and which generation is the oldest that may still be read; each
//! reader says how often it has looked, and how often it saw something wrong. Times are of the one clock that all
//! processes share. Not here: what is wrong (`amem-peer`).

use std::fs::File;
use std::io;
use std::path::Path;

use amem_format::mapping::{Cells, Map};
use rustix::time::{ClockId, clock_gettime};

const BYTES: u64 = 4096;
/// The LSN that was answered last; all ones when the writer is done.
const ANSWERED: u64 = 0;
/// When that was.
const ANSWERED_AT: u64 = 64;
/// The oldest generation that may be read.
const OLDEST: u64 = 128;
/// For each reader, how often it has looked, and how often what it saw was wrong.
const READERS: u64 = 192;

/// The page, mapped.
#[derive(Debug)]
pub struct Board {
    cells: Cells,
    map: Map,
}

impl Board {
    /// A new one, where nothing was said.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        file.set_len(BYTES)?;
        Self::of(&file)
    }

    /// One that another process has made.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::of(&File::options().read(true).write(true).open(path)?)
    }

    fn of(file: &File) -> io::Result<Self> {
        Ok(Self {
            cells: Cells::shared(file, 0, BYTES as usize)?,
            map: Map::shared(file, BYTES)?,
        })
    }

    fn cell(&self, at: u64) -> u64 {
        self.map.load(at).unwrap_or_default()
    }

    fn set(&self, at: u64, value: u64) {
        if let Err(why) = self.cells.store(at as usize, value) {
            panic!("a cell is not stored: {why}");
        }
    }

    /// Everything up to an LSN is answered.
    pub fn answer(&self, lsn: u64) {
        self.set(ANSWERED_AT, now());
        self.set(ANSWERED, lsn);
    }

    /// The writer is done.
    pub fn finish(&self) {
        self.set(ANSWERED, u64::MAX);
    }

    /// The LSN up to which everything is answered; none once the writer is done.
    pub fn answered(&self) -> Option<u64> {
        Some(self.cell(ANSWERED)).filter(|&lsn| lsn != u64::MAX)
    }

    /// When it was, or a later answer.
    pub fn answered_at(&self) -> u64 {
        self.cell(ANSWERED_AT)
    }

    /// Older generations than this must be read no more.
    pub fn let_go_below(&self, generation: u64) {
        self.set(OLDEST, generation);
    }

    /// The oldest generation that may be read.
    pub fn oldest(&self) -> u64 {
        self.cell(OLDEST)
    }

    /// A reader has looked so often, and so much of it was wrong.
    pub fn looked(&self, reader: u64, views: u64, wrong: u64) {
        self.set(READERS + 64 * reader + 8, wrong);
        self.set(READERS + 64 * reader, views);
    }

    /// How often a reader has looked.
    pub fn views(&self, reader: u64) -> u64 {
        self.cell(READERS + 64 * reader)
    }

    /// How often what a reader saw was wrong.
    pub fn wrong(&self, reader: u64) -> u64 {
        self.cell(READERS + 64 * reader + 8)
    }
}

/// Nanoseconds since the system was started, the same in all processes.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What event `id` says: a text that no part of another one can be taken for.
pub fn text(id: u64) -> String {
    let times = 1 + id.wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize % 12;
    format!("{id} is what this event says of itself; ").repeat(times)
}
