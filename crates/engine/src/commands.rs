//! Commands to a brain's writer, and their answers.

use std::sync::Arc;
use std::time::Instant;

use amem_format::Generation;
use amem_store::Reembedding;
use amem_store::mutation::{Answer, Request};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::error::Result;

/// Where a command's answer goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T>>;

/// A command to a writer.
#[derive(Debug)]
pub(crate) enum WriterCommand {
    /// Commit a request.
    Commit(Box<QueuedCommit>),
    /// Make a new generation.
    Checkpoint(Reply<Generation>),
    /// Make a new generation with vectors of another space.
    Reembed(Arc<Reembedding>, Reply<Generation>),
    /// Check that the brain's name still is that of its file; see `Store::check_path`.
    HoldName(Reply<bool>),
    /// Give the file its group and mode; see `Store::protect`.
    Protect(Reply<()>),
    /// Look at what waits beside the queue: touches, a checkpoint that was built.
    Wake,
    /// Release the brain; answered with the name of what is quarantined of it.
    End(CloseMode, Reply<Option<String>>),
}

/// How a writer releases its brain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CloseMode {
    /// Closes it cleanly: the next opening need not recover it.
    Close,
    /// The same, for another brain that takes its place.
    Superseded,
    /// Removes its file.
    Remove,
    /// Removes its file, and quarantines what was committed.
    Retire,
}

/// A request that waits to be committed.
#[derive(Debug)]
pub(crate) struct QueuedCommit {
    pub(crate) request: Request,
    /// Its size on the wire.
    pub(crate) bytes: usize,
    /// Since when it waits, and the call that waits for it; none for the writer's own requests.
    pub(crate) asked: Option<(Instant, tracing::Span)>,
    pub(crate) reply: Reply<CommitAnswer>,
    /// Its share of the queue's bytes; none for the writer's own requests.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

/// A request that was executed.
#[derive(Debug, Clone)]
pub struct CommitAnswer {
    /// What was done.
    pub answer: Answer,
    /// The generation that has it.
    pub generation: Generation,
}
