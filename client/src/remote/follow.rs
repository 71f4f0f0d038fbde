//! Follows the commits of a brain across lost connections.
//!
//! Promises: every commit comes once, complete and in order, from where following began; after a lost connection, a
//! restart of the daemon or a pause of the reader it continues after the last complete commit.

use amem_proto::answer::{Code, Refusal, Result};
use amem_proto::v1;
use tonic::Streaming;

use super::brain::Brain;
use super::call::refused;
use super::retry::Attempts;

/// The commits of a brain, in order.
#[derive(Debug)]
pub struct CommitStream {
    brain: Brain,
    /// The next subscription.
    request: v1::SubscribeRequest,
    stream: Option<Streaming<v1::SubscribeResponse>>,
    /// The first part of a commit.
    part: Option<v1::SubscribeResponse>,
}

impl Brain {
    /// Follows the commits after an LSN of the current instance; 0 is from the first, `None` from now. For an LSN of an
    /// earlier instance use `follow_with`.
    pub fn follow(&self, after_lsn: Option<u64>) -> CommitStream {
        self.follow_with(v1::SubscribeRequest {
            after_lsn,
            instance: self.shared.seen.instance(),
            ..Default::default()
        })
    }

    /// As `follow`, with a request. The brain in the request is ignored.
    pub fn follow_with(&self, mut request: v1::SubscribeRequest) -> CommitStream {
        request.brain.clone_from(&self.shared.name);
        CommitStream {
            brain: self.clone(),
            request,
            stream: None,
            part: None,
        }
    }
}

impl CommitStream {
    /// The LSN to continue after: of the last commit returned, or up to which there was none. `None` if unknown.
    pub fn after_lsn(&self) -> Option<u64> {
        self.request.after_lsn
    }

    /// Waits for the next commit, with all its changes. Later direct reads see it.
    ///
    /// After an error, the next call tries again from the same place. COMMITS_GONE: the commits are no longer held; the
    /// refusal says from where on they are.
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
            // A slow reader gets the missed commits again.
            if refusal.reason != "SLOW_SUBSCRIBER" {
                attempts.wait(refusal).await?;
            }
        }
    }

    /// Subscribes if needed.
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

    /// The commit that the message completes, if any.
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
