//! The services of amem.v1: each call is turned into a request to a brain's writer or a question to its view.

mod admin;
mod brain;
mod memory;
mod query;
mod status;
mod stream;
mod subscribe;
mod transfer;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use amem_proto::answer::Question;
use tokio::sync::{Semaphore, watch};
use tonic::Code;

use crate::brains::{Brains, blocking};
use crate::latency::Latencies;
use crate::limits::{LIST_PAGE_MAX, MESSAGE_BYTES_MAX, READS_MAX};
use crate::refusal::{Refusal, Result};

/// What all calls have in common.
#[derive(Debug)]
pub(crate) struct Daemon {
    pub(crate) brains: Brains,
    pub(crate) socket: PathBuf,
    started: Instant,
    reads: Semaphore,
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
    ) -> Self {
        Self {
            brains,
            socket,
            started: Instant::now(),
            reads: Semaphore::new(READS_MAX),
            stop,
            latencies,
        }
    }

    /// Answers a question from a brain's newest view, or that of an earlier moment; what takes its time, beside the
    /// calls.
    async fn ask<Q: Question>(&self, question: Q) -> Result<Q::Answer> {
        let brain = self.brains.get(question.brain()).await?;
        let answered = if Q::IS_HEAVY {
            let _turn = self.reads.acquire().await;
            let brain = brain.clone();
            blocking(move || question.ask(&brain.view())).await??
        } else {
            question.ask(&brain.view())?
        };
        brain.touch(answered.touched);
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

/// Refuses a message that is too large.
fn check_size(what: &str, bytes: usize, remedy: &str) -> Result<()> {
    if bytes <= MESSAGE_BYTES_MAX {
        return Ok(());
    }
    let message =
        format!("{what} has {bytes} bytes, more than the limit of {MESSAGE_BYTES_MAX}: {remedy}");
    Err(Refusal::new(
        Code::ResourceExhausted,
        "MESSAGE_SIZE",
        message,
    ))
}

/// Who calls; the socket let nobody in of whom the kernel does not know it.
fn principal(extensions: &tonic::Extensions) -> Result<String> {
    crate::socket::principal(extensions).ok_or_else(|| {
        Refusal::new(
            Code::Unauthenticated,
            "PRINCIPAL",
            "the connection does not say whose it is: connect through the Unix socket",
        )
    })
}

/// One service.
#[derive(Debug, Clone)]
pub(crate) struct Service(pub(crate) Arc<Daemon>);
