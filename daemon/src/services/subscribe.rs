//! Subscribe: the commits of a brain in order, read from the brain itself.
//!
//! A subscriber is a place in the log and nothing else: what it has not read yet waits in the file, not in
//! memory. So the slowest subscriber costs a writer nothing; one that does not read at all is told to come back.

use std::sync::Arc;

use amem_core::Lsn;
use amem_proto::v1;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Status};
use uuid::Uuid;

use super::Daemon;
use crate::convert::{Told, messages, standing};
use crate::limits::{CHANGES_WAITING_MAX, HEARTBEAT, SEND_AFTER};
use crate::open_brain::OpenBrain;
use crate::refusal::{Refusal, Result};

type Sent = Result<v1::SubscribeResponse, Status>;

/// The commits that a request asks for, from its moment on.
pub(super) async fn follow(
    daemon: &Daemon,
    request: v1::SubscribeRequest,
) -> Result<ReceiverStream<Sent>> {
    let brain = daemon.brains.get(&request.brain).await?;
    let view = brain.view();
    if !request.instance.is_empty() {
        check_instance(&request.instance, view.instance())?;
    }
    let from = request.after_lsn.map_or(view.lsn(), Lsn);
    // What is not held is refused now, and not after a first message.
    view.commit_after(from)?;
    let (subscriber, newest) = brain.subscribe()?;
    let (out, messages) = mpsc::channel(CHANGES_WAITING_MAX);
    let following = Following {
        brain,
        from,
        told: Told {
            vectors: request.include_vectors,
            forgotten: request.include_forgotten,
        },
        newest,
        stop: daemon.stop.clone(),
        out: out.clone(),
    };
    tokio::spawn(async move {
        let ended = tokio::spawn(following.run()).await;
        drop(subscriber);
        let refusal = match ended {
            Ok(Ok(())) => return,
            Ok(Err(refusal)) => refusal,
            Err(_) => Refusal::internal("a defect stopped the subscription"),
        };
        // One place is kept for the last word; nobody may be there to hear it.
        drop(out.try_send(Err(refusal.into())));
    });
    Ok(ReceiverStream::new(messages))
}

fn check_instance(asked: &str, found: Uuid) -> Result<()> {
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
    told: Told,
    newest: watch::Receiver<Lsn>,
    stop: watch::Receiver<bool>,
    out: mpsc::Sender<Sent>,
}

impl Following {
    async fn run(mut self) -> Result<()> {
        self.stand().await?;
        loop {
            self.newest.mark_unchanged();
            while self.send_next().await? {}
            let silent = tokio::select! {
                changed = timeout(HEARTBEAT, self.newest.changed()) => changed.is_err(),
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
        }
    }

    /// Sends the next commit, if there is one.
    async fn send_next(&mut self) -> Result<bool> {
        let (next, messages) = {
            let view = self.brain.view();
            match view.commit_after(self.from)? {
                None => return Ok(false),
                Some(commit) => (commit.commit.lsn, messages(&view, &commit, self.told)?),
            }
        };
        for message in messages {
            self.send(message).await?;
        }
        self.from = next;
        Ok(true)
    }

    /// Says where the stream stands.
    async fn stand(&mut self) -> Result<()> {
        let message = {
            let view = self.brain.view();
            let at = view.as_of(amem_core::view::AsOf::Lsn(self.from))?;
            standing(&view, self.from, at.moment().1)
        };
        self.send(message).await
    }

    async fn send(&self, message: v1::SubscribeResponse) -> Result<()> {
        match timeout(SEND_AFTER, self.out.reserve_many(2)).await {
            Ok(Ok(mut places)) => {
                if let Some(place) = places.next() {
                    place.send(Ok(message));
                }
                Ok(())
            }
            // The subscriber has gone.
            Ok(Err(_)) => Err(self.ended("nobody listens")),
            Err(_) => {
                let message = format!(
                    "nothing was read for {} s: subscribe again, after LSN {}",
                    SEND_AFTER.as_secs(),
                    self.from
                );
                Err(Refusal::new(Code::Aborted, "SLOW_SUBSCRIBER", message))
            }
        }
    }

    fn ended(&self, why: &str) -> Refusal {
        let message = format!("{why}: subscribe again, after LSN {}", self.from);
        Refusal::new(Code::Unavailable, "CLOSED", message)
    }
}
