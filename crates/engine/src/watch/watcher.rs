//! The watcher's loop: waits for names to check, and works on them.

use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_store::disk::Stamp;
use amem_store::folder::SUFFIX;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use super::arrivals::{Arrivals, Verdict};
use super::events::{FolderEvent, FolderEvents};
use crate::brains::{AdoptionOutcome, Engine, NameState};
use crate::limits::{
    ADOPTIONS_MAX, GONE_AFTER, LOOKS_MAX, RESCAN_EVERY, RESCAN_UNWATCHED_EVERY, SETTLE_AFTER,
    WATCH_AGAIN_AFTER,
};
use crate::tasks::caught;

/// Watches the folder of an engine for as long as it is polled.
pub async fn watch(engine: Engine) {
    let events = match FolderEvents::of(engine.path()) {
        Ok(events) => Some(events),
        Err(why) => {
            let every = RESCAN_UNWATCHED_EVERY.as_secs();
            tracing::warn!(%why, every, "the folder can't be watched: it is rescanned regularly");
            None
        }
    };
    let watcher = Watcher {
        engine,
        events,
        arrivals: Arrivals::default(),
        work: JoinSet::new(),
        rescan_at: Instant::now(),
    };
    rounds(watcher, |watcher| Box::pin(watcher.round())).await;
}

/// One round of a watcher.
type Round<'w> = Pin<Box<dyn Future<Output = ()> + Send + 'w>>;

/// Runs rounds for as long as it is polled, even if one panics.
async fn rounds(mut watcher: Watcher, mut round: impl for<'w> FnMut(&'w mut Watcher) -> Round<'w>) {
    loop {
        if caught(round(&mut watcher)).await.is_ok() {
            continue;
        }
        let after = WATCH_AGAIN_AFTER.as_millis();
        tracing::error!(
            after,
            "a defect stopped a check of the folder: it goes on in as many ms"
        );
        tokio::time::sleep(WATCH_AGAIN_AFTER).await;
        // A rescan finds what that round left.
        watcher.rescan_at = Instant::now();
    }
}

struct Watcher {
    engine: Engine,
    events: Option<FolderEvents>,
    arrivals: Arrivals,
    work: JoinSet<FinishedWork>,
    rescan_at: Instant,
}

/// A name that was worked on.
struct FinishedWork {
    name: String,
    stamp: Option<Stamp>,
    outcome: AdoptionOutcome,
}

impl Watcher {
    /// Waits for something to do, and does it or starts it.
    async fn round(&mut self) {
        let next = [self.arrivals.next(), self.engine.next_original()];
        let mut next = next
            .into_iter()
            .flatten()
            .fold(self.rescan_at, Instant::min);
        if self.work.len() >= ADOPTIONS_MAX {
            // Due names wait until work ends.
            next = next.max(Instant::now() + Duration::from_millis(100));
        }
        let events = async {
            match &self.events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            events = events => match events {
                Ok(events) => self.note(events),
                Err(why) => {
                    tracing::warn!(%why, "the folder's watch is lost: it is rescanned regularly");
                    self.events = None;
                }
            },
            name = self.engine.asked() => self.arrivals.check_at(&name, false, Instant::now()),
            Some(done) = self.work.join_next() => {
                // A panic is in the log, and the next rescan finds its file.
                if let Ok(done) = done {
                    self.done(done);
                }
            }
            () = sleep_until(next.into()) => {}
        }
        let now = Instant::now();
        if now >= self.rescan_at {
            self.rescan().await;
        }
        self.engine.finalise_due_originals().await;
        let room = ADOPTIONS_MAX.saturating_sub(self.work.len());
        if room > 0 {
            let mut checked = Vec::new();
            for name in self.arrivals.due(now, LOOKS_MAX) {
                if self.work.len() >= ADOPTIONS_MAX {
                    // It is checked when one of those ends.
                    self.arrivals.check_at(&name, false, now);
                    continue;
                }
                self.check(name.clone()).await;
                checked.push(name);
            }
            self.engine.log_wrong_modes(Some(checked)).await;
        }
        self.engine.log_quarantined();
        let waiting = self.arrivals.waiting() + self.work.len();
        let metrics = self.engine.metrics();
        metrics.files_waiting().set(waiting as u64);
    }

    fn note(&mut self, events: Vec<FolderEvent>) {
        let now = Instant::now();
        for event in events {
            match event {
                FolderEvent::Name { name, closed } => {
                    if let Some(name) = brain_of(&name) {
                        self.arrivals.check_at(name, closed, now);
                    }
                }
                // It takes a rescan to list it: there may be many, so that comes a moment later.
                FolderEvent::Unreadable => self.rescan_at = self.rescan_at.min(now + SETTLE_AFTER),
                FolderEvent::Everything => self.rescan_at = now,
            }
        }
    }

    /// Checks the whole folder.
    async fn rescan(&mut self) {
        let every = match self.events {
            Some(_) => RESCAN_EVERY,
            None => RESCAN_UNWATCHED_EVERY,
        };
        self.rescan_at = Instant::now() + every;
        let found = match self.engine.names_to_check().await {
            Ok(found) => found,
            Err(error) => {
                tracing::error!(why = error.to_string(), "the folder can't be listed");
                return;
            }
        };
        self.engine.log_wrong_modes(None).await;
        let now = Instant::now();
        for name in self.arrivals.names().iter().chain(&found) {
            self.arrivals.check_at(name, false, now);
        }
    }

    async fn check(&mut self, name: String) {
        let now = Instant::now();
        match self.engine.check_name(&name).await {
            NameState::Settled => self.arrivals.forget(&name),
            NameState::Missing { since } if since.elapsed() < GONE_AFTER => {
                // A program that rewrites the file may be about to put it in place.
                self.arrivals.check_at(&name, false, since + GONE_AFTER);
            }
            NameState::Missing { .. } | NameState::Displaced => {
                let engine = self.engine.clone();
                self.work.spawn(async move {
                    let outcome = engine.rescue(&name).await;
                    FinishedWork {
                        name,
                        stamp: None,
                        outcome,
                    }
                });
            }
            NameState::Untracked(stamp) => match self.arrivals.found(&name, stamp, age(stamp), now)
            {
                Verdict::Take { closed } => {
                    let engine = self.engine.clone();
                    self.work.spawn(async move {
                        let outcome = engine.adopt(&name, stamp, closed).await;
                        FinishedWork {
                            name,
                            stamp: Some(stamp),
                            outcome,
                        }
                    });
                }
                Verdict::Wait => self.engine.forget_problem(&name),
                Verdict::Rejected => self.engine.notify_waiters(),
            },
            NameState::Later => self.arrivals.check_at(&name, false, now + RESCAN_EVERY),
        }
    }

    fn done(&mut self, done: FinishedWork) {
        let now = Instant::now();
        match done.outcome {
            AdoptionOutcome::Done => self.arrivals.forget(&done.name),
            AdoptionOutcome::Changing => self.arrivals.check_at(&done.name, false, now),
            AdoptionOutcome::Rejected => {
                if let Some(stamp) = done.stamp {
                    self.arrivals.reject(&done.name, stamp);
                }
            }
            AdoptionOutcome::Later => self
                .arrivals
                .check_at(&done.name, false, now + RESCAN_EVERY),
        }
    }
}

/// The brain whose file has such a name. Our own files and hidden ones belong to none.
fn brain_of(file: &str) -> Option<&str> {
    file.strip_suffix(SUFFIX)
        .filter(|name| !name.starts_with('.') && !name.is_empty())
}

/// How long ago a file was written, if the clock can tell.
fn age(stamp: Stamp) -> Option<Duration> {
    let modified = UNIX_EPOCH + Duration::from_nanos(stamp.modified);
    SystemTime::now().duration_since(modified).ok()
}

#[cfg(test)]
mod tests;
