//! Subscribe: the commits of a brain in order, read from the brain itself.
//!
//! A subscriber is a place in the log and nothing else: what it has not read yet waits in the file, but for a few
//! messages. So the slowest subscriber costs a writer nothing; one that does not read at all is told to come back.

use std::sync::Arc;

use amem_core::Lsn;
use amem_proto::v1;
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use tracing::Instrument;
use uuid::Uuid;

use super::sending::Outgoing;
use super::{Daemon, status};
use crate::convert::{Only, Told, message, standing};
use crate::figures::Follower;
use crate::limits::{CHANGES_WAITING_MAX, HEARTBEAT};
use crate::open_brain::{JobTold, OpenBrain};
use crate::refusal::{Refusal, Result};

/// The commits that a request asks for, from its moment on.
pub(super) async fn follow(
    daemon: &Daemon,
    request: v1::SubscribeRequest,
) -> Result<ReceiverStream<Result<v1::SubscribeResponse, Status>>> {
    let brain = daemon.brains.get(&request.brain).await?;
    let view = brain.view();
    check_instance(&request, view.instance())?;
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
        told: Told {
            only: Only::of(&request)?,
            vectors: request.include_vectors,
            forgotten: request.include_forgotten,
        },
        newest,
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
fn check_instance(request: &v1::SubscribeRequest, found: Uuid) -> Result<()> {
    let asked = request.instance.as_str();
    if asked.is_empty() {
        return match request.after_lsn {
            None | Some(0) => Ok(()),
            Some(lsn) => {
                let why =
                    format!("say of which instance LSN {lsn} is: the answer that named it says so");
                Err(Refusal::invalid("instance", why))
            }
        };
    }
    let asked = Uuid::try_parse(asked)
        .map_err(|e| Refusal::invalid("instance", format!("{asked:?} is no UUID: {e}")))?;
    if asked == found {
        return Ok(());
    }
    Err(amem_core::Error::ForeignInstance {
        expected: found,
        found: asked,
    }
    .into())
}

struct Following {
    brain: Arc<OpenBrain>,
    /// All up to here has been sent.
    from: Lsn,
    follower: Follower,
    told: Told,
    newest: watch::Receiver<Lsn>,
    /// What comes of jobs, if that is asked for.
    jobs: Option<broadcast::Receiver<JobTold>>,
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
            let silent = tokio::select! {
                changed = timeout(HEARTBEAT, self.newest.changed()) => changed.is_err(),
                told = hear(&mut self.jobs) => {
                    job = Some(told);
                    false
                }
                () = self.out.closed() => return Ok(()),
                _ = self.stop.wait_for(|stop| *stop) => false,
            };
            if *self.stop.borrow() {
                return Err(self.ended("the daemon is stopping"));
            }
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

    /// Sends the next commit, if there is one: a message at a time, so that a large one is never there whole.
    async fn send_next(&mut self) -> Result<bool> {
        let view = self.brain.view();
        let Some(commit) = view.commit_after(self.from)? else {
            self.follower.reached(view.lsn());
            return Ok(false);
        };
        let mut from = 0;
        loop {
            let (message, next) = message(&view, &commit, &self.told, from)?;
            // A commit that has nothing for this subscriber is passed over; where the stream stands is said all the same.
            if !message.changes.is_empty() || from > 0 || self.told.only.is_everything() {
                self.send(message).await?;
            }
            let Some(next) = next else { break };
            from = next;
        }
        self.from = commit.commit.lsn;
        self.follower.reached(self.from);
        Ok(true)
    }

    /// Says where the stream stands.
    async fn stand(&mut self) -> Result<()> {
        let message = self.standing()?;
        self.send(message).await
    }

    fn standing(&self) -> Result<v1::SubscribeResponse> {
        let view = self.brain.view();
        let at = view.as_of(amem_core::view::AsOf::Lsn(self.from))?;
        Ok(standing(&view, self.from, at.moment().1))
    }

    async fn send(&self, message: v1::SubscribeResponse) -> Result<()> {
        self.out.send(message).await.map_err(|gone| {
            let remedy = format!("subscribe again, after LSN {}", self.from);
            gone.refusal("SLOW_SUBSCRIBER", &remedy)
                .with("after_lsn", self.from)
        })
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
