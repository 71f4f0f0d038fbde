//! The writer of one open brain: a thread of its own that owns the `Store`.
//!
//! It takes what waits, commits it as one group, publishes, answers all. Checkpoints are built beside it; it only
//! puts them in place. After a failed write, or a defect, it drops the store and recovers the brain from its file.
//!
//! Promises: an answer is given only when the commit is durable and every view taken from then on has it; an
//! erase is answered only when no file of ours has the content any more. Not here: what a mutation means
//! (`amem_store`), who may ask (`services`).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use amem_core::Generation;
use amem_store::mutation::{Answer, Mutation, Request};
use amem_store::{Folder, Store};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};

use crate::checkpoints::{Built, Checkpoints, Waiting};
use crate::limits::{GROUP_BYTES_MAX, GROUP_REQUESTS_MAX, IDLE_AFTER, RECOVER_AGAIN_AFTER};
use crate::open_brain::Shared;
use crate::refusal::{Refusal, Result};

/// What a writer is asked.
#[derive(Debug)]
pub(crate) enum Message {
    /// Execute a request.
    Write(Box<Write>),
    /// Make a new generation.
    Checkpoint(oneshot::Sender<Result<Generation>>),
    /// Something waits beside the queue.
    Wake,
    /// Close the brain in order.
    Close(oneshot::Sender<()>),
}

/// A request that waits.
#[derive(Debug)]
pub(crate) struct Write {
    /// What to do.
    pub(crate) request: Request,
    /// Its size.
    pub(crate) bytes: usize,
    /// Where the answer goes.
    pub(crate) answer: oneshot::Sender<Result<Written>>,
    /// Its share of the queue's bytes.
    pub(crate) permit: OwnedSemaphorePermit,
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
    shared: Arc<Shared>,
    queue: mpsc::Receiver<Message>,
    checkpoints: Checkpoints,
    recover_at: Instant,
}

impl Writer {
    /// Starts the thread.
    pub(crate) fn start(
        store: Store,
        shared: Arc<Shared>,
        (sender, queue): (mpsc::Sender<Message>, mpsc::Receiver<Message>),
    ) -> std::io::Result<()> {
        let mut writer = Self {
            folder: store.folder().clone(),
            name: store.name().to_owned(),
            checkpoints: Checkpoints::new(sender.downgrade(), &shared),
            store: Some(store),
            shared,
            queue,
            recover_at: Instant::now(),
        };
        let runtime = Handle::current();
        std::thread::Builder::new()
            .name(format!("writer {}", writer.name))
            .spawn(move || writer.run(&runtime))
            .map(drop)
    }

    fn run(&mut self, runtime: &Handle) {
        if let Some(store) = &mut self.store {
            self.checkpoints.begin_if_due(store, false);
        }
        loop {
            let next = async { tokio::time::timeout(IDLE_AFTER, self.queue.recv()).await };
            let message = match runtime.block_on(next) {
                Ok(Some(message)) => Some(message),
                Ok(None) => break,
                Err(_) => None,
            };
            match catch_unwind(AssertUnwindSafe(|| self.turn(message))) {
                Ok(None) => {}
                Ok(Some(closed)) => {
                    // Nobody may wait any more: then that is all right as well.
                    let _ = closed.send(());
                    break;
                }
                Err(_) => self.lose("a defect stopped the writer"),
            }
        }
        self.shared.close();
    }

    /// One round: what waits, as one group. Gives back who waits for the brain to be closed, once it is.
    fn turn(&mut self, first: Option<Message>) -> Option<oneshot::Sender<()>> {
        self.recover();
        self.install();
        let mut group = Vec::new();
        let mut bytes = 0;
        let mut next = first;
        let mut closing = None;
        let idle = next.is_none();
        while let Some(message) = next.take() {
            match message {
                Message::Write(write) => {
                    bytes += write.bytes;
                    group.push(*write);
                }
                Message::Checkpoint(answer) => self.checkpoints.wait(Waiting::Asked(answer)),
                Message::Wake => {}
                Message::Close(answer) => {
                    closing = Some(answer);
                    break;
                }
            }
            if group.len() >= GROUP_REQUESTS_MAX || bytes >= GROUP_BYTES_MAX {
                break;
            }
            next = self.queue.try_recv().ok();
        }
        self.commit(group);
        if let Some(answer) = closing {
            self.close();
            return Some(answer);
        }
        if let Some(store) = &mut self.store {
            self.checkpoints.begin_if_due(store, idle);
        }
        None
    }

    fn commit(&mut self, group: Vec<Write>) {
        if group.is_empty() {
            return;
        }
        let Some(store) = &mut self.store else {
            let why = self.shared.poisoned().unwrap_or_default();
            for write in group {
                let refusal = amem_store::Error::Poisoned { why: why.clone() };
                drop(write.answer.send(Err(refusal.into())));
            }
            return;
        };
        let mut requests = Vec::with_capacity(group.len());
        let mut askers = Vec::with_capacity(group.len());
        for write in group {
            let erases = matches!(write.request.mutation, Mutation::Erase(_));
            requests.push(write.request);
            askers.push((write.answer, erases, write.permit));
        }
        let answers = store.commit(&requests);
        let generation = store.brain().base().identity().generation;
        self.shared.show(store);
        let erase_pending = askers.iter().any(|(_, erases, _)| *erases) && store.erase_pending();
        let poisoned = store.poisoned().map(str::to_owned);
        for ((asker, erases, permit), answer) in askers.into_iter().zip(answers) {
            drop(permit);
            match answer {
                Ok(answer) if erases && erase_pending => {
                    self.checkpoints.wait(Waiting::Erased(asker, answer));
                }
                Ok(answer) => drop(asker.send(Ok(Written { answer, generation }))),
                Err(error) => drop(asker.send(Err(error.into()))),
            }
        }
        if let Some(why) = poisoned {
            self.lose(&why);
            self.recover();
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
            Built::Whole(checkpoint) => store.install(*checkpoint).map_err(Refusal::from),
            Built::Failed(refusal) => Err(refusal),
        };
        match installed {
            Ok(()) => {
                self.shared.show(store);
                let generation = store.brain().base().identity().generation;
                tracing::info!(
                    brain = self.name,
                    generation = generation.0,
                    waited_ms = started.elapsed().as_millis() as u64,
                    "checkpoint"
                );
                self.checkpoints.done(generation);
            }
            Err(refusal) => {
                tracing::warn!(
                    brain = self.name,
                    error = refusal.message,
                    "checkpoint failed"
                );
                self.checkpoints.failed(refusal);
                if let Some(why) = store.poisoned().map(str::to_owned) {
                    self.lose(&why);
                    self.recover();
                }
            }
        }
    }

    /// The store can't be used any more.
    fn lose(&mut self, why: &str) {
        tracing::error!(brain = self.name, why, "the brain has to be recovered");
        self.store = None;
        self.shared.poison(why);
        self.checkpoints.failed(Refusal::outcome_unknown());
    }

    /// Opens the brain again if it was lost, at most so often.
    fn recover(&mut self) {
        if self.store.is_some() || Instant::now() < self.recover_at {
            return;
        }
        match Store::open(&self.folder, &self.name) {
            Ok(store) => {
                tracing::info!(brain = self.name, lsn = store.view().lsn().0, "recovered");
                self.shared.show(&store);
                self.shared.recovered();
                self.store = Some(store);
            }
            Err(error) => {
                tracing::error!(brain = self.name, %error, "recovery failed");
                self.shared.poison(&error.to_string());
                self.recover_at = Instant::now() + RECOVER_AGAIN_AFTER;
                if matches!(error, amem_store::Error::NotFound { .. }) {
                    self.shared.close();
                    self.queue.close();
                }
            }
        }
    }

    fn close(&mut self) {
        self.checkpoints.failed(Refusal::new(
            tonic::Code::Unavailable,
            "CLOSING",
            "the daemon is stopping: ask again once it is back",
        ));
        if let Some(store) = self.store.take()
            && let Err(error) = store.close()
        {
            tracing::warn!(brain = self.name, %error, "closing");
        }
    }
}
