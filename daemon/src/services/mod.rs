//! The services of amem.v1: each call is turned into a request to a brain's writer or a question to its view.

mod admin;
mod brain;
mod memory;
mod merge;
mod query;
mod sending;
mod status;
mod stream;
mod subscribe;
mod tokens;
mod transfer;

use std::path::PathBuf;
use std::sync::Arc;

use amem_proto::answer::Question;
use tokio::sync::{Semaphore, watch};
use tonic::Request;

use crate::access::{Caller, Role};
use crate::brains::Brains;
use crate::call_pool::CallPool;
use crate::config::READERS;
use crate::control::{Control, Reloaded};
use crate::ingress::latency::Latencies;
use crate::ingress::quota::Quota;
use crate::limits::{FOLLOWING_MAX, LIST_PAGE_MAX, READS_MAX, READS_MIN, READS_PER_CPU, SCANS_MAX};
use crate::refusal::{Refusal, Result};

use amem_engine::{BlockingPool, BlockingThreads, Schedules};

/// What all calls have in common.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) brains: Brains,
    pub(crate) socket: PathBuf,
    /// Reloads the configuration, and ends the daemon.
    pub(crate) control: Control,
    /// Heavy questions.
    reads: CallPool,
    /// Work that goes through a whole file.
    scans: CallPool,
    /// What is done by itself.
    pub(crate) schedules: Schedules,
    /// Turns of exports.
    exports: Quota,
    /// Turns of streams of batches.
    streams: Quota,
    /// Turns of subscriptions that go through commits.
    follows: Arc<Semaphore>,
    /// True once the daemon stops: streams end.
    stop: watch::Receiver<bool>,
    latencies: Latencies,
}

impl Daemon {
    pub(crate) fn new(
        brains: Brains,
        socket: PathBuf,
        stop: watch::Receiver<bool>,
        latencies: Latencies,
        control: Control,
    ) -> std::io::Result<Self> {
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let reads = (READS_PER_CPU * cpus).clamp(READS_MIN, READS_MAX);
        let threads = Arc::new(BlockingThreads::new(reads + SCANS_MAX)?);
        let scans = BlockingPool::new(&threads, SCANS_MAX);
        Ok(Self {
            schedules: Schedules::new(brains.engine().clone(), scans.clone()),
            brains,
            socket,
            control,
            reads: CallPool(BlockingPool::new(&threads, reads)),
            scans: CallPool(scans),
            exports: Quota::default(),
            streams: Quota::default(),
            follows: Arc::new(Semaphore::new(FOLLOWING_MAX)),
            stop,
            latencies,
        })
    }

    /// Reads the configuration again and puts it into force.
    pub(crate) async fn reload(&self) -> Result<Reloaded> {
        let reloaded = self.control.reload().map_err(|error| {
            let message = format!("nothing was changed: {error}");
            Refusal::new(tonic::Code::InvalidArgument, "CONFIGURATION", message)
        })?;
        if reloaded.changed.iter().any(|key| key == READERS) {
            let readers = self.control.live().access.readers().clone();
            self.brains.engine().set_readers(readers).await?;
        }
        Ok(reloaded)
    }

    /// Answers a question from a brain's newest view, or that of an earlier moment; what takes its time, beside the
    /// calls. What callers use who may change the brain counts as used.
    async fn ask<Q: Question>(&self, request: Request<Q>) -> Result<Q::Answer> {
        let (caller, question) = parts(request)?;
        let brain = self.brains.get(&caller, question.brain()).await?;
        let may_write = caller.rights.of(&brain.name) >= Some(Role::Write);
        let answered = if question.is_heavy() {
            let brain = brain.clone();
            let answer = move || Ok(question.ask(&brain.view())?);
            self.reads.of(&caller.principal).run(answer).await?
        } else {
            question.ask(&brain.view())?
        };
        if may_write {
            brain.touch(answered.touched);
        }
        Ok(answered.answer)
    }
}

/// How many a page of a list has, of those asked for.
fn page_size(asked: u32) -> usize {
    match asked as usize {
        0 => LIST_PAGE_MAX,
        asked => asked.min(LIST_PAGE_MAX),
    }
}

/// Who calls: the door lets nobody in of whom it does not know it.
fn caller(extensions: &tonic::Extensions) -> Result<&Caller> {
    let caller = extensions.get::<Caller>();
    caller.ok_or_else(|| Refusal::internal("a call came in that nobody let in"))
}

/// Who calls, and with what.
fn parts<T>(request: Request<T>) -> Result<(Caller, T)> {
    let caller = caller(request.extensions())?.clone();
    Ok((caller, request.into_inner()))
}

/// One service.
#[derive(Debug, Clone)]
pub(crate) struct Service(pub(crate) Arc<Daemon>);
