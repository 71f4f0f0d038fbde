//! One random history of a brain: a store on a disk that loses power, beside an account of what it was asked.
//!
//! What a step does follows from the seed, the step's number and the brain as it is then, so that a history can be told
//! again without some of its steps. Looks draw from a chance of their own.
//! Not here: how a brain is opened, and how it ends (`machine`).

use std::sync::Arc;

use amem_format::Micros;
use amem_format::view::View;
use amem_store::Error;
use amem_store::{Answer, Checkpoint, Request, Store};
use amem_tests::disk::{Chance, SimDisk};
use amem_tests::model::{Account, Verdict};
use amem_tests::random::Random;
use amem_tests::scenarios::Process;
use uuid::Uuid;

use crate::asks::RequestMaker;
use crate::counts::{During, HistoryCounts};
use crate::looks::{self, Follower};
use crate::machine::After;

/// The brain, and its file.
pub(crate) const NAME: &str = "b";
pub(crate) const FILE: &str = "b.amem";
/// Requests that are asked again are among the last so many.
const AGAIN: usize = 12;

/// A process that has the brain open.
pub(crate) struct Life {
    pub(crate) process: Process,
    pub(crate) store: Store,
    pub(crate) checkpoint: Option<Building>,
}

/// A new generation that is being made.
pub(crate) struct Building {
    checkpoint: Checkpoint,
    is_built: bool,
    /// The commits that there were when it was begun.
    commits: usize,
}

/// A history.
pub(crate) struct History {
    seed: u64,
    pub(crate) dimension: u32,
    pub(crate) disk: Arc<SimDisk>,
    pub(crate) life: Option<Life>,
    pub(crate) account: Option<Account>,
    /// The brain was made, and that was answered.
    pub(crate) is_created: bool,
    pub(crate) now: Micros,
    /// Handed over and not answered, in order, each with the time that it had.
    pub(crate) pending: Vec<(Request, Micros)>,
    /// Not done, though handed over: they may be asked again.
    pub(crate) lost: Vec<Request>,
    /// Done under an id.
    pub(crate) asked: Vec<Request>,
    /// A view that is kept for long, and that of the look before.
    held: Option<View>,
    before: Option<View>,
    pub(crate) follower: Option<Follower>,
    /// Bytes that are in no file any more.
    pub(crate) gone: Vec<Vec<u8>>,
    /// An operation of the disk has failed since the machine was started.
    pub(crate) is_unsure: bool,
    /// How many events were erased when files were searched.
    pub(crate) swept: usize,
    pub(crate) random: Random,
    pub(crate) chance: Chance,
    looks: Random,
    pub(crate) figures: HistoryCounts,
    /// What was done, in words, if anybody wants to know.
    pub(crate) trace: Option<Vec<String>>,
}

impl History {
    /// A history at its beginning, with a brain that is empty.
    pub(crate) fn begin(seed: u64, with_trace: bool) -> Result<Self, String> {
        let mut random = Random::new(seed);
        let mut disk = SimDisk::new(seed);
        if random.below(6) == 0 {
            disk = if random.below(2) == 0 {
                disk.without_links()
            } else {
                disk.without_exchange()
            };
        }
        let mut history = Self {
            seed,
            dimension: random.pick(&[0, 3, 20]),
            disk: Arc::new(disk),
            life: None,
            account: None,
            is_created: false,
            now: Micros(1_700_000_000_000_000),
            pending: Vec::new(),
            lost: Vec::new(),
            asked: Vec::new(),
            held: None,
            before: None,
            follower: None,
            gone: Vec::new(),
            is_unsure: false,
            swept: 0,
            random,
            chance: Chance::of(seed, 0),
            looks: Random::new(seed),
            figures: HistoryCounts::default(),
            trace: with_trace.then(Vec::new),
        };
        history.open()?;
        Ok(history)
    }

    pub(crate) fn tell(&mut self, what: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(what());
        }
    }

    /// The step of a number, and perhaps a look at what there is then.
    pub(crate) fn step(&mut self, number: u64) -> Result<(), String> {
        let part = self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ (number + 1).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        self.random = Random::new(part);
        self.chance = Chance::of(part, 1);
        self.looks = Random::new(!part);
        self.tell(|| format!("step {number}"));
        let opened = self.figures.opened;
        match self.random.below(100) {
            0..=65 => self.group()?,
            66..=89 => self.generation()?,
            90..=92 => self.close()?,
            93..=94 => {
                self.tell(|| "the brain is let go of".into());
                self.life = None;
                self.open()?;
            }
            95 => self.stale()?,
            _ => {
                self.end(During::Rest, self.disk.position())?;
                self.open()?;
            }
        }
        self.figures.steps += 1;
        if self.figures.opened != opened || self.looks.below(4) == 0 {
            self.look()
        } else {
            Ok(())
        }
    }

    /// The process that has the brain open; between steps there is one.
    fn life(&mut self) -> &mut Life {
        self.life.as_mut().expect("between steps the brain is open")
    }

    fn account(&self) -> &Account {
        self.account
            .as_ref()
            .expect("a brain that was opened is known")
    }

    fn advance(&mut self) {
        let most = self
            .random
            .pick(&[1, 1000, 60_000_000, 600_000_000, 3 * Micros::DAY]);
        self.now.0 += self.random.below(most as u64 + 1) as i64;
        if self.random.below(20) == 0 {
            // A clock may be set back.
            self.now.0 -= self.random.below(3_600_000_000) as i64;
        }
        let now = self.now;
        self.life().process.set_clock(now);
    }

    /// One request of a group.
    fn request(&mut self) -> Request {
        let at = |random: &mut Random, len: usize| random.below(len as u64) as usize;
        let (now, dimension) = (self.now, self.dimension);
        let account = self
            .account
            .as_ref()
            .expect("a brain that was opened is known");
        let random = &mut self.random;
        let choice = random.below(40);
        if choice < 5 && !self.asked.is_empty() {
            let from = self.asked.len().saturating_sub(AGAIN);
            return self.asked[from + at(random, self.asked.len() - from)].clone();
        }
        if choice < 10 && !self.lost.is_empty() {
            let lost = self.lost.swap_remove(at(random, self.lost.len()));
            // Of one that is as old as what is remembered, nobody can tell.
            let age = now.0 / 1000 - lost.request_id.map_or(0, |id| (id.as_u128() >> 80) as i64);
            if (age / 3_600_000 - 24).abs() > 2 {
                return lost;
            }
        }
        let mut asks = RequestMaker {
            random,
            account,
            dimension,
            now,
        };
        let mut request = asks.request();
        match choice {
            37 => request.request_id = Some(asks.id(Micros(now.0 - 2 * Micros::DAY))),
            38 => request.request_id = Some(Uuid::from_u128(asks.random.number().into())),
            39 if !self.asked.is_empty() => {
                request.request_id = self.asked[at(random, self.asked.len())].request_id;
            }
            _ => {}
        }
        request
    }

    /// Commits a group of requests.
    fn group(&mut self) -> Result<(), String> {
        self.advance();
        let count = self.random.pick(&[1, 1, 1, 2, 3, 5]);
        let requests: Vec<Request> = (0..count).map(|_| self.request()).collect();
        self.tell(|| format!("a group: {requests:#?}"));
        self.figures.groups += 1;
        self.figures.requests += requests.len() as u64;
        let armed = self.arm(During::Commit);
        let answers = self.life().store.commit(&requests);
        self.tell(|| format!("answers: {answers:?}"));
        let after = self.after(armed, During::Commit);
        let now = self.now;
        if let After::Cut(point) = after {
            self.pending
                .extend(requests.into_iter().map(|request| (request, now)));
            self.end(During::Commit, point)?;
            return self.open();
        }
        let view = self.life().store.view();
        let is_unknown =
            |answer: &Result<Answer, Error>| matches!(answer, Err(Error::OutcomeUnknown { .. }));
        let is_known = !answers.iter().any(is_unknown);
        for (request, answer) in requests.into_iter().zip(answers) {
            match answer {
                Err(Error::Disk { .. } | Error::NoRoom { .. }) if after == After::Failed => {
                    if request.request_id.is_some() {
                        self.lost.push(request);
                    }
                }
                Err(Error::OutcomeUnknown { .. }) if after == After::Failed => {
                    self.pending.push((request, now));
                }
                answer if is_known => self.judge(request, answer, &view)?,
                Err(_) => {}
                Ok(answer) => return Err(format!("{answer:?} in a group that failed")),
            }
        }
        let is_settled = self.pending.is_empty();
        match self.life().store.poisoned() {
            None if is_settled => Ok(()),
            None => Err("the outcome is unknown, and the store goes on".into()),
            Some(why) if after == After::Nothing => Err(format!("poisoned: {why}")),
            Some(_) => {
                self.life = None;
                self.open()
            }
        }
    }

    /// Holds an answer against what the request comes to.
    fn judge(
        &mut self,
        request: Request,
        answer: Result<Answer, Error>,
        view: &View,
    ) -> Result<(), String> {
        let account = self.account.as_mut().ok_or("there is no brain")?;
        let verdict = account.ask(&request, self.now, view)?;
        match (&verdict, &answer) {
            (Verdict::Answered(expected), Ok(answer)) if **expected == *answer => {
                if answer.replayed {
                    self.figures.replayed += 1;
                } else {
                    self.figures.done += 1;
                    self.asked
                        .extend(request.request_id.is_some().then_some(request));
                }
                return Ok(());
            }
            (Verdict::Reused, Err(Error::RequestReused { .. }))
            | (Verdict::Aborted, Err(Error::Aborted { .. } | Error::OtherHead { .. })) => {}
            (
                Verdict::Refused,
                Err(
                    Error::Format(_)
                    | Error::Erased { .. }
                    | Error::Cycle { .. }
                    | Error::UnknownEdge { .. }
                    | Error::UnknownSession { .. }
                    | Error::SessionClosed { .. },
                ),
            ) => {}
            _ => {
                return Err(format!(
                    "{request:?} is answered {answer:?}, expected: {verdict:?}"
                ));
            }
        }
        self.figures.refused += 1;
        Ok(())
    }

    /// A step of a new generation, or all of one.
    fn generation(&mut self) -> Result<(), String> {
        let commits = self.account().done.len();
        let mut building = self.life().checkpoint.take();
        let armed = self.arm(During::Checkpoint);
        let choice = self.random.below(12);
        let store = &mut self.life.as_mut().ok_or("the brain is not open")?.store;
        let is_new = building.is_none();
        let (mut is_installed, mut retired, mut what) = (false, None, "a checkpoint");
        let done = match &mut building {
            None if choice < 5 => {
                is_installed = true;
                store.checkpoint()
            }
            None => {
                what = "a generation is begun";
                Checkpoint::begin(store).map(|checkpoint| {
                    building = Some(Building {
                        checkpoint,
                        is_built: false,
                        commits,
                    });
                })
            }
            Some(_) if choice == 0 => {
                what = "it is given up";
                self.figures.given_up += 1;
                building = None;
                Ok(())
            }
            Some(of) if !of.checkpoint.is_next_of(store) => {
                // The brain was only read for want of room, and its recovery has made a generation since.
                what = "it is outdated";
                self.figures.given_up += 1;
                building = None;
                Ok(())
            }
            Some(of) if !of.is_built => {
                what = "it is built";
                of.is_built = true;
                of.checkpoint.build()
            }
            Some(of) if choice < 6 => {
                what = "frames are carried";
                of.checkpoint.carry(&store.brain().clone()).map(drop)
            }
            Some(_) => {
                what = "it takes the name";
                is_installed = true;
                building.take().map_or(Ok(()), |of| {
                    self.figures.beside += u64::from(of.commits < commits);
                    store.install(of.checkpoint).map(|old| retired = Some(old))
                })
            }
        };
        let failed = done.as_ref().err().map(ToString::to_string);
        self.tell(|| format!("{what}: {failed:?}"));
        let after = self.after(armed, During::Checkpoint);
        if let After::Cut(point) = after {
            self.life().process.kill();
            drop((building, retired));
            self.end(During::Checkpoint, point)?;
            return self.open();
        }
        drop(retired);
        match done {
            Ok(()) if is_installed => {
                self.figures.checkpoints += 1;
                self.sweep()
            }
            Ok(()) => {
                self.life().checkpoint = building;
                Ok(())
            }
            Err(e) if after == After::Nothing => Err(format!("{what}: {e}")),
            Err(_) => {
                drop(building);
                self.figures.given_up += u64::from(!is_new);
                if self.life().store.poisoned().is_some() {
                    self.life = None;
                    return self.open();
                }
                Ok(())
            }
        }
    }

    /// A generation of which another one has taken the place is refused.
    fn stale(&mut self) -> Result<(), String> {
        let life = self.life();
        if life.checkpoint.is_some() || life.store.erase_pending() {
            return Ok(());
        }
        let failed = |e: Error| format!("a checkpoint: {e}");
        let mut stale = Checkpoint::begin(&life.store).map_err(failed)?;
        stale.build().map_err(failed)?;
        life.store.checkpoint().map_err(failed)?;
        let refused = life.store.install(stale);
        let is_refused = matches!(refused, Err(Error::Aborted { .. }));
        self.figures.checkpoints += 1;
        self.tell(|| "two checkpoints, of which the older is refused".into());
        if is_refused && self.life().store.poisoned().is_none() {
            Ok(())
        } else {
            Err(format!("a generation that is not the next: {refused:?}"))
        }
    }

    /// Looks for what was erased, once it must be gone.
    pub(crate) fn sweep(&mut self) -> Result<(), String> {
        let is_pending = self.life().store.erase_pending();
        let erased = self.account().erased();
        if is_pending || self.life().checkpoint.is_some() || erased.len() == self.swept {
            return Ok(());
        }
        self.swept = erased.len();
        if !self.is_unsure {
            self.gone = erased.values().flatten().cloned().collect();
        }
        self.figures.erased += erased.len() as u64;
        for (id, said) in &erased {
            for bytes in said {
                let files = self.disk.files_with(bytes);
                if !files.is_empty() {
                    let said = String::from_utf8_lossy(bytes);
                    return Err(format!(
                        "event {id} is erased, and {said:?} is in {files:?}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Compares the brain, earlier views, the follower of the file, and copies of it with the account.
    fn look(&mut self) -> Result<(), String> {
        let fresh = self.life().store.view();
        let account = self.account.as_ref().ok_or("there is no brain")?;
        if fresh.lsn() != account.lsn() {
            return Err(format!(
                "{} is the newest, not {}",
                fresh.lsn(),
                account.lsn()
            ));
        }
        let random = &mut self.looks;
        let mut views = vec![("now", fresh.clone())];
        match random.below(6) {
            0 | 1 => views.extend(self.held.clone().map(|view| ("a view held for long", view))),
            2 => views.extend(self.before.clone().map(|view| ("a view held", view))),
            3 | 4 => {
                let follower = Follower::follow(self.follower.take(), &self.disk, FILE)?;
                views.push(("who follows", follower.view()));
                self.follower = Some(follower);
            }
            _ => {
                let bytes = self.disk.contents(FILE).ok_or("there is no file")?;
                views.push(("a copy", looks::copy(&bytes)?));
                self.figures.copies += 1;
                if random.below(4) == 0 {
                    looks::verified(&bytes)?;
                }
            }
        }
        for (what, view) in &views {
            let is_newest = view.lsn() == account.lsn() || what.starts_with("a view held");
            if !is_newest {
                return Err(format!(
                    "{what} ends with {}, not {}",
                    view.lsn(),
                    account.lsn()
                ));
            }
            let seen = looks::look(view, account, random);
            seen.map_err(|why| format!("{what}, LSN {}: {why}", view.lsn()))?;
            self.figures.compared += 1;
        }
        if self.held.is_none() || random.below(25) == 0 {
            self.held = Some(fresh.clone());
        }
        self.before = Some(fresh);
        Ok(())
    }
}
