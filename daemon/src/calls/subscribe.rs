//! Subscribe: the commits of a brain in order, read from the brain itself.
//!
//! A subscriber is a place in the log and nothing else: what it has not read yet waits in the file, but for a few
//! messages. So the slowest subscriber costs a writer nothing; one that does not read at all is told to come back.
//!
//! Promises: however much there is that a subscriber does not want, it is told now and then how far it is; going
//! through it holds no thread for longer than a few changes take, and ends with the subscription and the daemon.

use std::sync::Arc;
use std::time::Duration;

use amem_format::Lsn;
use amem_proto::v1;
use tokio::sync::{Semaphore, broadcast, watch};
use tokio::time::{Instant, sleep_until};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tracing::Instrument;
use uuid::Uuid;

use super::answers::Outgoing;
use super::{Daemon, status};
use crate::access::Caller;
use crate::calls::{Only, Says, Telling, Told, standing};
use crate::figures::Follower;
use crate::limits::{CHANGES_PER_TURN, CHANGES_WAITING_MAX, HEARTBEAT, PASSED_OVER_MAX};
use crate::open_brain::{JobTold, OpenBrain};
use crate::refusal::{Refusal, Result};

/// The commits that a request asks for, from its moment on.
pub(super) async fn follow(
    daemon: &Daemon,
    caller: &Caller,
    request: v1::SubscribeRequest,
) -> Result<ReceiverStream<Result<v1::SubscribeResponse, Status>>> {
    let brain = daemon.brains.get(caller, &request.brain).await?;
    let view = brain.view();
    let (instance, only) = request.said()?;
    check_instance(instance, view.instance())?;
    let from = request.after_lsn.map_or(view.lsn(), Lsn);
    // What is not held is refused now, and not after a first message.
    view.commit_after(from)?;
    let (follower, newest) = brain.subscribe(from)?;
    let (out, messages) = Outgoing::new(&daemon.control, CHANGES_WAITING_MAX);
    let following = Following {
        jobs: request.include_jobs.then(|| brain.hear_jobs()),
        brain,
        from,
        follower,
        told: Arc::new(Told {
            only,
            vectors: request.include_vectors,
            forgotten: request.include_forgotten,
        }),
        newest,
        heartbeat: HEARTBEAT,
        said: Instant::now(),
        passed_over: 0,
        looked_at: 0,
        turns: daemon.follows.clone(),
        stop: daemon.stop.clone(),
        out: out.clone(),
    };
    // What is told of a subscription in the log is told of its call.
    let run = tokio::spawn(following.run().in_current_span());
    let end = async move {
        let ended = run.await;
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => out.fail(refusal),
            Err(_) => out.fail(Refusal::internal("a defect stopped the subscription")),
        }
    };
    tokio::spawn(end.in_current_span());
    Ok(messages)
}

/// An LSN is of an instance: a brain that was made anew under the same name has other commits.
fn check_instance(asked: Option<Uuid>, found: Uuid) -> Result<()> {
    match asked {
        Some(asked) if asked != found => Err(amem_format::Error::ForeignInstance {
            expected: found,
            found: asked,
        }
        .into()),
        _ => Ok(()),
    }
}

impl Says for &v1::SubscribeRequest {
    /// The instance that its LSN is of, and what is told.
    type What = (Option<Uuid>, Only);

    fn said(self) -> Result<Self::What> {
        let asked = self.instance.as_str();
        let instance = match (asked, self.after_lsn) {
            ("", None | Some(0)) => None,
            ("", Some(lsn)) => {
                let why =
                    format!("say of which instance LSN {lsn} is: the answer that named it says so");
                return Err(Refusal::invalid("instance", why));
            }
            _ => {
                Some(Uuid::try_parse(asked).map_err(|e| {
                    Refusal::invalid("instance", format!("{asked:?} is no UUID: {e}"))
                })?)
            }
        };
        Ok((instance, Only::of(self)?))
    }
}

struct Following {
    brain: Arc<OpenBrain>,
    /// All up to here has been sent.
    from: Lsn,
    follower: Follower,
    told: Arc<Told>,
    newest: watch::Receiver<Lsn>,
    /// How long nothing is sent before it says where it stands.
    heartbeat: Duration,
    /// When something was sent last.
    said: Instant,
    /// Commits since then that had nothing for this subscriber.
    passed_over: usize,
    /// What was looked at since others had their turn.
    looked_at: usize,
    /// What comes of jobs, if that is asked for.
    jobs: Option<broadcast::Receiver<JobTold>>,
    /// Turns of subscriptions that go through commits.
    turns: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    out: Outgoing<v1::SubscribeResponse>,
}

impl Following {
    async fn run(mut self) -> Result<()> {
        self.stand().await?;
        loop {
            self.newest.mark_unchanged();
            while self.send_next().await? {}
            let mut job = None;
            // Counted from the last message: commits that are passed over do not put it off.
            let silent = tokio::select! {
                _ = self.newest.changed() => false,
                () = sleep_until(self.said + self.heartbeat) => true,
                told = hear(&mut self.jobs) => {
                    job = Some(told);
                    false
                }
                () = self.out.closed() => return Ok(()),
                _ = self.stop.wait_for(|stop| *stop) => false,
            };
            self.check_stop()?;
            if self.brain.is_closed() {
                return Err(self.ended("the brain was closed"));
            }
            if silent {
                self.stand().await?;
            }
            if let Some(job) = job {
                self.send_job(job).await?;
            }
        }
    }

    /// Tells of a job, after the commits that it made.
    async fn send_job(&mut self, told: JobTold) -> Result<()> {
        while self.send_next().await? {}
        let mut message = self.standing()?;
        message.job = Some(status::job_told(&self.brain.name, told));
        self.send(message).await
    }

    /// Sends the next commit, if there is one: a message at a time, so that a large one is never there whole. One that
    /// has nothing for this subscriber is passed over.
    async fn send_next(&mut self) -> Result<bool> {
        let (view, told) = (self.brain.view(), self.told.clone());
        let Some(committed) = view.commit_after(self.from)? else {
            self.follower.reached(view.lsn());
            return Ok(false);
        };
        let commit = committed.commit;
        let mut telling = Telling::new(&view, commit, committed.ops(), &told);
        let mut is_told = false;
        loop {
            let part = {
                // Of many that have much to catch up with, few stand in the way of a call that is light.
                let _turn = self.turns.acquire().await.ok();
                telling.part()?
            };
            let more = part.message.more;
            // Once a part is told, the last one is, too: it says that the commit is whole.
            let is_whole = !more && (is_told || told.only.is_everything());
            if !part.message.changes.is_empty() || is_whole {
                self.send(part.message).await?;
                is_told = true;
            }
            self.let_others(part.looked_at).await?;
            if !more {
                break;
            }
        }
        self.from = commit.lsn;
        self.follower.reached(self.from);
        if !is_told {
            self.passed_over += 1;
        }
        if self.passed_over >= PASSED_OVER_MAX || self.said.elapsed() >= self.heartbeat {
            self.stand().await?;
        }
        Ok(true)
    }

    /// Lets others have their turn if enough was looked at, and sees whether this is still wanted.
    async fn let_others(&mut self, looked_at: usize) -> Result<()> {
        // A commit costs something, however little is in it.
        self.looked_at += looked_at.max(1);
        if self.looked_at < CHANGES_PER_TURN {
            return Ok(());
        }
        self.looked_at = 0;
        tokio::task::yield_now().await;
        if self.out.is_closed() {
            return Err(Refusal::cancelled());
        }
        self.check_stop()
    }

    fn check_stop(&self) -> Result<()> {
        if *self.stop.borrow() {
            return Err(self.ended("the daemon is stopping"));
        }
        Ok(())
    }

    /// Says where the stream stands.
    async fn stand(&mut self) -> Result<()> {
        let message = self.standing()?;
        self.send(message).await
    }

    fn standing(&self) -> Result<v1::SubscribeResponse> {
        let view = self.brain.view();
        let at = view.as_of(amem_format::view::AsOf::Lsn(self.from))?;
        Ok(standing(&view, self.from, at.moment().1))
    }

    async fn send(&mut self, message: v1::SubscribeResponse) -> Result<()> {
        self.out.send(message).await.map_err(|gone| {
            let remedy = format!("subscribe again, after LSN {}", self.from);
            gone.refusal("SLOW_SUBSCRIBER", &remedy)
                .with("after_lsn", self.from)
        })?;
        (self.said, self.passed_over) = (Instant::now(), 0);
        Ok(())
    }

    fn ended(&self, why: &str) -> Refusal {
        let message = format!("{why}: subscribe again, after LSN {}", self.from);
        Refusal::new(Code::Unavailable, "CLOSED", message)
    }
}

/// The next job that has ended; never, if nobody asked.
async fn hear(jobs: &mut Option<broadcast::Receiver<JobTold>>) -> JobTold {
    while let Some(told) = jobs {
        match told.recv().await {
            Ok(told) => return told,
            // What it is too far behind for is in the list of jobs.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *jobs = None,
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
