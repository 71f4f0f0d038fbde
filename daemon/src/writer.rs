//! The writer of one open brain: a thread of its own that owns the `Store`.
//!
//! It takes what waits, commits it as one group, publishes, answers all. Checkpoints are built beside it; it only
//! puts them in place. After a failed write, or a defect, it drops the store and recovers the brain from its file.
//!
//! Promises: an answer is given only when the commit is durable and every view taken from then on has it; an
//! erase is answered only when no file of ours has the content any more. Not here: what a mutation means
//! (`amem_store`), who may ask (`services`), a store that can't go on (`recovery`).

mod recovery;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_format::Generation;
use amem_store::mutation::{Answer, Mutation, Request};
use amem_store::{Error, Folder, Store};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::checkpoints::{self, Built, Checkpoints, Waiting};
use crate::figures::micros;
use crate::health::Health;
use crate::jobs::Jobs;
use crate::limits::{GROUP_BYTES_MAX, GROUP_REQUESTS_MAX, IDLE_AFTER, TOUCH_AFTER};
use crate::open_brain::Shared;
use crate::refusal::{Refusal, Result};

/// Who the daemon is where it acts for itself.
const PRINCIPAL: &str = "amemd";

/// What a writer is asked.
#[derive(Debug)]
pub(crate) enum Message {
    /// Execute a request.
    Write(Box<Write>),
    /// Make a new generation.
    Checkpoint(oneshot::Sender<Result<Generation>>),
    /// Look whether the brain's name is still that of its file.
    HoldName(oneshot::Sender<Result<bool>>),
    /// Let those read the file who may.
    Protect(oneshot::Sender<Result<()>>),
    /// Something waits beside the queue.
    Wake,
    /// Let go of the brain.
    End(Ending, oneshot::Sender<Result<Option<String>>>),
}

/// How a writer lets go of its brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In order: the next one need not recover it.
    Close,
    /// Its file is taken away.
    Remove,
    /// Its file is taken away, and what was committed is kept aside.
    Retire,
}

/// Who waits for a brain's end, and how it went.
type Ended = (
    oneshot::Sender<Result<Option<String>>>,
    Result<Option<String>>,
);

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Write {
    /// What to do.
    pub(crate) request: Request,
    /// Its size.
    pub(crate) bytes: usize,
    /// Since when it waits, and the call that waits for it; none for what the writer asks of itself.
    pub(crate) asked: Option<(Instant, tracing::Span)>,
    /// Where the answer goes.
    pub(crate) answer: oneshot::Sender<Result<Written>>,
    /// Its share of the queue's bytes; none for what the writer asks of itself.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// A request that was executed.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// What was done.
    pub(crate) answer: Answer,
    /// The generation that has it.
    pub(crate) generation: Generation,
}

/// The thread's own state.
pub(crate) struct Writer {
    folder: Folder,
    name: String,
    /// `None` until the brain is recovered.
    store: Option<Store>,
    /// What was lost with its name is saved: there is nothing more to recover.
    is_saved: bool,
    /// It is not, but for in the file that the store has open.
    is_unsaved: bool,
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Message>,
    checkpoints: Checkpoints,
    jobs: Jobs,
    health: Health,
    runtime: Handle,
    recover_at: Instant,
    written_at: Instant,
    /// When uses of events that wait are counted.
    touch_at: Option<Instant>,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        store: Store,
        shared: Arc<Shared>,
        (sender, queue): (mpsc::Sender<Message>, mpsc::Receiver<Message>),
        jobs: Jobs,
        health: Health,
    ) -> std::io::Result<()> {
        let mut writer = Self {
            folder: store.folder().clone(),
            name: store.name().to_owned(),
            checkpoints: Checkpoints::new(sender.downgrade(), &shared, &jobs),
            store: Some(store),
            is_saved: false,
            is_unsaved: false,
            shared,
            queue,
            jobs,
            health,
            runtime: Handle::current(),
            recover_at: Instant::now(),
            written_at: Instant::now(),
            touch_at: None,
        };
        std::thread::Builder::new()
            .name(format!("writer {}", writer.name))
            .spawn(move || {
                let ended = writer.run();
                // Whoever is told of the end finds nothing held any more: neither the file nor the folder.
                drop(writer);
                if let Some((asker, outcome)) = ended {
                    // Nobody may wait any more: then that is all right as well.
                    drop(asker.send(outcome));
                }
            })
            .map(drop)
    }

    /// Works until the end; gives who waits for it, and how it went.
    fn run(&mut self) -> Option<Ended> {
        if let Some(store) = &mut self.store {
            self.checkpoints.note_erased(store.erase_pending());
            self.checkpoints.begin_if_due(store, false);
        }
        let mut ended = None;
        loop {
            let recover_at = self.store.is_none().then_some(self.recover_at);
            let next_at = self.touch_at.into_iter().chain(recover_at).min();
            let wait = next_at.map_or(IDLE_AFTER, |at| {
                at.saturating_duration_since(Instant::now())
            });
            let next = async { tokio::time::timeout(wait, self.queue.recv()).await };
            let message = match self.runtime.clone().block_on(next) {
                Ok(Some(message)) => Some(message),
                Ok(None) => break,
                Err(_) => None,
            };
            match catch_unwind(AssertUnwindSafe(|| self.turn(message))) {
                Ok(None) => {}
                Ok(Some(end)) => {
                    ended = Some(end);
                    break;
                }
                Err(_) => self.lose("a defect stopped the writer"),
            }
        }
        self.shared.close();
        ended
    }

    /// One round: what waits, as one group. Gives back who waits for the brain's end, once it is there.
    fn turn(&mut self, first: Option<Message>) -> Option<Ended> {
        self.recover();
        self.install();
        let mut group = Vec::new();
        let mut bytes = 0;
        let mut next = first;
        let mut ending = None;
        while let Some(message) = next.take() {
            match message {
                // What nobody waits for any more is not begun.
                Message::Write(write) if write.answer.is_closed() => {}
                Message::Write(write) => {
                    bytes += write.bytes;
                    group.push(*write);
                }
                Message::Checkpoint(answer) => self.checkpoints.wait(Waiting::Asked(answer)),
                Message::HoldName(asker) => drop(asker.send(self.hold_name())),
                Message::Protect(asker) => drop(asker.send(self.protect())),
                Message::Wake => {}
                Message::End(how, asker) => {
                    ending = Some((how, asker));
                    break;
                }
            }
            if group.len() >= GROUP_REQUESTS_MAX || bytes >= GROUP_BYTES_MAX {
                break;
            }
            next = self.queue.try_recv().ok();
        }
        if !group.is_empty() {
            self.written_at = Instant::now();
        }
        self.count_touches(&mut group, ending.is_some());
        self.commit(group);
        if let Some((how, asker)) = ending {
            let outcome = self.end(how);
            return Some((asker, outcome));
        }
        let is_idle = self.written_at.elapsed() >= IDLE_AFTER;
        if let Some(store) = &mut self.store {
            self.checkpoints.begin_if_due(store, is_idle);
        }
        None
    }

    /// Adds the uses of events that wait to a group, if it is time to.
    fn count_touches(&mut self, group: &mut Vec<Write>, at_once: bool) {
        if self.shared.touches.is_empty() {
            self.touch_at = None;
            return;
        }
        let now = Instant::now();
        let at = *self.touch_at.get_or_insert(now + TOUCH_AFTER);
        if now < at && !at_once {
            return;
        }
        self.touch_at = Some(now + TOUCH_AFTER);
        let Some(store) = &self.store else {
            return;
        };
        self.touch_at = None;
        let view = store.view();
        let shown = |id| view.node(id).is_ok_and(|node| !node.is_forgotten());
        let mut touched = self.shared.touches.take();
        touched.retain(|(id, _)| shown(*id));
        if !touched.is_empty() {
            group.push(Write {
                // Nobody's act: readers do not write.
                request: Request::new(Mutation::Touch(touched)).by(PRINCIPAL, ""),
                bytes: 0,
                asked: None,
                // Uses that are lost with a failed write are lost.
                answer: oneshot::channel().0,
                permit: None,
            });
        }
    }

    fn commit(&mut self, group: Vec<Write>) {
        if group.is_empty() {
            return;
        }
        let Some(store) = &mut self.store else {
            let why = self.shared.poisoned().unwrap_or_default();
            for write in group {
                let refusal = Error::Poisoned { why: why.clone() };
                drop(write.answer.send(Err(refusal.into())));
            }
            return;
        };
        let mut requests = Vec::with_capacity(group.len());
        let mut askers = Vec::with_capacity(group.len());
        let (figures, begun) = (&self.shared.figures, Instant::now());
        for write in group {
            let erases = matches!(write.request.mutation, Mutation::Erase(_));
            let call = write.asked.map(|(since, call)| {
                figures.waits.record(micros(begun.duration_since(since)));
                call
            });
            requests.push(write.request);
            askers.push((write.answer, erases, write.permit, call));
        }
        let lsn = store.view().lsn();
        let answers = store.commit(&requests);
        let generation = store.brain().base().identity().generation;
        self.shared.show(store);
        figures.requests.add(requests.len() as u64);
        figures.groups.record(requests.len() as u64);
        let commits = store.view().lsn().0.saturating_sub(lsn.0);
        if commits > 0 {
            figures.commits.add(commits);
            figures.syncs.record(micros(store.sync_time()));
        }
        // What is being built has what was erased, too: a large merge of the same group makes a generation before it.
        let is_pending = store.erase_pending() || self.checkpoints.is_building();
        let erase_pending = askers.iter().any(|(_, erases, ..)| *erases) && is_pending;
        for ((asker, erases, permit, call), answer) in askers.into_iter().zip(answers) {
            drop(permit);
            match answer {
                Ok(answer) if erases && erase_pending => {
                    self.checkpoints.wait(Waiting::Erased(asker, answer));
                }
                Ok(answer) => drop(asker.send(Ok(Written { answer, generation }))),
                Err(error) => {
                    figures.refused.add(1);
                    let name = &self.name;
                    call.unwrap_or_else(tracing::Span::none)
                        .in_scope(|| tracing::debug!(brain = name, %error, "not committed"));
                    drop(asker.send(Err(error.into())));
                }
            }
        }
        self.heed();
    }

    fn hold_name(&mut self) -> Result<bool> {
        let Some(store) = &mut self.store else {
            let why = self.shared.poisoned().unwrap_or_default();
            return Err(Error::Poisoned { why }.into());
        };
        let held = store.check_path();
        self.shared.show(store);
        self.heed();
        Ok(held?)
    }

    fn protect(&self) -> Result<()> {
        match &self.store {
            Some(store) => Ok(store.protect()?),
            // It is done when it is opened again.
            None => Ok(()),
        }
    }

    /// Puts a checkpoint in place that was built meanwhile.
    fn install(&mut self) {
        let Some(built) = self.checkpoints.take_built() else {
            return;
        };
        let Some(store) = &mut self.store else {
            self.checkpoints.failed(Refusal::outcome_unknown());
            return;
        };
        let started = Instant::now();
        let installed = match built {
            Built::Whole(checkpoint) if !checkpoint.is_next_of(store) => {
                // A large merge has made a new generation by itself, of all that was there when this one was begun.
                let generation = store.brain().base().identity().generation;
                self.checkpoints.done(generation, Duration::ZERO);
                return;
            }
            Built::Whole(checkpoint) => store.install(*checkpoint).map_err(Refusal::from),
            Built::Failed(refusal) => Err(refusal),
        };
        match installed {
            Ok(retired) => {
                self.shared.show(store);
                checkpoints::let_go(retired, &self.shared);
                let generation = store.brain().base().identity().generation;
                tracing::info!(
                    brain = self.name,
                    generation = generation.0,
                    waited_ms = started.elapsed().as_millis() as u64,
                    "checkpoint"
                );
                self.checkpoints.done(generation, started.elapsed());
            }
            Err(refusal) => {
                tracing::warn!(
                    brain = self.name,
                    error = refusal.message,
                    "checkpoint failed"
                );
                self.checkpoints.failed(refusal);
                self.heed();
            }
        }
    }

    /// Lets go of the brain; gives the name of what is kept of it.
    fn end(&mut self, how: Ending) -> Result<Option<String>> {
        self.checkpoints.failed(Refusal::new(
            tonic::Code::Unavailable,
            "CLOSING",
            "the brain is being closed: ask again",
        ));
        if self.store.is_none() {
            self.recover_nameless();
        }
        let Some(mut store) = self.store.take() else {
            let why = self.shared.poisoned().unwrap_or_default();
            return Err(Error::Poisoned { why }.into());
        };
        let ended = match how {
            // The last chance to save it.
            Ending::Close if self.is_unsaved => store
                .check_path()
                .and_then(|_| store.close().map(|()| None)),
            Ending::Close => store.close().map(|()| None),
            Ending::Remove => store.remove().map(|()| None),
            Ending::Retire => store.retire().map(|saved| Some(saved.to_string())),
        };
        if let Err(error) = &ended {
            tracing::warn!(brain = self.name, %error, "closing");
        }
        Ok(ended?)
    }
}
