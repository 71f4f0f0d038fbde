//! How a brain is opened, how its process or its machine ends, and what is left of it then.

use std::sync::Arc;

use amem_format::view::View;
use amem_store::Ownership;
use amem_store::{Error, Result};
use amem_store::{Folder, NewBrain, Store};
use amem_tests::crash::CrashState;
use amem_tests::disk::{Among, EDQUOT, EIO, ENOSPC, Effect, Fault, Op};
use amem_tests::model::Account;
use amem_tests::scenarios::{Flaw, Process};
use uuid::Uuid;

use crate::counts::During;
use crate::history::{FILE, History, Life, NAME};
use crate::looks;

/// How often a brain is opened in vain, at most.
const ATTEMPTS: u32 = 4;

/// What an operation of the disk that was to fail has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    /// Nothing failed.
    Nothing,
    /// One operation failed.
    Failed,
    /// The machine ended after so many operations.
    Cut(usize),
}

impl History {
    /// Once in a while, has an operation of the disk fail in what comes next; or all from one on, as there is no
    /// machine any more.
    pub(crate) fn arm(&mut self, during: During) -> Option<Fault> {
        let most = match during {
            During::Commit => 8,
            During::Closing => 4,
            During::Opening | During::Checkpoint => 30,
            During::Creation => 60,
            During::Rest => return None,
        };
        let random = &mut self.random;
        let choice = random.below(60);
        if choice > 6 {
            return None;
        }
        let fault = Fault {
            after: random.below(most),
            among: Among::Changes,
            error: random.pick(&[EIO, EIO, ENOSPC, EDQUOT]),
            effect: random.pick(&[Effect::Nothing, Effect::Half, Effect::Everything]),
            lasting: choice > 0,
        };
        self.disk.fail(fault);
        Some(fault)
    }

    /// What became of it.
    pub(crate) fn after(&mut self, armed: Option<Fault>, during: During) -> After {
        let Some(fault) = armed else {
            return After::Nothing;
        };
        let struck = self.disk.struck_at();
        self.disk.heal();
        let Some(at) = struck else {
            return After::Nothing;
        };
        if !fault.lasting {
            *self.figures.faults.entry(during).or_default() += 1;
            // Of what a sync that failed was to take away, nobody can tell before the machine starts again.
            self.is_unsure = true;
            self.gone.clear();
            self.tell(|| format!("{fault:?}"));
            return After::Failed;
        }
        // What was under way when it ended may have been done, or half of it. A sync has not failed: it has not ended.
        let is_sync = matches!(
            self.disk.log().ops.get(at),
            Some(Op::SyncFailed { .. } | Op::SyncFolderFailed { .. })
        );
        After::Cut(at + usize::from(fault.effect != Effect::Nothing && !is_sync))
    }

    /// The process is killed, or the machine loses power, after so many operations of the disk.
    pub(crate) fn end(&mut self, during: During, point: usize) -> Result<(), String> {
        let log = Arc::new(self.disk.log());
        if let Some(life) = self.life.take() {
            life.process.kill();
        }
        let as_it_was = CrashState::by_chance(&log, point, true, &mut self.chance);
        if let (true, Some(account)) = (self.is_created, &self.account) {
            // Another process copied the file in the last moment.
            let file = as_it_was.image.file(FILE).ok_or("the file has no name")?;
            let copied = looks::copy(&file.read(u64::MAX))?.lsn();
            if copied < account.lsn() {
                return Err(format!("a copy ends with {copied}, not {}", account.lsn()));
            }
            self.figures.copies += 1;
        }
        let is_killed = self.random.below(3) == 0;
        let left = if is_killed {
            as_it_was
        } else {
            CrashState::by_chance(&log, point, false, &mut self.chance)
        };
        for bytes in &self.gone {
            let names = left.image.names.keys();
            let has = |name: &&Arc<str>| {
                let file = left.image.file(name);
                file.is_some_and(|file| file.contains(bytes))
            };
            let files: Vec<_> = names.filter(has).collect();
            if !files.is_empty() {
                let said = String::from_utf8_lossy(bytes);
                return Err(format!(
                    "{said:?} was erased, and comes back in {files:?}: {}",
                    left.choice
                ));
            }
        }
        let counts = if is_killed {
            &mut self.figures.kills
        } else {
            &mut self.figures.power_cuts
        };
        *counts.entry(during).or_default() += 1;
        if !is_killed {
            self.follower = None;
            if std::mem::take(&mut self.is_unsure) {
                self.swept = 0;
            }
        }
        self.tell(|| format!("{during:?}: {}", left.choice));
        self.disk = left.open();
        Ok(())
    }

    /// Closes the brain in order, and opens it again.
    pub(crate) fn close(&mut self) -> Result<(), String> {
        let armed = self.arm(During::Closing);
        let Some(Life { process, store, .. }) = self.life.take() else {
            return Err("the brain is not open".into());
        };
        // A brain that was only read is found again as it was.
        let was_read_only = store.read_only().is_some();
        let closed = store.close();
        self.tell(|| format!("closed: {closed:?}"));
        match self.after(armed, During::Closing) {
            After::Cut(point) => {
                process.kill();
                self.end(During::Closing, point)?;
                self.open()
            }
            After::Failed => self.open(),
            After::Nothing => {
                closed.map_err(|e| format!("closed: {e}"))?;
                self.figures.closed += 1;
                let ended = self.ends();
                self.open()?;
                let store = self.life.as_ref().map(|life| &life.store);
                if !was_read_only && ended == self.ends() && store.is_some_and(Store::was_recovered)
                {
                    Err("what was closed in order is recovered".into())
                } else {
                    Ok(())
                }
            }
        }
    }

    /// How often something ended, or failed.
    fn ends(&self) -> u64 {
        let figures = &self.figures;
        let all = [&figures.kills, &figures.power_cuts, &figures.faults];
        all.iter().flat_map(|counts| counts.values()).sum()
    }

    /// Opens the brain, or makes it, however often that is ended; what was not answered is found there, or not.
    pub(crate) fn open(&mut self) -> Result<(), String> {
        let mut attempt = 0;
        let (process, store) = loop {
            attempt += 1;
            let during = if self.is_created {
                During::Opening
            } else {
                During::Creation
            };
            let armed = if attempt < ATTEMPTS {
                self.arm(during)
            } else {
                None
            };
            let process = Process::new(self.disk.clone(), Flaw::None);
            process.set_clock(self.now);
            let opened = self.try_open(&process, armed.is_some());
            match (self.after(armed, during), opened) {
                (After::Cut(point), opened) => {
                    process.kill();
                    drop(opened);
                    self.end(during, point)?;
                }
                (_, Ok(store)) => break (process, store),
                (After::Failed, Err(_)) => {}
                (After::Nothing, Err(e)) => return Err(format!("it does not open: {e}")),
            }
        };
        self.figures.opened += 1;
        self.figures.recovered += u64::from(store.was_recovered());
        let view = store.view();
        self.life = Some(Life {
            process,
            store,
            checkpoint: None,
        });
        self.tell(|| format!("opened at {}", view.lsn()));
        self.resolve(&view)?;
        self.sweep()
    }

    fn try_open(&mut self, process: &Process, is_armed: bool) -> Result<Store> {
        let folder = Folder::open(Arc::new(process.clone()), "a history")?;
        if let Ok(Ownership::Untracked(stamp)) = amem_store::ownership(&folder, NAME)
            && !self.figures.faults.is_empty()
        {
            // The folder has lost its id, as a sync of it had failed: to it, the file is a foreign one.
            self.figures.adopted += 1;
            drop(amem_store::adopt(&folder, NAME, stamp, false)?);
        }
        match Store::open(&folder, NAME) {
            Err(Error::NotFound { .. }) if !self.is_created => {
                let create = NewBrain {
                    dimension: self.dimension,
                    space: Uuid::nil(),
                    ..NewBrain::default()
                };
                amem_store::create(&folder, NAME, &create)?;
                self.is_created = !is_armed || self.disk.struck_at().is_none();
                Store::open(&folder, NAME)
            }
            opened => opened,
        }
    }

    /// Finds out which of the requests without an answer were done: the first so many, each whole.
    fn resolve(&mut self, view: &View) -> Result<(), String> {
        self.is_created = true;
        let dimension = self.dimension;
        let account = self
            .account
            .get_or_insert_with(|| Account::new(dimension, view.time()));
        for (request, now) in self.pending.drain(..) {
            if account.lsn() >= view.lsn() {
                self.figures.lost += 1;
                self.lost
                    .extend(request.request_id.is_some().then_some(request));
                continue;
            }
            let before = account.lsn();
            let verdict = account.ask(&request, now, view)?;
            if account.lsn() > before {
                self.figures.found += 1;
                self.asked
                    .extend(request.request_id.is_some().then_some(request));
            } else if let amem_tests::model::Verdict::Answered(_) = verdict {
                self.figures.replayed += 1;
            }
        }
        if account.lsn() == view.lsn() {
            Ok(())
        } else {
            Err(format!(
                "opened, it ends with {}, not {}",
                view.lsn(),
                account.lsn()
            ))
        }
    }
}
