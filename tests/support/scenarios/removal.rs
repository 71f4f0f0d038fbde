//! A brain that is removed, and another one that is made under its name; and one whose name a foreign file takes in
//! the moment in which it is removed.
//!
//! Transaction 1: the brain is there, with a fact. 2: it is removed, and its bytes are in no file. 3: another one has
//! its name. 4: something was committed to that. Where a foreign file takes the name, 2: that is durable; 3: the
//! brain, which is not removed then, is saved.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use amem_format::EventType;
use amem_format::event::Graph;
use amem_format::view::View;
use amem_store::Ownership;
use amem_store::disk::Disk;
use amem_store::folder::TMP;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::quarantine::{self, QuarantineReason};
use amem_store::{Error, Folder, Mutation, Request, Store};

use super::all::{brain, graph, plain};
use super::flaw::Flaw;
use super::picture;
use super::process::{Phase, Process};
use super::script::{id_of, time_of};
use super::trial::ATTEMPTS;
use super::with_our_folders;
use crate::crash::{Scenario, Trace, Violation};
use crate::disk::{About, AnsweredBounds, HookedDisk, SimDisk};

const NAME: &str = "b";
const FILE: &str = "b.amem";
/// What only the removed brain has.
const REMOVED: &str = "qwertzuiop";
/// What both of its generations have.
const BROUGHT: &str = "brought along";
/// What only the other one has.
const OTHER: &str = "yxcvbnmasd";
/// What the foreign file has, and what it is called before it takes the name.
const THEIRS: &[u8] = b"what another has written";
const COMING: &str = "coming";

/// A brain that is removed.
#[derive(Debug, Clone)]
pub struct Removal {
    /// What it is called in reports.
    pub name: &'static str,
    /// Whether a foreign file takes the brain's name.
    raced: bool,
    /// Whether what was removed must be in no file.
    searched: bool,
    flaw: Flaw,
}

/// What has the brain's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameState {
    Nothing,
    /// The first brain, so far without its fact, or with it.
    First(bool),
    /// The other brain, without a fact and with one.
    Other(bool),
    /// No file of ours.
    Theirs,
}

impl Removal {
    /// Both.
    pub fn all() -> [Self; 2] {
        let of = |name, raced| Self {
            name,
            raced,
            searched: !raced,
            flaw: Flaw::None,
        };
        [
            of("a removal", false),
            of("a removal while another file takes the name", true),
        ]
    }

    /// The same on a disk with a flaw.
    #[must_use]
    pub fn with_flaw(mut self, flaw: Flaw) -> Self {
        self.flaw = flaw;
        self
    }

    /// The same, but no file is searched for what was removed: where a removal failed, that may come back.
    #[must_use]
    pub fn unsearched(mut self) -> Self {
        self.searched = false;
        self
    }

    /// Opens the folder. `race` runs before a file loses its name, if it may.
    fn begin(
        &self,
        disk: &Arc<SimDisk>,
        race: impl Fn() + Send + Sync + 'static,
    ) -> Result<(Process, Folder, Arc<AtomicBool>), Error> {
        let process = Process::new(disk.clone(), self.flaw);
        process.set_clock(time_of(1));
        let armed = Arc::new(AtomicBool::new(false));
        let is_armed = armed.clone();
        let hooked = HookedDisk::new(Arc::new(process.clone()), move |about| {
            if about == About::Unname && is_armed.swap(false, Ordering::Relaxed) {
                race();
            }
        });
        let folder = Folder::open(Arc::new(hooked), "a removal")?;
        let left = disk.list(TMP).unwrap_or_default();
        assert!(left.is_empty(), "unfinished files are left: {left:?}");
        Ok((process, folder, armed))
    }

    fn work(&self, disk: &Arc<SimDisk>, trace: &Trace, begun: &mut u64) -> Result<(), Error> {
        let (theirs, told) = (disk.clone(), Trace::new(disk));
        let (process, folder, armed) = self.begin(disk, move || {
            // What fails here fails in another process, which knows.
            if put(&theirs).is_ok() {
                told.acknowledge(2);
            }
        })?;
        loop {
            match look(disk, &folder)? {
                NameState::Nothing if *begun < 2 => {
                    process.enter(Phase::Creating);
                    submit(trace, begun, 1);
                    amem_store::import(&folder, NAME, &brain(), &graph())?;
                    process.enter(Phase::Opening);
                }
                NameState::First(with_fact) => {
                    let mut store = Store::open(&folder, NAME)?;
                    if !with_fact {
                        process.enter(Phase::Checkpointing);
                        store.checkpoint()?;
                        process.enter(Phase::Working);
                        process.set_clock(time_of(1));
                        store.execute(fact(REMOVED, 1))?;
                        trace.acknowledge(1);
                    }
                    // As the old file of a checkpoint is, it is renamed and taken away.
                    process.enter(Phase::Checkpointing);
                    submit(trace, begun, if self.raced { 3 } else { 2 });
                    armed.store(self.raced, Ordering::Relaxed);
                    match store.remove() {
                        Err(Error::Replaced { .. }) if self.raced => {
                            trace.acknowledge(3);
                            return Ok(());
                        }
                        done => done?,
                    }
                    if self.raced {
                        // The process that was to take the name failed.
                        return Ok(());
                    }
                    trace.acknowledge(2);
                    process.enter(Phase::Opening);
                }
                NameState::Nothing => {
                    process.enter(Phase::Creating);
                    submit(trace, begun, 3);
                    amem_store::create(&folder, NAME, &plain())?;
                    trace.acknowledge(3);
                    process.enter(Phase::Opening);
                }
                NameState::Other(_) => {
                    let mut store = Store::open(&folder, NAME)?;
                    process.enter(Phase::Working);
                    process.set_clock(time_of(4));
                    submit(trace, begun, 4);
                    store.execute(fact(OTHER, 4))?;
                    trace.acknowledge(4);
                    return store.close();
                }
                NameState::Theirs => return Ok(()),
            }
        }
    }

    /// What is left of the foreign file, and of the brain that had the name.
    fn check_raced(
        &self,
        disk: &SimDisk,
        folder: &Folder,
        answered: AnsweredBounds,
    ) -> Result<(), String> {
        let has_theirs = |path: &String| disk.contents(path).as_deref() == Some(THEIRS);
        if answered.must >= 2 && !disk.files_with(THEIRS).iter().any(has_theirs) {
            return Err("the foreign file is gone".into());
        }
        if answered.must < 3 {
            return Ok(());
        }
        let kept = quarantine::list(folder).map_err(|e| e.to_string())?;
        let saved = kept
            .iter()
            .find(|kept| kept.reason == QuarantineReason::Recovered);
        let saved = saved.ok_or_else(|| format!("the brain is not saved: {kept:?}"))?;
        let (view, _) = quarantine::read(folder, &saved.file).map_err(|e| e.to_string())?;
        match judge(&view).map_err(|e| e.to_string())? {
            NameState::First(true) => Ok(()),
            other => Err(format!("what is saved is {other:?}")),
        }
    }
}

impl Scenario for Removal {
    fn disk(&self, seed: u64) -> SimDisk {
        let disk = SimDisk::new(seed);
        if self.raced {
            // Nothing takes a name away and looks at what had it: a foreign file is renamed before it is known to be
            // theirs. Where a power cut halves renames, one that comes in the same moment can take it.
            return with_our_folders(disk.with_whole_renames());
        }
        disk
    }

    fn run(&self, disk: Arc<SimDisk>, trace: &Trace) {
        let mut begun = 0;
        for _ in 0..ATTEMPTS {
            let Err(error) = self.work(&disk, trace, &mut begun) else {
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
        if self.searched && answered.must >= 2 {
            // Also in what the next start would clear.
            for text in [REMOVED, BROUGHT] {
                let files = disk.files_with(text.as_bytes());
                if !files.is_empty() {
                    return Err(format!("the brain is removed, and {text:?} in {files:?}").into());
                }
            }
        }
        let (_process, folder, _) = self.begin(&disk, || ()).map_err(words)?;
        let found = look(&disk, &folder).map_err(words)?;
        if self.raced {
            self.check_raced(&disk, &folder, answered)?;
        }
        drop(folder);
        let found = match found {
            NameState::Theirs if self.raced => answered.must,
            NameState::Theirs => return Err("what has the name is no brain".into()),
            NameState::Nothing if answered.may >= 2 && !self.raced => 2,
            // Their file is out of the name, and kept, before the brain's is saved; or it did not come.
            NameState::Nothing if answered.may >= 3 && self.raced => answered.must,
            NameState::Nothing | NameState::First(false) => 0,
            NameState::First(true) => 1,
            NameState::Other(with_fact) => 3 + u64::from(with_fact),
        };
        if found < answered.must || found > answered.may || self.raced {
            return Ok(found);
        }
        // No client relies on an unanswered write, so a later crash may take it away though it was seen.
        let mut begun = answered.may;
        self.work(&disk, trace, &mut begun).map_err(words)?;
        let (_process, folder, _) = self.begin(&disk, || ()).map_err(words)?;
        match look(&disk, &folder).map_err(words)? {
            NameState::Other(true) => {}
            other => return Err(format!("it ends with {other:?}").into()),
        }
        let file = disk.open(FILE).map_err(|e| e.to_string())?;
        picture::verify(&*file)?;
        Ok(answered.must)
    }
}

/// Says which transaction is handed over.
fn submit(trace: &Trace, begun: &mut u64, transaction: u64) {
    *begun = transaction.max(*begun);
    trace.submit(*begun);
}

/// A foreign file takes the brain's name, durably.
fn put(disk: &Arc<SimDisk>) -> io::Result<()> {
    let file = disk.create(COMING)?;
    file.write_at(0, THEIRS)?;
    file.sync()?;
    disk.replace(COMING, FILE)?;
    disk.sync_folder("")
}

/// What has the brain's name.
fn look(disk: &SimDisk, folder: &Folder) -> Result<NameState, Error> {
    match amem_store::ownership(folder, NAME) {
        Ok(Ownership::Missing) => return Ok(NameState::Nothing),
        Ok(Ownership::Untracked(_)) if disk.contents(FILE).as_deref() == Some(THEIRS) => {
            return Ok(NameState::Theirs);
        }
        // A brain of a folder that has lost its id, as the sync failed that was to keep that.
        Ok(Ownership::Untracked(stamp)) => drop(amem_store::adopt(folder, NAME, stamp, false)?),
        standing => drop(standing?),
    }
    Ok(judge(&Store::open(folder, NAME)?.view())?)
}

/// Which of the brains it is: nothing but what was committed to it, and that in order.
fn judge(view: &View) -> amem_format::Result<NameState> {
    let texts = (0..view.nodes()).map(|at| Ok(view.event_at(at)?.text));
    let texts = texts.collect::<amem_format::Result<Vec<_>>>()?;
    let brought: Vec<_> = graph().events.into_iter().map(|event| event.text).collect();
    let (first, last) = texts.split_at(texts.len().min(brought.len()));
    Ok(match (first, last) {
        ([], []) => NameState::Other(false),
        ([text], []) if text == OTHER => NameState::Other(true),
        (first, []) if first == brought => NameState::First(false),
        (first, [text]) if first == brought && text == REMOVED => NameState::First(true),
        _ => {
            return Err(amem_format::Error::invalid(
                "a brain",
                format!("neither of the brains: {texts:?}"),
            ));
        }
    })
}

fn fact(text: &str, transaction: u64) -> Request {
    let events = vec![NewEvent::new(EventType::FACT, text)];
    let ingest = Ingest {
        events,
        ..Ingest::default()
    };
    Request::new(Mutation::Ingest(ingest)).with_id(id_of(transaction))
}
