//! A background writer: a thread that commits one small event at a steady pace.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use amem_format::EventType;
use amem_store::mutation::{Ingest, NewEvent};
use amem_store::{Mutation, Request, Store};

use super::super::measure::Outcome;

/// Commits in a second.
const RATE: u32 = 1_000;

/// The progress of the writer, for readers.
#[derive(Default)]
pub(super) struct Pace {
    is_over: AtomicBool,
    /// The newest commit that was answered.
    answered: AtomicU64,
    commits: AtomicU64,
}

impl Pace {
    /// The newest commit that was answered.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Acquire)
    }

    /// Commits since it began.
    pub(super) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }
}

/// Does something while the store commits a thousand times a second.
pub(super) fn beside<T>(store: &mut Store, act: impl FnOnce(&Pace) -> Outcome<T>) -> Outcome<T> {
    let pace = Pace::default();
    thread::scope(|scope| {
        let writer = scope.spawn(|| write(store, &pace));
        while pace.commits() < 3 && !writer.is_finished() {
            thread::yield_now();
        }
        let done = act(&pace);
        pace.is_over.store(true, Ordering::Relaxed);
        writer.join().map_err(|_| "the writer panicked")??;
        done
    })
}

fn write(store: &mut Store, pace: &Pace) -> amem_store::Result<()> {
    let began = Instant::now();
    let mut commits = 0;
    while !pace.is_over.load(Ordering::Relaxed) {
        let ingest = Ingest {
            events: vec![NewEvent::new(EventType::FACT, format!("commit {commits}"))],
            ..Ingest::default()
        };
        let answer = store.execute(Request::new(Mutation::Ingest(ingest)))?;
        pace.answered.store(answer.lsn.0, Ordering::Release);
        commits += 1;
        pace.commits.store(commits.into(), Ordering::Relaxed);
        let due = Duration::from_secs(1) / RATE * commits;
        thread::sleep(due.saturating_sub(began.elapsed()));
    }
    Ok(())
}
