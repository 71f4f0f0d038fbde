//! The services of amem.v1: each call is turned into a request to a brain's writer or a question to its view.

mod admin;
mod answers;
mod brain;
mod change_feed;
mod command;
mod ingest_stream;
mod memory;
mod merge;
mod query;
mod status;
mod subscribe;
mod tokens;
mod transfer;
mod validate;

use std::path::PathBuf;
use std::sync::Arc;

use amem_proto::answer::Question;
use tokio::sync::{Semaphore, watch};
use tonic::Request;

use crate::access::{Caller, Role};
use crate::brains::Brains;
use crate::config::READERS;
use crate::control::{Control, Reloaded};
use crate::heavy::{Heavy, Threads};
use crate::latency::Latencies;
use crate::limits::{FOLLOWING_MAX, LIST_PAGE_MAX, READS_MAX, READS_MIN, READS_PER_CPU, SCANS_MAX};
use crate::refusal::{Refusal, Result};
use crate::schedules::Schedules;
use crate::shares::Shares;

pub(crate) use amem_proto::answer::{moment, space, timestamp};
pub(crate) use change_feed::{Only, Telling, Told, standing};
pub use command::Asks;
pub(crate) use command::{commit, request};
pub use validate::Says;

/// What all calls have in common.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) brains: Brains,
    pub(crate) socket: PathBuf,
    /// Reloads the configuration, and ends the daemon.
    pub(crate) control: Control,
    /// Heavy questions.
    reads: Heavy,
    /// Work that goes through a whole file.
    scans: Heavy,
    /// What is done by itself.
    pub(crate) schedules: Schedules,
    /// Turns of exports.
    exports: Shares,
    /// Turns of streams of batches.
    streams: Shares,
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
        let threads = Arc::new(Threads::new(reads + SCANS_MAX)?);
        let scans = Heavy::new(&threads, SCANS_MAX);
        Ok(Self {
            schedules: Schedules::new(brains.clone(), scans.clone()),
            brains,
            socket,
            control,
            reads: Heavy::new(&threads, reads),
            scans,
            exports: Shares::default(),
            streams: Shares::default(),
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
            self.brains.let_read(readers).await?;
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
