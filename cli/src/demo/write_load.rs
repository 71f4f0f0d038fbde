//! Writes that go on while a step does something else.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use amem_client::{Reader, Retry, v1};
use amem_format::NodeId;
use amem_format::view::View;

use super::sandbox::poll;
use super::transcript::wrong;
use crate::connection::remote::{Remote, RemoteError};
use crate::failure::Failure;

/// The name of the brain.
pub(super) const BRAIN: &str = "marina";
/// The text of a write, before its number.
const ENTRY: &str = "Harbour log, entry";

/// A thread that writes one event after the other and counts each answer. Dropping it stops the thread.
pub(super) struct WriteLoad {
    /// The number of answered writes.
    answered: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), RemoteError>>>,
}

impl WriteLoad {
    pub(super) fn start(socket: &Path) -> Result<Self, Failure> {
        let remote = Remote::connect(socket)?;
        // Retries would hide the death of the daemon.
        let client = remote.client.clone().with_retry(Retry {
            until: Duration::ZERO,
            ..Retry::default()
        });
        let brain = remote.wait(client.brain(BRAIN))?;
        let (answered, stop) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (count, is_stopped) = (answered.clone(), stop.clone());
        let thread = Some(thread::spawn(move || {
            while !is_stopped.load(Ordering::Acquire) {
                let event = v1::NewEvent {
                    text: format!("{ENTRY} {}", count.load(Ordering::Acquire)),
                    ..Default::default()
                };
                remote.wait(brain.ingest(vec![event]))?;
                count.fetch_add(1, Ordering::Release);
            }
            Ok(())
        }));
        Ok(Self {
            answered,
            stop,
            thread,
        })
    }

    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    pub(super) fn wait_until(&self, count: u64) -> Result<(), Failure> {
        let claim = format!("{count} writes are answered");
        poll(&claim, || Ok((self.answered() >= count).then_some(())))
    }

    /// Waits until a write fails. Returns the number of answered writes, and the error.
    pub(super) fn wait_for_error(mut self) -> (u64, Option<RemoteError>) {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        (self.answered(), ended.and_then(Result::err))
    }
}

impl Drop for WriteLoad {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Counts the writes that a file has from event `from` on. Fails if one is missing between others.
pub(super) fn count_writes(file: &Path, from: u64) -> Result<(u64, View), Failure> {
    let (view, mut writes) = (Reader::open(file)?.view()?, 0);
    for id in from..view.nodes() {
        let text = view.node(NodeId(id))?.text()?.into_owned();
        if text.starts_with(ENTRY) {
            if text != format!("{ENTRY} {writes}") {
                return Err(wrong(format!("entry {writes} of the log is as written")));
            }
            writes += 1;
        }
    }
    Ok((writes, view))
}
