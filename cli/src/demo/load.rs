//! Writes that go on while something else happens.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use amem_client::{Reader, Retry, v1};
use amem_format::NodeId;
use amem_format::view::View;

use super::sandbox::{BRAIN, PATIENCE};
use super::transcript::wrong;
use crate::connection::remote::{Remote, RemoteError};
use crate::failure::Failure;

/// How a write begins; its number follows.
const ENTRY: &str = "Harbour log, entry";

/// Writes that go on in a thread: one event after the other, each counted once it is durable. Dropping it ends them.
pub(super) struct Load {
    answered: Arc<AtomicU64>,
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), RemoteError>>>,
}

impl Load {
    pub(super) fn start(socket: &Path) -> Result<Self, Failure> {
        let remote = Remote::connect(socket)?;
        // The daemon's death is to be seen, and not waited out.
        let client = remote.client.clone().with_retry(Retry {
            until: Duration::ZERO,
            ..Retry::default()
        });
        let brain = remote.wait(client.brain(BRAIN))?;
        let (answered, enough) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let (count, stop) = (answered.clone(), enough.clone());
        let write = move || {
            while !stop.load(Ordering::Acquire) {
                let event = v1::NewEvent {
                    text: format!("{ENTRY} {}", count.load(Ordering::Acquire)),
                    ..Default::default()
                };
                remote.wait(brain.ingest(vec![event]))?;
                count.fetch_add(1, Ordering::Release);
            }
            Ok(())
        };
        let thread = Some(thread::spawn(write));
        Ok(Self {
            answered,
            enough,
            thread,
        })
    }

    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    pub(super) fn wait_until(&self, count: u64) -> Result<(), Failure> {
        let began = Instant::now();
        while self.answered() < count {
            if began.elapsed() > PATIENCE {
                return Err(wrong(format!("{count} writes are answered")));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Waits until a write fails. Returns how many were answered before, and the error.
    pub(super) fn wait_for_error(mut self) -> (u64, Option<RemoteError>) {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        (self.answered(), ended.and_then(Result::err))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.enough.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// How many of the writes a file holds behind an event, without a gap.
pub(super) fn count_held(file: &Path, from: u64) -> Result<(u64, View), Failure> {
    let (view, mut held) = (Reader::open(file)?.view()?, 0);
    for id in from..view.nodes() {
        let node = view.node(NodeId(id))?;
        let text = node.text()?;
        if text.starts_with(ENTRY) {
            if *text != format!("{ENTRY} {held}") {
                return Err(wrong(format!("entry {held} of the log is as written")));
            }
            held += 1;
        }
    }
    Ok((held, view))
}
