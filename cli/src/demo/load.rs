//! Writes that go on while something else happens: one event after the other, each counted once it is durable.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use amem_client::{Reader, v1};
use amem_format::view::View;

use super::stage::{DemoError, Result};
use crate::remote::{Remote, RemoteError};

/// The key of the session that is written to.
const SESSION: &str = "marina/log";
/// How long it may take until enough is written.
const PATIENCE: Duration = Duration::from_secs(10);

/// A writer in a thread of its own, on a connection of its own. Dropping it ends it.
pub(crate) struct Load {
    acknowledged: Arc<AtomicU64>,
    enough: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), RemoteError>>>,
}

impl Load {
    /// Begins to write.
    pub(crate) fn start(socket: &Path, brain: &str) -> Result<Self> {
        let remote = Remote::connect(socket)?;
        let brain = brain.to_owned();
        let (acknowledged, enough) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (count, stop) = (acknowledged.clone(), enough.clone());
        let thread = thread::spawn(move || write(&remote, &brain, &count, &stop));
        Ok(Self {
            acknowledged,
            enough,
            thread: Some(thread),
        })
    }

    /// How many events were acknowledged.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    /// Waits until that many were acknowledged.
    pub(crate) fn until(&self, count: u64) -> Result<()> {
        let began = Instant::now();
        while self.acknowledged() < count {
            let ended = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
            if ended || began.elapsed() > PATIENCE {
                return Err(DemoError::Wrong(format!("{count} writes are acknowledged")));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Waits until a write fails; gives how many were acknowledged before, and the error.
    pub(crate) fn broken(mut self) -> (u64, Option<RemoteError>) {
        let ended = self.thread.take().and_then(|thread| thread.join().ok());
        (self.acknowledged(), ended.and_then(Result::err))
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

fn write(
    remote: &Remote,
    brain: &str,
    acknowledged: &AtomicU64,
    enough: &AtomicBool,
) -> Result<(), RemoteError> {
    let mut memory = remote.client.memory();
    let session = remote.call(memory.open_session(v1::OpenSessionRequest {
        brain: brain.into(),
        options: Some(options()),
        key: SESSION.into(),
    }))?;
    while !enough.load(Ordering::Acquire) {
        let event = v1::NewEvent {
            text: text(acknowledged.load(Ordering::Acquire)),
            session_id: Some(session.session_id),
            ..Default::default()
        };
        remote.call(memory.ingest(v1::IngestRequest {
            brain: brain.into(),
            options: Some(options()),
            events: vec![event],
            ..Default::default()
        }))?;
        acknowledged.fetch_add(1, Ordering::Release);
    }
    Ok(())
}

fn options() -> v1::WriteOptions {
    v1::WriteOptions {
        agent: "logger".into(),
        ..Default::default()
    }
}

/// What the n-th write says.
fn text(n: u64) -> String {
    format!("Harbour log, entry {n}: a boat passed the pier.")
}

/// How many of the writes a file holds, without a gap: the first, the second, and so on.
pub(crate) fn held(path: &Path) -> Result<(u64, View)> {
    let reader = Reader::open(path)?;
    let view = reader.view()?;
    let mut held = 0;
    if let Some(session) = view.session_by_key(SESSION)? {
        for id in view.of_session(session)?.iter() {
            if view.node(id)?.text()? != text(held) {
                return Err(DemoError::Wrong(format!(
                    "entry {held} of the log is as written"
                )));
            }
            held += 1;
        }
    }
    Ok((held, view))
}
