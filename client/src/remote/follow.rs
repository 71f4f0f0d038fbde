//! Following the commits of a brain, whatever becomes of the connection.
//!
//! Promises: every commit comes once, whole and in order, from where the following began; after a lost connection, a
//! restart of the daemon or a pause of the reader it goes on behind the last whole commit.

use amem_proto::answer::{Refusal, Result};
use amem_proto::v1;
use tonic::{Code, Streaming};

use super::brain::Brain;
use super::call::refused;
use super::retry::Attempts;

/// The commits of a brain, one after the other.
#[derive(Debug)]
pub struct Commits {
    brain: Brain,
    /// How the next subscription begins.
    request: v1::SubscribeRequest,
    stream: Option<Streaming<v1::SubscribeResponse>>,
    /// A commit of which more is to come.
    part: Option<v1::SubscribeResponse>,
}

impl Brain {
    /// Follows the commits after an LSN of the instance that this brain is now; 0 is from the first, `None` from when
    /// the first is waited for. `follow_with` says of which instance an LSN is that was kept from before.
    pub fn follow(&self, after_lsn: Option<u64>) -> Commits {
        self.follow_with(v1::SubscribeRequest {
            after_lsn,
            instance: self.shared.seen.instance(),
            ..Default::default()
        })
    }

    /// As `follow`, as a request says. A brain named in it is overlooked.
    pub fn follow_with(&self, mut request: v1::SubscribeRequest) -> Commits {
        request.brain.clone_from(&self.shared.name);
        Commits {
            brain: self.clone(),
            request,
            stream: None,
            part: None,
        }
    }
}

impl Commits {
    /// The LSN of the last commit that was given, or up to which there was none to give: where to go on another time.
    /// `None` if it is not known yet.
    pub fn after_lsn(&self) -> Option<u64> {
        self.request.after_lsn
    }

    /// Waits for the next commit, with all of its changes. Direct reads after it see it.
    ///
    /// An error ends nothing: the next call tries again from the same place. COMMITS_GONE says that what is asked for
    /// is not held any more, and from where on it is.
    pub async fn next(&mut self) -> Result<v1::SubscribeResponse> {
        let mut attempts = Attempts::new(self.brain.shared.client.retry());
        loop {
            let refusal = match self.message().await {
                Ok(message) => {
                    attempts.progress();
                    match self.whole(message) {
                        Some(commit) => return Ok(commit),
                        None => continue,
                    }
                }
                Err(refusal) => refusal,
            };
            (self.stream, self.part) = (None, None);
            // What was not read in time comes again.
            if refusal.reason != "SLOW_SUBSCRIBER" {
                attempts.wait(refusal).await?;
            }
        }
    }

    /// The next message, of a new subscription if there is none.
    async fn message(&mut self) -> Result<v1::SubscribeResponse> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let mut memory = self.brain.shared.client.memory();
                let subscribed = memory.subscribe(self.request.clone()).await;
                self.stream
                    .insert(subscribed.map_err(refused)?.into_inner())
            }
        };
        match stream.message().await {
            Ok(Some(message)) => Ok(message),
            Ok(None) => {
                let message = "the daemon ended the subscription";
                Err(Refusal::new(Code::Unavailable, "CONNECTION_LOST", message))
            }
            Err(status) => Err(refused(status)),
        }
    }

    /// The commit that is whole with a message, if one is.
    fn whole(&mut self, mut message: v1::SubscribeResponse) -> Option<v1::SubscribeResponse> {
        if let Some(mut part) = self.part.take() {
            part.changes.append(&mut message.changes);
            part.more = message.more;
            message = part;
        }
        if message.more {
            self.part = Some(message);
            return None;
        }
        if let Some(moment) = &message.moment {
            self.request.after_lsn = Some(moment.lsn);
            self.request.instance.clone_from(&moment.instance);
            self.brain.shared.seen().saw_moment(Some(moment));
        }
        let is_commit = message.kind != 0 || !message.changes.is_empty() || message.job.is_some();
        is_commit.then_some(message)
    }
}
