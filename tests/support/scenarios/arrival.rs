//! A foreign file that becomes a brain: put into the folder, received from elsewhere, or restored from what was kept.
//!
//! Transaction 1: the file is there, durably (of one that is received, the sender has it). 2: it is a brain. 3:
//! something was committed to that brain; or, where its owner goes on to write to the file that was adopted, that is
//! durable, and the commit is the fourth. Whatever a crash leaves, all of the file is in the brain, or still in the
//! file.

use std::sync::Arc;

use amem_format::view::View;
use amem_format::{EventType, NodeId};
use amem_interop::foreign::{CompatOptions, write_compatible};
use amem_store::disk::{Disk, File};
use amem_store::folder::{CONFLICTS, TMP};
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Error, Folder, IncomingFile, Mutation, Request, Store, quarantine};
use amem_store::{OriginalFile, Ownership};

use super::all::{brain, graph};
use super::flaw::Flaw;
use super::picture;
use super::process::{Phase, Process};
use super::script::{id_of, time_of};
use super::trial::{ATTEMPTS, PUT, note};
use super::with_our_folders;
use crate::crash::{Scenario, Trace, Violation};
use crate::disk::{AnsweredBounds, SimDisk};

const NAME: &str = "b";
const FILE: &str = "b.amem";
/// The file of one that was kept.
const KEPT: &str = "conflicts/b-1700000000000000.amem";
/// What is written late.
const LATE: &[u8] = b"written when it was a brain already";
/// Says that it was written, durably.
const WRITTEN: &str = "written";

/// How a file comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Another process writes it under the brain's name.
    Placed,
    /// It comes by a call, in parts.
    Received,
    /// It was quarantined.
    Kept,
}

/// A file that becomes a brain.
#[derive(Debug)]
pub struct Arrival {
    /// What it is called in reports.
    pub name: String,
    way: Way,
    bytes: Vec<u8>,
    exchanges: bool,
    /// Another process writes to the file when it is a brain already.
    late: bool,
    flaw: Flaw,
    /// What the brain shows before and after the commit.
    pictures: [Vec<u8>; 2],
}

impl Arrival {
    /// Every way with every layout, and some on a file system that cannot exchange names.
    pub fn all() -> Vec<Self> {
        let files = [("native", native()), ("reference", reference())];
        let mut out = Vec::new();
        for (way, how) in [
            (Way::Placed, "put into the folder"),
            (Way::Received, "received"),
            (Way::Kept, "restored"),
        ] {
            for (layout, bytes) in &files {
                out.push(Self::new(
                    format!("a {layout} file, {how}"),
                    way,
                    bytes.clone(),
                ));
            }
        }
        let mut placed = Self::new(
            "a native file, put into the folder, no exchange".into(),
            Way::Placed,
            native(),
        );
        placed.exchanges = false;
        out.push(placed);
        out
    }

    /// Files that another process is still writing to when they are brains already.
    pub fn late() -> Vec<Self> {
        let ways = [("", true), (", no exchange", false)];
        let late = ways.into_iter().map(|(how, exchanges)| {
            let name = format!("a file that is written to late{how}");
            let mut late = Self::new(name, Way::Placed, native());
            (late.late, late.exchanges) = (true, exchanges);
            late
        });
        late.collect()
    }

    /// The number of the commit.
    fn commit(&self) -> u64 {
        3 + u64::from(self.late)
    }

    /// The same on a disk with a flaw.
    #[must_use]
    pub fn with_flaw(mut self, flaw: Flaw) -> Self {
        self.flaw = flaw;
        self
    }

    fn new(name: String, way: Way, bytes: Vec<u8>) -> Self {
        let mut arrival = Self {
            name,
            way,
            bytes,
            exchanges: true,
            late: false,
            flaw: Flaw::None,
            pictures: Default::default(),
        };
        // The truth: undisturbed.
        let disk = Arc::new(SimDisk::new(0));
        let trace = Trace::new(&disk);
        let played = arrival.put(&disk).map_err(|e| e.to_string()).and_then(|_| {
            let (process, folder) = arrival.begin(&disk).map_err(|e| e.to_string())?;
            drop(arrival.arrive(&folder, &trace).map_err(|e| e.to_string())?);
            let mut store = Store::open(&folder, NAME).map_err(|e| e.to_string())?;
            let before = drawn(&store.view())?;
            process.set_clock(time_of(3));
            store.execute(fact()).map_err(|e| e.to_string())?;
            Ok([before, drawn(&store.view())?])
        });
        arrival.pictures = played.unwrap_or_else(|e| panic!("{}: {e}", arrival.name));
        arrival
    }

    /// Another process puts the file where it is found.
    fn put(&self, disk: &SimDisk) -> std::io::Result<Option<Arc<dyn File>>> {
        let (folder, path) = match self.way {
            Way::Received => return Ok(None),
            Way::Placed => ("", FILE.to_owned()),
            Way::Kept => {
                disk.create_folder(CONFLICTS)?;
                disk.sync_folder("")?;
                disk.sync_folder(".amemd")?;
                (CONFLICTS, format!(".amemd/{KEPT}"))
            }
        };
        let file = disk.create(&path)?;
        for (at, part) in self.bytes.chunks(4096).enumerate() {
            file.write_at(4096 * at as u64, part)?;
        }
        file.sync()?;
        disk.sync_folder(folder)?;
        note(disk, PUT, b"")?;
        Ok(Some(file))
    }

    fn begin(&self, disk: &Arc<SimDisk>) -> Result<(Process, Folder), Error> {
        let process = Process::new(disk.clone(), self.flaw);
        process.set_clock(time_of(1));
        let folder = Folder::open(Arc::new(process.clone()), "an arrival")?;
        let left = disk.list(TMP).unwrap_or_default();
        assert!(left.is_empty(), "unfinished files are left: {left:?}");
        process.enter(Phase::Creating);
        Ok((process, folder))
    }

    /// Makes the brain if there is none yet.
    fn arrive(&self, folder: &Folder, trace: &Trace) -> Result<Option<OriginalFile>, Error> {
        trace.submit(2);
        match (amem_store::ownership(folder, NAME), self.way) {
            (Ok(Ownership::Own), _) => Ok(None),
            (Ok(Ownership::Untracked(stamp)), _) => {
                Ok(amem_store::adopt(folder, NAME, stamp, false)?.1)
            }
            (Ok(Ownership::Missing), Way::Received) => {
                let mut incoming = IncomingFile::begin(folder, NAME, self.bytes.len() as u64)?;
                for part in self.bytes.chunks(5000) {
                    incoming.push(part)?;
                }
                incoming.finish(false).map(|_| None)
            }
            (Ok(Ownership::Missing), Way::Kept) => {
                quarantine::restore(folder, KEPT, NAME, false).map(|_| None)
            }
            (Ok(_), _) => Err(Error::NotFound { name: NAME.into() }),
            (Err(e), _) => Err(e),
        }
    }

    fn work(
        &self,
        disk: &Arc<SimDisk>,
        trace: &Trace,
        written: Option<&dyn File>,
    ) -> Result<(), Error> {
        let (process, folder) = self.begin(disk)?;
        let original = self.arrive(&folder, trace)?;
        process.enter(Phase::Opening);
        let mut store = Store::open(&folder, NAME)?;
        trace.acknowledge(2);
        if self.way == Way::Kept {
            match quarantine::discard(&folder, KEPT) {
                Ok(()) | Err(Error::NotQuarantined { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        process.enter(Phase::Working);
        // Once its original is settled, the file has no name any more that anybody could look for.
        if let (true, Some(file), Some(_)) = (self.late, written, &original) {
            trace.submit(3);
            let done = file.write_at(self.bytes.len() as u64, LATE);
            match done.and_then(|()| file.sync()) {
                Ok(()) => {
                    trace.acknowledge(3);
                    // A client that could not note it does not ask for it.
                    drop(note(disk, WRITTEN, b""));
                }
                // The writing process knows of it.
                Err(_) if disk.struck_at().is_some() => {}
                Err(e) => panic!("another process writes: {e}"),
            }
        }
        if let Some(original) = original {
            original.finalise()?;
        }
        process.set_clock(time_of(3));
        trace.submit(self.commit());
        store.execute(fact())?;
        trace.acknowledge(self.commit());
        store.close()
    }

    /// How many transactions the brain shows.
    fn judge(&self, view: &View) -> Result<u64, String> {
        let drawn = drawn(view)?;
        match self.pictures.iter().position(|picture| *picture == drawn) {
            Some(0) => Ok(2),
            Some(_) => Ok(self.commit()),
            None => Err(format!(
                "the brain shows something else: {} events at {:?}",
                view.nodes(),
                view.moment()
            )),
        }
    }

    /// What is there where no brain is: nothing, or the file; it must do.
    fn found_file(&self, disk: &Arc<SimDisk>, answered: AnsweredBounds) -> u64 {
        let path = match self.way {
            Way::Received => return answered.may.min(1),
            Way::Placed => FILE.to_owned(),
            Way::Kept => format!(".amemd/{KEPT}"),
        };
        u64::from(disk.contents(&path).as_deref() == Some(&self.bytes))
    }

    /// What another process wrote late stays somewhere, whatever becomes of the brain.
    fn check_late(disk: &SimDisk) -> Result<(), String> {
        if disk.contents(WRITTEN).is_some() && disk.files_with(LATE).is_empty() {
            return Err("what was written late is gone".into());
        }
        Ok(())
    }

    fn check_kept(&self, disk: &SimDisk, answered: AnsweredBounds) -> Result<(), String> {
        let is_put = self.way == Way::Received || disk.contents(PUT).is_some();
        if self.late || answered.must == 0 || !is_put {
            // It was never, or does not stay, what it was; or a power cut took what was not synced of it.
            return Ok(());
        }
        for name in disk.list(CONFLICTS).unwrap_or_default() {
            let path = format!("{CONFLICTS}/{name}");
            let kept = disk.contents(&path).unwrap_or_default();
            if path != format!(".amemd/{KEPT}") && kept != self.bytes {
                let same = kept
                    .iter()
                    .zip(&self.bytes)
                    .take_while(|(kept, came)| kept == came);
                return Err(format!(
                    "{path} is kept, and is not the file that came: {} bytes, of {} the first {} are the same",
                    kept.len(),
                    self.bytes.len(),
                    same.count()
                ));
            }
        }
        Ok(())
    }
}

impl Scenario for Arrival {
    fn disk(&self, seed: u64) -> SimDisk {
        let mut disk = SimDisk::new(seed);
        if self.late {
            disk = with_our_folders(disk);
        }
        if self.exchanges {
            disk
        } else {
            disk.without_exchange()
        }
    }

    fn run(&self, disk: Arc<SimDisk>, trace: &Trace) {
        trace.submit(1);
        let Ok(written) = self.put(&disk) else {
            // The process that put it there knows.
            return;
        };
        trace.acknowledge(1);
        for _ in 0..ATTEMPTS {
            let Err(error) = self.work(&disk, trace, written.as_deref()) else {
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
        let words = |e: Error| e.to_string();
        let (process, folder) = self.begin(&disk).map_err(words)?;
        let standing = amem_store::ownership(&folder, NAME);
        let file = self.found_file(&disk, answered);
        let before = disk.contents(FILE);
        match self.arrive(&folder, trace) {
            Ok(original) => drop(original),
            Err(e) if file == 1 => {
                return Err(format!("the file does not become a brain: {e}").into());
            }
            Err(_) => {
                // Half a file, or none: without an owner, and unchanged.
                let same = disk.contents(FILE) == before;
                return same
                    .then_some(0)
                    .ok_or_else(|| Violation::from("what was no brain was touched"));
            }
        }
        process.enter(Phase::Opening);
        let mut store = Store::open(&folder, NAME).map_err(words)?;
        let shown = match self.judge(&store.view()) {
            Ok(shown) => shown,
            // A copy that was cut off is a brain up to there, and the file was never whole.
            Err(_) if answered.must == 0 && self.way != Way::Received => return Ok(0),
            Err(e) => return Err(e.into()),
        };
        let found = match standing {
            Ok(Ownership::Own) if shown == 2 && !disk.files_with(LATE).is_empty() => 3,
            Ok(Ownership::Own) => shown,
            // A brain of ours in a folder that has lost its id, as a sync failed when that was made: it was adopted
            // again. Or a copy that was cut off behind its last frame.
            Ok(Ownership::Untracked(_)) if before.as_ref() != Some(&self.bytes) => {
                shown.min(answered.may)
            }
            _ => file,
        };
        Self::check_late(&disk)?;
        process.enter(Phase::Working);
        process.set_clock(time_of(3));
        trace.submit(self.commit());
        let answer = store.execute(fact()).map_err(words)?;
        if answer.replayed != (shown == self.commit()) {
            return Err(format!("answered {answer:?} at {shown}").into());
        }
        trace.acknowledge(self.commit());
        self.check_kept(&disk, answered)?;
        if found.is_multiple_of(2) {
            store.close().map_err(words)?;
        } else {
            process.kill();
            drop(store);
        }
        drop(folder);
        let (_process, folder) = self.begin(&disk).map_err(words)?;
        let store = Store::open(&folder, NAME).map_err(words)?;
        match self.judge(&store.view())? {
            shown if shown == self.commit() => {}
            other => return Err(format!("opened again, it shows {other}").into()),
        }
        Self::check_late(&disk)?;
        let file = disk.open(FILE).map_err(|e| e.to_string())?;
        picture::verify(&*file)?;
        Ok(found)
    }
}

fn drawn(view: &View) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    picture::graph(view, &mut out).map_err(|e| e.to_string())?;
    Ok(out)
}

fn fact() -> Request {
    let event = NewEvent::new(EventType::FACT, "after the arrival");
    Request::new(Mutation::Ingest(Ingest {
        events: vec![event],
        ..Ingest::default()
    }))
    .with_id(id_of(3))
}

/// A brain with a base and a journal.
fn store() -> Store {
    let process = Process::new(Arc::new(SimDisk::new(77)), Flaw::None);
    process.set_clock(time_of(1));
    let made = || {
        let folder = Folder::open(Arc::new(process.clone()), "a sender")?;
        amem_store::import(&folder, "sender", &brain(), &graph())?;
        let mut store = Store::open(&folder, "sender")?;
        process.set_clock(time_of(2));
        store.execute(fact().with_id(id_of(1)))?;
        store.checkpoint()?;
        store.execute(Request::new(Mutation::Forget(NodeId(1))))?;
        Ok::<_, Error>(store)
    };
    made().unwrap_or_else(|e| panic!("a brain to be sent: {e}"))
}

fn native() -> Vec<u8> {
    let store = store();
    let name = format!("{}.amem", store.name());
    let file = store.folder().disk().open(&name);
    let bytes = file.and_then(|file| {
        let map = file.map(file.len()?)?;
        Ok(map.slice(0, map.len()).unwrap_or_default().to_vec())
    });
    bytes.unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn reference() -> Vec<u8> {
    let mut bytes = Vec::new();
    let written = write_compatible(&store().view(), CompatOptions::default(), &mut bytes);
    written.unwrap_or_else(|e| panic!("as the reference writes it: {e}"));
    bytes
}
