//! A script on a disk that is crashed.

use std::sync::Arc;

use amem_format::Micros;
use amem_store::Ownership;
use amem_store::disk::Disk;
use amem_store::folder::TMP;
use amem_store::{Answer, Checkpoint, Error, Folder, Request, Store};

use super::flaw::Flaw;
use super::oracle::Oracle;
use super::picture;
use super::process::{Phase, Process};
use super::readers;
use super::script::{Ask, Script, Step, time_of};
use super::with_our_folders;
use crate::crash::{Breach, Scenario, Trace, Violation};
use crate::disk::{AnsweredBounds, SimDisk};

/// The name of every script's brain.
pub const NAME: &str = "b";
/// Its file.
const FILE: &str = "b.amem";
/// What another process writes behind the copy that takes the place of the brain's file.
const THEIRS: &[u8] = b"what another has added";
/// Says that it is there.
pub(super) const PUT: &str = "put";
/// Says that the copy became the brain.
const SEEN: &str = "seen";
/// How often a run opens the brain again when something failed.
pub(super) const ATTEMPTS: usize = 3;

/// A script, what it should leave, and what is wrong with the disk.
#[derive(Debug)]
pub struct Trial {
    script: Script,
    oracle: Oracle,
    requests: Vec<(Request, Micros)>,
    flaw: Flaw,
    /// A reader has the brain's files mapped.
    has_readers: bool,
}

/// A process with the brain open.
struct Life<'t> {
    trial: &'t Trial,
    disk: &'t Arc<SimDisk>,
    trace: &'t Trace,
    process: Process,
    store: Store,
    checkpoint: Option<Checkpoint>,
    /// The transactions that are in the brain.
    done: u64,
    /// Whether there was no brain before.
    created: bool,
}

impl Trial {
    /// A script on a disk that is as it should be, or not.
    pub fn new(script: Script, flaw: Flaw) -> Self {
        let oracle = Oracle::new(&script);
        let requests = script.requests();
        let requests = requests.into_iter().map(|(r, now)| (r.clone(), now));
        Self {
            requests: requests.collect(),
            oracle,
            script,
            flaw,
            has_readers: true,
        }
    }

    /// The same on a disk that fails: no reader hears of a later file by one that can't be written, or whose folder
    /// can't be synced; readers find out by its path.
    pub fn without_readers(mut self) -> Self {
        self.has_readers = false;
        self
    }

    /// What it plays.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The request of a transaction, and its time.
    fn request(&self, transaction: u64) -> Option<&(Request, Micros)> {
        self.requests.get(transaction.checked_sub(2)? as usize)
    }

    /// Whether another process puts a file in the place of the brain's.
    fn is_replaced(&self) -> bool {
        let replaces = |step: &Step| matches!(step, Step::Replace);
        self.script.steps.iter().any(replaces)
    }

    /// Plays the script from where the brain is.
    fn work(&self, disk: &Arc<SimDisk>, trace: &Trace, first: bool) -> Result<(), Error> {
        let mut life = Life::begin(self, disk, trace)?;
        life.settle()?;
        let mut reached = 1;
        for step in &self.script.steps {
            match step {
                Step::Replace if !first => {}
                Step::Commit(asks) => life.commit(asks, &mut reached)?,
                Step::Close | Step::Kill => {
                    let done = life.done;
                    life = life.restart(matches!(step, Step::Close))?;
                    assert_eq!(life.done, done, "transactions after a restart");
                }
                step => life.generation(step)?,
            }
            life.settle()?;
        }
        Ok(())
    }

    /// Looks for the file that took the place of the brain's.
    fn expect_theirs(&self, disk: &SimDisk) -> Result<(), String> {
        if disk.contents(PUT).is_some() && disk.files_with(THEIRS).is_empty() {
            return Err("the foreign file is gone".into());
        }
        Ok(())
    }

    /// No reader of a file of the brain misses an answered write.
    fn expect_told(&self, disk: &SimDisk, answered: u64) -> Result<(), Violation> {
        // Readers of a replaced file get no hint: they find out by its path.
        if self.is_replaced() {
            return Ok(());
        }
        let told = readers::expect_told(disk, FILE, answered, |lsn| self.oracle.count(lsn));
        told.map_err(|why| Breach::Untold.of(why))
    }

    /// Looks for what was erased.
    fn refuse_secrets(&self, disk: &SimDisk, answered: u64) -> Result<(), Violation> {
        for secret in &self.script.secrets {
            if answered >= secret.erased_by {
                let files = disk.files_with(&secret.bytes);
                if !files.is_empty() {
                    let bytes = String::from_utf8_lossy(&secret.bytes);
                    let what = format!("{bytes:?} was erased, and is in {files:?}");
                    return Err(Breach::Unerased.of(what));
                }
            }
        }
        Ok(())
    }
}

/// Makes a script's brain.
pub(super) fn create(folder: &Folder, script: &Script) -> Result<(), Error> {
    match &script.import {
        Some(graph) => amem_store::import(folder, NAME, &script.create, graph),
        None => amem_store::create(folder, NAME, &script.create),
    }
}

/// Opens a script's brain; a copy that was put in its place is adopted, and was seen.
fn open(folder: &Folder, disk: &SimDisk) -> Result<Store, Error> {
    if let Ok(Ownership::Untracked(stamp)) = amem_store::ownership(folder, NAME) {
        if disk.files_with(THEIRS).iter().any(|name| name == FILE) {
            note(disk, SEEN, THEIRS).map_err(|source| Error::Disk {
                action: "note",
                name: SEEN.into(),
                source,
            })?;
        }
        drop(amem_store::adopt(folder, NAME, stamp, false)?);
    }
    Store::open(folder, NAME)
}

impl<'t> Life<'t> {
    /// Starts a process, which opens the brain, or makes it.
    fn begin(trial: &'t Trial, disk: &'t Arc<SimDisk>, trace: &'t Trace) -> Result<Self, Error> {
        let process = Process::new(disk.clone(), trial.flaw);
        process.set_clock(time_of(1));
        let folder = Folder::open(Arc::new(process.clone()), "a script")?;
        let left = disk.list(TMP).unwrap_or_default();
        assert!(left.is_empty(), "unfinished files are left: {left:?}");
        let mut created = false;
        let store = match open(&folder, disk) {
            Err(Error::NotFound { .. }) => {
                created = true;
                process.enter(Phase::Creating);
                trace.submit(1);
                create(&folder, &trial.script)?;
                trace.acknowledge(1);
                process.enter(Phase::Opening);
                open(&folder, disk)?
            }
            opened => opened?,
        };
        let found = trial.oracle.judge(&store.view());
        let done = found.unwrap_or_else(|e| panic!("opened again: {e}"));
        Ok(Self {
            trial,
            disk,
            trace,
            process,
            store,
            checkpoint: None,
            done,
            created,
        })
    }

    /// Ends the process, in order or not, and starts another.
    fn restart(self, in_order: bool) -> Result<Self, Error> {
        let (trial, disk, trace) = (self.trial, self.disk, self.trace);
        if in_order {
            drop(self.checkpoint);
            self.store.close()?;
        } else {
            self.process.kill();
            drop((self.checkpoint, self.store));
        }
        Self::begin(trial, disk, trace)
    }

    /// Commits a group, and holds every answer against the oracle. Groups of several never need the file to
    /// grow, so that a full disk refuses all of a group or nothing.
    fn commit(&mut self, asks: &[Ask], reached: &mut u64) -> Result<(), Error> {
        let before = self.done;
        let (mut group, mut expected) = (Vec::new(), Vec::new());
        let now = time_of(*reached + 1);
        for ask in asks {
            match ask {
                Ask::Do(request) => {
                    *reached += 1;
                    // What can't be retried by its id is not.
                    if *reached > before || request.request_id.is_some() {
                        group.push(request.clone());
                        expected.push((Some(*reached), *reached <= before));
                    }
                }
                Ask::Refuse(request) => {
                    group.push(request.clone());
                    expected.push((None, false));
                }
                Ask::Again(transaction) => {
                    let request = self.trial.request(*transaction);
                    group.extend(request.map(|(request, _)| request.clone()));
                    expected.push((Some(*transaction), true));
                }
            }
        }
        self.process.enter(Phase::Working);
        self.process.set_clock(now);
        self.trace.submit(*reached);
        let mut answers = self.store.commit(&group);
        let refused = |answers: &[Result<Answer, Error>]| {
            let is_refused = |a: &_| matches!(a, Err(Error::Disk { .. } | Error::NoRoom { .. }));
            answers.iter().any(is_refused)
        };
        if refused(&answers) && self.store.poisoned().is_none() {
            // The disk was full; perhaps it isn't any more.
            answers = self.store.commit(&group);
        }
        let mut trouble = None;
        for (answer, (transaction, replayed)) in answers.into_iter().zip(expected) {
            match (answer, transaction) {
                (Ok(answer), Some(transaction)) => {
                    self.compare(&answer, transaction, replayed);
                }
                (Ok(answer), None) => panic!("what must be refused was done: {answer:?}"),
                (Err(e), _) if is_trouble(&e) => trouble = Some(e),
                (Err(_), None) => {}
                (Err(e), Some(transaction)) => panic!("transaction {transaction} was refused: {e}"),
            }
        }
        match trouble {
            Some(trouble) => {
                self.expect_poison();
                Err(trouble)
            }
            None => {
                self.done = self.done.max(*reached);
                Ok(())
            }
        }
    }

    fn compare(&self, answer: &Answer, transaction: u64, replayed: bool) {
        let mut expected = self.trial.oracle.answer(transaction).clone();
        expected.replayed = replayed;
        assert_eq!(answer, &expected, "the answer to transaction {transaction}");
    }

    /// A poisoned store refuses whatever it is asked.
    fn expect_poison(&mut self) {
        if self.store.poisoned().is_none() {
            return;
        }
        for (request, _) in &self.trial.requests {
            let answer = self.store.execute(request.clone());
            assert!(
                matches!(answer, Err(Error::Poisoned { .. })),
                "poisoned, it answers {answer:?}"
            );
        }
        let checkpoint = self.store.checkpoint();
        assert!(checkpoint.is_err(), "poisoned, it makes a checkpoint");
    }

    /// A step of a new generation. If it fails and does not poison, the old one goes on.
    fn generation(&mut self, step: &Step) -> Result<(), Error> {
        self.process.enter(Phase::Checkpointing);
        let done = match step {
            Step::Checkpoint => self.store.checkpoint(),
            Step::Begin => Checkpoint::begin(&self.store).map(|new| self.checkpoint = Some(new)),
            Step::Build => self.checkpoint.as_mut().map_or(Ok(()), Checkpoint::build),
            Step::Carry => match &mut self.checkpoint {
                Some(checkpoint) => checkpoint.carry(self.store.brain()).map(drop),
                None => Ok(()),
            },
            Step::Install => match self.checkpoint.take() {
                Some(checkpoint) => self.store.install(checkpoint).map(drop),
                None => Ok(()),
            },
            Step::Replace => replace(self.disk).map_err(|source| Error::Disk {
                action: "replace",
                name: FILE.into(),
                source,
            }),
            Step::GiveUp | Step::Commit(_) | Step::Close | Step::Kill => {
                self.checkpoint = None;
                Ok(())
            }
        };
        if let Err(e) = &done {
            let sound = self.trial.flaw == Flaw::None && self.disk.struck_at().is_none();
            // A checkpoint gives way to a merge that came after it was begun.
            let gave_way = matches!(e, Error::Aborted { .. });
            assert!(!sound || gave_way, "{step:?} on a sound disk: {e}");
            self.checkpoint = None;
            self.expect_poison();
        }
        match done {
            Err(e) if self.store.poisoned().is_some() => Err(e),
            _ => Ok(()),
        }
    }

    /// Answers what is done: an erase only once its bytes are gone.
    fn settle(&mut self) -> Result<(), Error> {
        if self.store.erase_pending() {
            if self.checkpoint.is_some() {
                return Ok(());
            }
            self.process.enter(Phase::Checkpointing);
            self.store.checkpoint()?;
        }
        self.trace.acknowledge(self.done);
        Ok(())
    }

    /// Holds every part of the brain's file against the others.
    fn verify(&self) -> Result<(), String> {
        let file = self.disk.open(FILE).map_err(|e| e.to_string())?;
        picture::verify(&*file).map_err(|e| format!("verified: {e}"))
    }

    /// Executes a transaction by itself.
    fn execute(&mut self, transaction: u64, replayed: bool) -> Result<(), String> {
        let Some((request, now)) = self.trial.request(transaction) else {
            return Ok(());
        };
        if replayed && request.request_id.is_none() {
            return Ok(());
        }
        self.process.enter(Phase::Working);
        self.process.set_clock(*now);
        self.trace.submit(transaction);
        let answer = self.store.execute(request.clone());
        let answer = answer.map_err(|e| format!("transaction {transaction} afterwards: {e}"))?;
        self.compare(&answer, transaction, replayed);
        self.done = self.done.max(transaction);
        self.settle()
            .map_err(|e| format!("transaction {transaction} afterwards: {e}"))
    }
}

/// True if the request may have been done, or could be done later.
fn is_trouble(error: &Error) -> bool {
    matches!(
        error,
        Error::OutcomeUnknown { .. }
            | Error::Poisoned { .. }
            | Error::Replaced { .. }
            | Error::Unsaved { .. }
            | Error::Disk { .. }
            | Error::NoRoom { .. }
    )
}

/// Puts a copy in the place of the brain's file, as another process would.
fn replace(disk: &SimDisk) -> std::io::Result<()> {
    let bytes = disk.contents(FILE).unwrap_or_default();
    let copy = disk.create("copy")?;
    copy.write_at(0, &bytes)?;
    copy.write_at(bytes.len() as u64, THEIRS)?;
    copy.sync()?;
    disk.replace("copy", FILE)?;
    disk.sync_folder("")?;
    note(disk, PUT, b"")
}

/// Notes something, durably; a crash may have left half of an earlier note.
pub(super) fn note(disk: &SimDisk, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let noted = match disk.contents(name) {
        Some(_) => disk.open(name)?,
        None => disk.create(name)?,
    };
    noted.write_at(0, bytes)?;
    noted.sync()?;
    disk.sync_folder("")
}

impl Scenario for Trial {
    fn disk(&self, seed: u64) -> SimDisk {
        let mut disk = SimDisk::new(seed);
        if self.is_replaced() {
            disk = with_our_folders(disk);
        }
        if self.script.exchanges {
            disk
        } else {
            disk.without_exchange()
        }
    }

    fn run(&self, disk: Arc<SimDisk>, trace: &Trace) {
        for attempt in 0..ATTEMPTS {
            let Err(error) = self.work(&disk, trace, attempt == 0) else {
                return;
            };
            let replaced = matches!(error, Error::Replaced { .. });
            let sound = self.flaw == Flaw::None && disk.struck_at().is_none();
            assert!(!sound || replaced, "on a sound disk: {error}");
        }
    }

    fn check(
        &self,
        disk: Arc<SimDisk>,
        answered: AnsweredBounds,
        trace: &Trace,
    ) -> Result<u64, Violation> {
        self.refuse_secrets(&disk, answered.must)?;
        // A power cut ends readers too.
        let has_readers = self.has_readers && disk.position() > 0;
        if has_readers {
            self.expect_told(&disk, answered.must)?;
        }
        let mut life = match Life::begin(self, &disk, trace) {
            Ok(life) => life,
            Err(e) => return Err(Breach::Unopened.of(format!("it does not open: {e}"))),
        };
        let found = if life.created { 0 } else { life.done };
        if found < answered.must || found > answered.may {
            return Ok(found);
        }
        self.expect_theirs(&disk)?;
        life.settle().map_err(|e| e.to_string())?;
        self.refuse_secrets(&disk, found)?;
        let next = life.done + 1;
        life.execute(life.done, true)?;
        if self.request(next).is_some() {
            life.execute(next, false)?;
            life.execute(next, true)?;
            self.refuse_secrets(&disk, next)?;
        }
        let done = life.done;
        if has_readers {
            self.expect_told(&disk, done)?;
        }
        let life = life
            .restart(found % 2 == 0)
            .map_err(|e| format!("opened again: {e}"))?;
        if life.done != done {
            let breach = if life.done > done {
                Breach::Unasked
            } else {
                Breach::Lost
            };
            let again = life.done;
            return Err(breach.of(format!(
                "{done} transactions are {again} when it is opened again"
            )));
        }
        life.verify()?;
        Ok(found)
    }
}
