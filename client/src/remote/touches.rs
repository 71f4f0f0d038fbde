//! Uses of events in direct reads: collected, and sent together.
//!
//! They are sent two seconds after the first one, at a thousand events, on a flush, or when the brain is dropped.
//! Failed requests are sent again first, with the same id and body, so that no use is counted twice. A crash loses
//! unsent uses.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use amem_format::NodeId;
use amem_locks::LockResultExt;
use amem_proto::answer::{Code, Refusal, Result};
use amem_proto::v1;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

use super::call::identify;
use super::client::Client;
use super::position::LatestPosition;
use super::retry::is_passing;
use crate::limits::{TOUCH_AFTER, TOUCHES_SENT, TOUCHES_WAITING_MAX};

#[derive(Debug, Default)]
struct PendingTouches {
    counts: Mutex<HashMap<u64, u32>>,
    /// Notified when the first use is added.
    some: Notify,
    /// Notified when a request is full.
    full: Notify,
}

type FlushAnswer = oneshot::Sender<Result<()>>;

/// Collects uses; a task sends them.
#[derive(Debug)]
pub(super) struct TouchCollector {
    waiting: Arc<PendingTouches>,
    flushes: mpsc::Sender<FlushAnswer>,
}

impl TouchCollector {
    /// The task sends the rest and ends when this is dropped.
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

    /// Counts one more use of each event.
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

    /// Waits until all uses so far are durable.
    pub(super) async fn flush(&self) -> Result<()> {
        let (asker, answer) = oneshot::channel();
        let gone = || Refusal::new(Code::Internal, "INTERNAL", "the sending of uses has ended");
        self.flushes.send(asker).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl PendingTouches {
    fn counts(&self) -> std::sync::MutexGuard<'_, HashMap<u64, u32>> {
        self.counts.lock().unpoisoned()
    }

    fn is_full(&self) -> bool {
        self.counts().len() >= TOUCHES_SENT
    }
}

struct TouchSender {
    client: Client,
    brain: String,
    seen: Arc<LatestPosition>,
    waiting: Arc<PendingTouches>,
    /// Sent and not answered.
    unsent: Option<v1::TouchRequest>,
}

impl TouchSender {
    async fn run(mut self, mut flushes: mpsc::Receiver<FlushAnswer>) {
        // When to send; `None` if nothing waits.
        let mut alarm: Option<Instant> = None;
        loop {
            let flush = tokio::select! {
                            flush = flushes.recv() => Some(flush),
                            () = self.waiting.some.notified(), if alarm.is_none() => {
                                alarm = Some(Instant::now() + TOUCH_AFTER);
                                continue;
                            }
                            () = sleep_until(alarm.unwrap_or_else(Instant::now)), if alarm.is_some() => None,
                            () = self.waiting.full.notified() => if self.waiting.is_full() {
            None
            } else {
            // They were sent meanwhile.
                                continue
            },
                        };
            let sent = self.send().await;
            // Failed requests are tried again without being asked.
            alarm = self.unsent.is_some().then(|| Instant::now() + TOUCH_AFTER);
            match flush {
                // The caller may have stopped waiting.
                Some(Some(asker)) => drop(asker.send(sent)),
                Some(None) => return,
                None => {}
            }
        }
    }

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
