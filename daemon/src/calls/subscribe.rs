//! Subscribe: the commits of a brain in order, read from the brain itself.
//!
//! A subscriber is a position in the log: unread commits stay in the file, except for a few messages. The slowest
//! subscriber costs a writer nothing; a subscription that is not read for `limits.send_secs` ends.
//!
//! Promises: a subscriber whose filter matches nothing still gets its position now and then; reading commits for it
//! yields its thread after a few changes, and ends with the subscription or the daemon.

use std::sync::Arc;
use std::time::Duration;

use amem_format::Lsn;
use amem_proto::answer::Code;
use amem_proto::v1;
use tokio::sync::{Semaphore, broadcast, watch};
use tokio::time::{Instant, sleep_until};
use uuid::Uuid;

use super::answers::{AnswerSender, AnswerStream};
use super::change_feed::{CommitEncoder, FeedFilter, FeedOptions, position};
use super::gateway::Gateway;
use super::status;
use super::validate::Validate;
use crate::auth::Caller;
use crate::limits::{CHANGES_PER_TURN, CHANGES_WAITING_MAX, HEARTBEAT, SKIPPED_COMMITS_MAX};
use crate::refusal::{Refusal, Result};
use amem_engine::Subscription;
use amem_engine::tasks::spawn_part;
use amem_engine::{JobReport, OpenBrain};

/// The commits that a request asks for, from its moment on.
pub(crate) async fn follow(
    gateway: &Gateway,
    caller: &Caller,
    request: v1::SubscribeRequest,
) -> Result<AnswerStream<v1::SubscribeResponse>> {
    let (request, instance, filter) = request.validate()?;
    let brain = gateway.brains.get(caller, &request.brain).await?;
    let view = brain.view();
    check_instance(instance, view.instance())?;
    let from = request.after_lsn.map_or(view.lsn(), Lsn);
    // Commits that no longer exist are refused now, not after a first message.
    view.commit_after(from)?;
    let (follower, newest) = brain.subscribe(from)?;
    let (out, messages) = AnswerSender::new(gateway.answers_to(caller), CHANGES_WAITING_MAX);
    let following = CommitFeed {
        jobs: request.include_jobs.then(|| brain.subscribe_jobs()),
        brain,
        from,
        follower,
        options: Arc::new(FeedOptions {
            filter,
            vectors: request.include_vectors,
            forgotten: request.include_forgotten,
        }),
        newest,
        heartbeat: HEARTBEAT,
        sent: Instant::now(),
        skipped: 0,
        operations: 0,
        turns: gateway.follows.clone(),
        stop: gateway.stop.clone(),
        out: out.clone(),
    };
    // Log lines of the subscription carry the span of its call.
    let run = spawn_part(following.run());
    let end = async move {
        let ended = run.await;
        match ended {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => out.fail(refusal),
            Err(_) => out.fail(Refusal::internal("a defect stopped the subscription")),
        }
    };
    spawn_part(end);
    Ok(messages)
}

/// An LSN belongs to an instance: a new brain of the same name has other commits.
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

impl Validate for v1::SubscribeRequest {
    /// The request, the instance of its LSN, and the filter of changes.
    type Valid = (Self, Option<Uuid>, FeedFilter);

    fn validate(self) -> Result<Self::Valid> {
        let asked = self.instance.as_str();
        let instance = match (asked, self.after_lsn) {
            ("", None | Some(0)) => None,
            ("", Some(lsn)) => {
                let why =
                    format!("set the instance of LSN {lsn}: the answer that named the LSN has it");
                return Err(Refusal::invalid("instance", why));
            }
            _ => Some(Uuid::try_parse(asked).map_err(|e| {
                Refusal::invalid("instance", format!("{asked:?} is not a UUID: {e}"))
            })?),
        };
        let filter = FeedFilter::of(&self)?;
        Ok((self, instance, filter))
    }
}

struct CommitFeed {
    brain: Arc<OpenBrain>,
    /// Everything up to here has been sent.
    from: Lsn,
    follower: Subscription,
    options: Arc<FeedOptions>,
    newest: watch::Receiver<Lsn>,
    /// The longest silence before it sends its position.
    heartbeat: Duration,
    /// When a message was sent last.
    sent: Instant,
    /// Commits since then without a change for this subscriber.
    skipped: usize,
    /// Operations read since it last yielded.
    operations: usize,
    /// Outcomes of jobs, if the request includes them.
    jobs: Option<broadcast::Receiver<JobReport>>,
    /// Subscriptions that read commits at the same time.
    turns: Arc<Semaphore>,
    stop: watch::Receiver<bool>,
    out: AnswerSender<v1::SubscribeResponse>,
}

impl CommitFeed {
    async fn run(mut self) -> Result<()> {
        self.send_position().await?;
        loop {
            self.newest.mark_unchanged();
            while self.send_next().await? {}
            let mut job = None;
            // Counted from the last message: skipped commits do not postpone it.
            let silent = tokio::select! {
                _ = self.newest.changed() => false,
                () = sleep_until(self.sent + self.heartbeat) => true,
                report = next_job(&mut self.jobs) => {
                    job = Some(report);
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
                self.send_position().await?;
            }
            if let Some(job) = job {
                self.send_job(job).await?;
            }
        }
    }

    /// Sends the outcome of a job, after the commits that it made.
    async fn send_job(&mut self, report: JobReport) -> Result<()> {
        while self.send_next().await? {}
        let mut message = self.position()?;
        message.job = Some(status::job_outcome(&self.brain.name, report));
        self.send(message).await
    }

    /// Sends the next commit, if there is one, message by message, so that a large one is never in memory whole. Skips
    /// a commit without a change for this subscriber.
    async fn send_next(&mut self) -> Result<bool> {
        let (view, options) = (self.brain.view(), self.options.clone());
        let Some(committed) = view.commit_after(self.from)? else {
            self.follower.reached(view.lsn());
            return Ok(false);
        };
        let commit = committed.commit;
        let mut encoder = CommitEncoder::new(&view, commit, committed.ops(), &options);
        let mut is_sent = false;
        loop {
            let part = {
                // Only a few subscribers that catch up compete with light calls.
                let _turn = self.turns.acquire().await.ok();
                encoder.part()?
            };
            let more = part.message.more;
            // After a first part, the last one is sent even if it is empty: it completes the commit.
            let is_whole = !more && (is_sent || options.filter.is_everything());
            if !part.message.changes.is_empty() || is_whole {
                self.send(part.message).await?;
                is_sent = true;
            }
            self.yield_after(part.operations).await?;
            if !more {
                break;
            }
        }
        self.from = commit.lsn;
        self.follower.reached(self.from);
        if !is_sent {
            self.skipped += 1;
        }
        if self.skipped >= SKIPPED_COMMITS_MAX || self.sent.elapsed() >= self.heartbeat {
            self.send_position().await?;
        }
        Ok(true)
    }

    /// Yields after `CHANGES_PER_TURN` operations, and checks that the subscription is still wanted.
    async fn yield_after(&mut self, operations: usize) -> Result<()> {
        // Even an empty commit costs something.
        self.operations += operations.max(1);
        if self.operations < CHANGES_PER_TURN {
            return Ok(());
        }
        self.operations = 0;
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

    /// Sends the position of the stream.
    async fn send_position(&mut self) -> Result<()> {
        let message = self.position()?;
        self.send(message).await
    }

    fn position(&self) -> Result<v1::SubscribeResponse> {
        let view = self.brain.view();
        let at = view.as_of(amem_format::view::AsOf::Lsn(self.from))?;
        Ok(position(&view, self.from, at.moment().1))
    }

    async fn send(&mut self, message: v1::SubscribeResponse) -> Result<()> {
        self.out.send(message).await.map_err(|gone| {
            let remedy = format!("subscribe again, after LSN {}", self.from);
            gone.refusal("SLOW_SUBSCRIBER", &remedy)
                .with("after_lsn", self.from)
        })?;
        (self.sent, self.skipped) = (Instant::now(), 0);
        Ok(())
    }

    fn ended(&self, why: &str) -> Refusal {
        let message = format!("{why}: subscribe again, after LSN {}", self.from);
        Refusal::new(Code::Unavailable, "CLOSED", message)
    }
}

/// The next job that has ended; pending forever without a receiver.
async fn next_job(jobs: &mut Option<broadcast::Receiver<JobReport>>) -> JobReport {
    while let Some(reports) = jobs {
        match reports.recv().await {
            Ok(report) => return report,
            // ListJobs has the outcomes that it missed.
            Err(broadcast::error::RecvError::Lagged(_)) => {}
            Err(broadcast::error::RecvError::Closed) => *jobs = None,
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests;
