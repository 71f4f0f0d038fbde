//! Uses of events that direct reads count: collected, and sent together.
//!
//! They are sent two seconds after the first of them, or once there are a thousand, or when somebody flushes, or when
//! the brain is dropped. What could not be sent is sent again with the same id and body before anything newer, so that
//! no use is counted twice. A crash loses what was not sent.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use amem_format::NodeId;
use amem_proto::answer::{Refusal, Result};
use amem_proto::v1;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};
use tonic::Code;

use super::call::identify;
use super::client::Client;
use super::position::LatestPosition;
use super::retry::is_passing;
use crate::limits::{TOUCH_AFTER, TOUCHES_SENT, TOUCHES_WAITING_MAX};

/// Uses that wait.
#[derive(Debug, Default)]
struct PendingTouches {
    counts: Mutex<HashMap<u64, u32>>,
    /// There is something.
    some: Notify,
    /// There is enough.
    full: Notify,
}

/// Who waits for a flush.
type FlushAnswer = oneshot::Sender<Result<()>>;

/// Collects uses; a task of its own sends them.
#[derive(Debug)]
pub(super) struct Touches {
    waiting: Arc<PendingTouches>,
    flushes: mpsc::Sender<FlushAnswer>,
}

impl Touches {
    /// Starts the task; it ends, after a last sending, when this is dropped.
    pub(super) fn start(client: Client, brain: String, seen: Arc<LatestPosition>) -> Self {
        let waiting = Arc::new(PendingTouches::default());
        let (flushes, asked) = mpsc::channel(16);
        let sender = TouchSender {
            client,
            brain,
            seen,
            waiting: waiting.clone(),
            unsent: None,
        };
        tokio::spawn(sender.run(asked));
        Self { waiting, flushes }
    }

    /// Counts events as used, each once more.
    pub(super) fn add(&self, events: &[NodeId]) {
        if events.is_empty() {
            return;
        }
        let mut counts = self.waiting.counts();
        for event in events {
            if counts.len() < TOUCHES_WAITING_MAX || counts.contains_key(&event.0) {
                let count = counts.entry(event.0).or_default();
                *count = count.saturating_add(1);
            }
        }
        let is_full = counts.len() >= TOUCHES_SENT;
        drop(counts);
        self.waiting.some.notify_one();
        if is_full {
            self.waiting.full.notify_one();
        }
    }

    /// Waits until what was counted is durable.
    pub(super) async fn flush(&self) -> Result<()> {
        let (asker, answer) = oneshot::channel();
        let gone = || Refusal::new(Code::Internal, "INTERNAL", "the sending of uses has ended");
        self.flushes.send(asker).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl PendingTouches {
    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<u64, u32>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        self.counts().len() >= TOUCHES_SENT
    }
}

/// The task.
struct TouchSender {
    client: Client,
    brain: String,
    seen: Arc<LatestPosition>,
    waiting: Arc<PendingTouches>,
    /// Sent without an answer.
    unsent: Option<v1::TouchRequest>,
}

impl TouchSender {
    async fn run(mut self, mut flushes: mpsc::Receiver<FlushAnswer>) {
        // When what waits is sent; none if nothing waits.
        let mut alarm: Option<Instant> = None;
        loop {
            let flush = tokio::select! {
                flush = flushes.recv() => Some(flush),
                () = self.waiting.some.notified(), if alarm.is_none() => {
                    alarm = Some(Instant::now() + TOUCH_AFTER);
                    continue;
                }
                () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => None,
                () = self.waiting.full.notified() => match self.waiting.is_full() {
                    true => None,
                    // What had filled it was sent meanwhile.
                    false => continue,
                },
            };
            let sent = self.send().await;
            // What could not be sent is tried again, whoever asked for it.
            alarm = self.unsent.is_some().then(|| Instant::now() + TOUCH_AFTER);
            match flush {
                // Nobody may wait any more: then that is all right as well.
                Some(Some(asker)) => drop(asker.send(sent)),
                Some(None) => return,
                None => {}
            }
        }
    }

    /// Sends what was not answered, then what came since.
    async fn send(&mut self) -> Result<()> {
        if let Some(unsent) = self.unsent.take() {
            self.send_one(unsent).await?;
        }
        let counts = std::mem::take(&mut *self.waiting.counts());
        if counts.is_empty() {
            return Ok(());
        }
        let touched = counts.into_iter();
        let mut request = v1::TouchRequest {
            brain: self.brain.clone(),
            touched: touched
                .map(|(event_id, count)| v1::Touched { event_id, count })
                .collect(),
            options: None,
        };
        request
            .touched
            .sort_unstable_by_key(|touched| touched.event_id);
        identify(request.options.get_or_insert_default());
        self.send_one(request).await
    }

    async fn send_one(&mut self, request: v1::TouchRequest) -> Result<()> {
        let sent = self.client.change(request.clone()).await;
        match sent {
            Ok(answer) => {
                self.seen.saw_commit(answer.commit.as_ref());
                Ok(())
            }
            Err(refusal) => {
                if is_passing(&refusal) {
                    self.unsent = Some(request);
                }
                Err(refusal)
            }
        }
    }
}
