//! Watches the folder: files that others put there become brains once they are whole, and files of ours that are taken
//! away or pushed aside are noticed.
//!
//! Names come from the system's news, from callers who ask for a brain that is not ours yet, and from rescans, which
//! find whatever was missed. Each is looked at: nothing to do, a file to adopt, one to wait for, or a brain to rescue.
//! Promises: a file is adopted only at rest and whole; one that is refused stays as it is and is told with its reason,
//! once; however many there are, few are worked on at a time and nothing is kept of those that were done; a defect ends
//! one turn, and what it left is found by looking through the folder.
//! Not here: adopting and rescuing (`brains`).

mod arrivals;
mod events;

use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use amem_store::disk::Stamp;
use amem_store::folder::SUFFIX;
use tokio::task::JoinSet;
use tokio::time::sleep_until;

use self::arrivals::{Arrivals, Verdict};
use self::events::{Events, News};
use crate::brains::{Brains, Found, Outcome};
use crate::limits::{
    ADOPTIONS_MAX, GONE_AFTER, LOOKS_MAX, RESCAN_EVERY, RESCAN_UNWATCHED_EVERY, SETTLE_AFTER,
    WATCH_AGAIN_AFTER,
};
use crate::panics::caught;

/// Watches for as long as it is polled.
pub(crate) async fn watch(brains: Brains) {
    let events = match Events::of(brains.path()) {
        Ok(events) => Some(events),
        Err(why) => {
            let every = RESCAN_UNWATCHED_EVERY.as_secs();
            tracing::warn!(%why, every, "the folder can't be watched: it is looked through now and then");
            None
        }
    };
    let watch = Watch {
        brains,
        events,
        arrivals: Arrivals::default(),
        work: JoinSet::new(),
        rescan_at: Instant::now(),
    };
    turns(watch, |watch| Box::pin(watch.turn())).await;
}

/// One turn of a watch.
type Turn<'w> = Pin<Box<dyn Future<Output = ()> + Send + 'w>>;

/// Takes one turn after the other, for as long as it is polled, whatever panics in one.
async fn turns(mut watch: Watch, mut turn: impl for<'w> FnMut(&'w mut Watch) -> Turn<'w>) {
    loop {
        if caught(turn(&mut watch)).await.is_ok() {
            continue;
        }
        let after = WATCH_AGAIN_AFTER.as_millis();
        tracing::error!(
            after,
            "a defect stopped a look at the folder: it goes on in as many ms"
        );
        tokio::time::sleep(WATCH_AGAIN_AFTER).await;
        // What that turn had begun with and did not end is found.
        watch.rescan_at = Instant::now();
    }
}

struct Watch {
    brains: Brains,
    events: Option<Events>,
    arrivals: Arrivals,
    work: JoinSet<Done>,
    rescan_at: Instant,
}

/// What came of a name that was worked on.
struct Done {
    name: String,
    stamp: Option<Stamp>,
    outcome: Outcome,
}

impl Watch {
    /// Waits for something to do, and does it, or has it done.
    async fn turn(&mut self) {
        let next = [self.arrivals.next(), self.brains.settle_next()];
        let mut next = next
            .into_iter()
            .flatten()
            .fold(self.rescan_at, Instant::min);
        if self.work.len() >= ADOPTIONS_MAX {
            // What is due waits for what is being done.
            next = next.max(Instant::now() + Duration::from_millis(100));
        }
        let news = async {
            match &self.events {
                Some(events) => events.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            news = news => match news {
                Ok(news) => self.note(news),
                Err(why) => {
                    tracing::warn!(%why, "the folder's watch is lost: it is looked through now and then");
                    self.events = None;
                }
            },
            name = self.brains.asked() => self.arrivals.look_at(&name, false, Instant::now()),
            Some(done) = self.work.join_next() => {
                // What panicked is in the log, and its file is found by the next rescan.
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
        self.brains.settle_due().await;
        let room = ADOPTIONS_MAX.saturating_sub(self.work.len());
        if room > 0 {
            let mut looked_at = Vec::new();
            for name in self.arrivals.due(now, LOOKS_MAX) {
                if self.work.len() >= ADOPTIONS_MAX {
                    // It has its turn when one of those is done.
                    self.arrivals.look_at(&name, false, now);
                    continue;
                }
                self.look(name.clone()).await;
                looked_at.push(name);
            }
            self.brains.tell_modes(Some(looked_at)).await;
        }
        self.brains.tell_kept();
        let waiting = self.arrivals.waiting() + self.work.len();
        let figures = self.brains.figures();
        figures.files_waiting().set(waiting as u64);
    }

    fn note(&mut self, news: Vec<News>) {
        let now = Instant::now();
        for news in news {
            match news {
                News::Name { name, closed } => {
                    if let Some(name) = brain_of(&name) {
                        self.arrivals.look_at(name, closed, now);
                    }
                }
                // It takes a look at the whole folder to tell of it: they may be many, and are told a moment later.
                News::Unreadable => self.rescan_at = self.rescan_at.min(now + SETTLE_AFTER),
                News::Everything => self.rescan_at = now,
            }
        }
    }

    /// Looks through the whole folder.
    async fn rescan(&mut self) {
        let every = match self.events {
            Some(_) => RESCAN_EVERY,
            None => RESCAN_UNWATCHED_EVERY,
        };
        self.rescan_at = Instant::now() + every;
        let found = match self.brains.strangers().await {
            Ok(found) => found,
            Err(refusal) => {
                tracing::error!(why = refusal.message, "the folder can't be listed");
                return;
            }
        };
        self.brains.tell_modes(None).await;
        let now = Instant::now();
        for name in self.arrivals.names().iter().chain(&found) {
            self.arrivals.look_at(name, false, now);
        }
    }

    async fn look(&mut self, name: String) {
        let now = Instant::now();
        match self.brains.look(&name).await {
            Found::Nothing => self.arrivals.forget(&name),
            Found::Gone { since } if since.elapsed() < GONE_AFTER => {
                // A file that is written anew may be about to take its place.
                self.arrivals.look_at(&name, false, since + GONE_AFTER);
            }
            Found::Gone { .. } | Found::Pushed => {
                let brains = self.brains.clone();
                self.work.spawn(async move {
                    let outcome = brains.rescue(&name).await;
                    Done {
                        name,
                        stamp: None,
                        outcome,
                    }
                });
            }
            Found::Stranger(stamp) => match self.arrivals.found(&name, stamp, age(stamp), now) {
                Verdict::Take { closed } => {
                    let brains = self.brains.clone();
                    self.work.spawn(async move {
                        let outcome = brains.adopt(&name, stamp, closed).await;
                        Done {
                            name,
                            stamp: Some(stamp),
                            outcome,
                        }
                    });
                }
                Verdict::Wait => self.brains.look_anew(&name),
                Verdict::Refused => self.brains.tell_asked(),
            },
            Found::Later => self.arrivals.look_at(&name, false, now + RESCAN_EVERY),
        }
    }

    fn done(&mut self, done: Done) {
        let now = Instant::now();
        match done.outcome {
            Outcome::Done => self.arrivals.forget(&done.name),
            Outcome::Changing => self.arrivals.look_at(&done.name, false, now),
            Outcome::Refused => {
                if let Some(stamp) = done.stamp {
                    self.arrivals.refuse(&done.name, stamp);
                }
            }
            Outcome::Later => self.arrivals.look_at(&done.name, false, now + RESCAN_EVERY),
        }
    }
}

/// The brain whose file has such a name. Our own files and hidden ones are nobody's.
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
