//! Files that are written whole: the daemon's own, one version in the place of the other, and the file that a repair
//! makes of a damaged brain.
//!
//! A version is a transaction: whatever a crash leaves, the file is there with all of one version, not older than the
//! last that was answered. What a repair makes is there whole, or not at all.

use std::io;
use std::path::Path;
use std::sync::Arc;

use amem_doctor::repair::repair;
use amem_format::EventType;
use amem_format::base_builder;
use amem_format::base_builder::write_base;
use amem_store::disk::atomic_file;
use amem_store::disk::{Disk, File};
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Folder, Mutation, Request, Store};
use amemctl::atomic_file::{AtomicFile, FileError, FileSystem};
use uuid::Uuid;

use super::all::{brain, graph};
use super::flaw::Flaw;
use super::picture;
use super::process::{Phase, Process};
use super::script::time_of;
use super::trial::ATTEMPTS;
use crate::crash::{Scenario, Trace, Violation};
use crate::disk::{AnsweredBounds, SimDisk};

/// How often a file of the daemon is written.
const VERSIONS: u64 = 5;
const LIST: &str = "list";
const REPAIRED: &str = "repaired.amem";
/// What it is called until it is whole.
const TMP: &str = "repaired.amem.tmp";

/// What is written.
#[derive(Debug, Clone)]
enum What {
    /// A list, again and again.
    Versions,
    /// What is whole of these bytes.
    Repair(Vec<u8>),
}

/// A file that is written whole.
#[derive(Debug, Clone)]
pub struct WholeFile {
    /// What it is called in reports.
    pub name: &'static str,
    what: What,
    flaw: Flaw,
}

impl WholeFile {
    /// Both kinds.
    pub fn all() -> [Self; 2] {
        let of = |name, what| Self {
            name,
            what,
            flaw: Flaw::None,
        };
        [
            of("a file of the daemon", What::Versions),
            of("a repair", What::Repair(damaged())),
        ]
    }

    /// The same on a disk with a flaw.
    #[must_use]
    pub fn with_flaw(mut self, flaw: Flaw) -> Self {
        self.flaw = flaw;
        self
    }

    fn process(&self, disk: &Arc<SimDisk>) -> Arc<dyn Disk> {
        let process = Process::new(disk.clone(), self.flaw);
        process.enter(Phase::Creating);
        process.set_clock(time_of(1));
        Arc::new(process)
    }

    fn last(&self) -> u64 {
        match self.what {
            What::Versions => VERSIONS,
            What::Repair(_) => 1,
        }
    }

    fn write(&self, disk: &Arc<dyn Disk>, version: u64) -> amem_store::Result<()> {
        match &self.what {
            What::Versions => atomic_file::write(disk, "", "list.new", LIST, &bytes_of(version)),
            What::Repair(damaged) => {
                // As `amemctl repair` does it. Where a file of an earlier try is in its way it says so, and stops:
                // the process that reads that removes it.
                let failed = |action, source| amem_store::Error::Disk {
                    action,
                    name: REPAIRED.into(),
                    source,
                };
                match disk.remove(TMP) {
                    Err(e) if e.kind() != io::ErrorKind::NotFound => {
                        return Err(failed("remove", e));
                    }
                    _ => {}
                }
                let repaired = repair(damaged, Uuid::from_u128(7), time_of(1))?;
                let step = |failed_at: FileError| failed(failed_at.action, failed_at.source);
                let place = SimulatedFolder(disk.clone());
                let mut file = AtomicFile::create(place, Path::new(REPAIRED)).map_err(step)?;
                let end = write_base(&repaired.view, &repaired.options, &mut file)?;
                base_builder::journal(&repaired.options.identity, 11, end, &mut file)?;
                file.publish().map(drop).map_err(step)
            }
        }
    }

    fn work(&self, disk: &Arc<SimDisk>, trace: &Trace) -> Result<(), String> {
        let (process, found) = (self.process(disk), self.found(disk)?);
        for version in found + 1..=self.last() {
            trace.submit(version);
            self.write(&process, version).map_err(|e| e.to_string())?;
            trace.acknowledge(version);
        }
        Ok(())
    }

    /// Which version is there.
    fn found(&self, disk: &SimDisk) -> Result<u64, String> {
        match &self.what {
            What::Versions => {
                let Some(bytes) = disk.contents(LIST) else {
                    return Ok(0);
                };
                let version = (1..=VERSIONS).find(|version| bytes == bytes_of(*version));
                version.ok_or_else(|| "it is none of the versions".into())
            }
            What::Repair(_) => {
                if disk.contents(REPAIRED).is_none() {
                    return Ok(0);
                }
                let file = disk.open(REPAIRED).map_err(|e| e.to_string())?;
                picture::verify(&*file).map(|()| 1)
            }
        }
    }
}

impl Scenario for WholeFile {
    fn run(&self, disk: Arc<SimDisk>, trace: &Trace) {
        for _ in 0..ATTEMPTS {
            let Err(error) = self.work(&disk, trace) else {
                return;
            };
            let sound = self.flaw == Flaw::None && disk.struck_at().is_none();
            assert!(!sound, "on a sound disk: {error}");
        }
    }

    fn check(
        &self,
        disk: Arc<SimDisk>,
        answered: AnsweredBounds,
        trace: &Trace,
    ) -> Result<u64, Violation> {
        let found = self.found(&disk)?;
        if found < answered.must || found > answered.may {
            return Ok(found);
        }
        // No client relies on an unanswered write, so a later crash may take it away though it was seen.
        self.work(&disk, trace)?;
        match self.found(&disk)? {
            last if last == self.last() => Ok(answered.must),
            last => Err(format!("the last version is {last}").into()),
        }
    }
}

/// A version's bytes: of several sectors, each telling which version it is.
fn bytes_of(version: u64) -> Vec<u8> {
    let line = format!("version {version}\n");
    line.repeat(100 + 50 * (version as usize % 3)).into_bytes()
}

/// A brain with a commit in its journal, whose last index is damaged.
fn damaged() -> Vec<u8> {
    let made = || {
        let disk = Arc::new(SimDisk::new(3));
        let process = Process::new(disk.clone(), Flaw::None);
        process.set_clock(time_of(1));
        let folder = Folder::open(Arc::new(process), "a brain")?;
        amem_store::import(&folder, "b", &brain(), &graph())?;
        let mut store = Store::open(&folder, "b")?;
        let events = vec![NewEvent::new(EventType::FACT, "of the journal")];
        let ingest = Ingest {
            events,
            ..Ingest::default()
        };
        store.execute(Request::new(Mutation::Ingest(ingest)))?;
        let section = store
            .brain()
            .base()
            .table()
            .places
            .last()
            .map(|place| place.offset);
        Ok::<_, amem_store::Error>((disk.contents("b.amem").unwrap_or_default(), section))
    };
    let (mut bytes, section) = made().unwrap_or_else(|e| panic!("a brain: {e}"));
    let index = section.and_then(|at| bytes.get_mut(at as usize..at as usize + 8));
    index.expect("a brain has sections").fill(0x55);
    bytes
}

/// The disk as what `amemctl` makes files in.
struct SimulatedFolder(Arc<dyn Disk>);

impl SimulatedFolder {
    /// The name in the one folder that there is.
    fn name(path: &Path) -> &str {
        path.file_name()
            .and_then(|name| name.to_str())
            .unwrap_or("")
    }
}

impl FileSystem for SimulatedFolder {
    type File = Arc<dyn File>;

    fn create(&self, path: &Path) -> io::Result<Self::File> {
        self.0.create(Self::name(path))
    }

    fn write_at(&self, file: &Self::File, position: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_at(position, bytes)
    }

    fn sync(&self, file: &Self::File) -> io::Result<()> {
        file.sync()
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.publish(Self::name(from), Self::name(to))
    }

    fn sync_folder(&self, _the_one_there_is: &Path) -> io::Result<()> {
        self.0.sync_folder("")
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.remove(Self::name(path))
    }
}
