//! Sends webhooks what their brains have for them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use amem_engine::OpenBrain;
use amem_engine::tasks::blocking;
use amem_format::Micros;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::message::{Message, NextStep, next_step};
use super::registry::{WebhookTurn, Webhooks};
use super::webhook::{Webhook, WebhookProgress};
use crate::brains::Brains;
use crate::limits::{
    WEBHOOK_AGAIN_AFTER, WEBHOOK_AGAIN_AFTER_MAX, WEBHOOK_ATTEMPTS_MAX, WEBHOOK_ERROR_BYTES_MAX,
    WEBHOOK_POSTS_MAX, WEBHOOK_POSTS_PER_TURN, WEBHOOKS_LOOK_EVERY, WEBHOOKS_WRITE_EVERY,
};

/// Sends what is due, for as long as it is polled.
pub(crate) async fn deliver(webhooks: Webhooks, brains: Brains, now: fn() -> Micros) {
    let mut turns = JoinSet::new();
    let mut written = Instant::now();
    loop {
        sleep(WEBHOOKS_LOOK_EVERY).await;
        while turns.try_join_next().is_some() {}
        let is_write = written.elapsed() >= WEBHOOKS_WRITE_EVERY;
        if is_write {
            written = Instant::now();
        }
        let (of, open) = (webhooks.clone(), brains.engine().open_brains());
        let most = WEBHOOK_POSTS_MAX.saturating_sub(turns.len());
        let due = blocking(move || {
            if is_write {
                of.keep();
            }
            of.due(&open, now(), most)
        });
        let due = match due.await {
            Ok(due) => due,
            Err(error) => {
                tracing::error!(why = error.to_string(), "webhooks were not looked at");
                continue;
            }
        };
        for turn in due {
            turns.spawn(
                DeliveryTurn {
                    webhooks: webhooks.clone(),
                    brains: brains.clone(),
                    turn: Arc::new(turn),
                    now,
                }
                .run(),
            );
        }
    }
}

/// A turn of one webhook.
struct DeliveryTurn {
    webhooks: Webhooks,
    brains: Brains,
    turn: Arc<WebhookTurn>,
    now: fn() -> Micros,
}

impl DeliveryTurn {
    async fn run(self) {
        for _ in 0..WEBHOOK_POSTS_PER_TURN {
            let goes_on = self.step().await.unwrap_or_else(|why| {
                let webhook = self.turn.id.to_string();
                tracing::error!(webhook, why, "a webhook was not looked at");
                false
            });
            if !goes_on {
                return;
            }
        }
    }

    /// Runs work that may wait for the disk.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Webhooks, &WebhookTurn) -> T + Send + 'static,
    ) -> Result<T, String> {
        let (webhooks, turn) = (self.webhooks.clone(), self.turn.clone());
        let done = blocking(move || work(&webhooks, &turn)).await;
        done.map_err(|error| error.to_string())
    }

    async fn progress(
        &self,
        note: impl FnOnce(&mut WebhookProgress, &mut bool) + Send + 'static,
    ) -> Result<bool, String> {
        self.blocking(move |webhooks, turn| webhooks.progress(turn, note))
            .await
    }

    /// Sends a change, or finds that there is none; true if there may be more.
    async fn step(&self) -> Result<bool, String> {
        let Some(webhook) = self
            .blocking(|webhooks, turn| webhooks.active(turn))
            .await?
        else {
            return Ok(false);
        };
        let Some(brain) = self.open(&webhook).await? else {
            return Ok(false);
        };
        let of = webhook.clone();
        let next = self.blocking(move |webhooks, turn| {
            // In this order: an erase that ends in between is in the view.
            let is_erasing = webhooks.is_erasing(&of.brain);
            let next = next_step(&brain.view(), &of, is_erasing);
            let is_idle = matches!(next, Ok(NextStep::Skip(_, true) | NextStep::Replaced(_)));
            webhooks.idle(turn, is_idle);
            next
        });
        let next = match next.await? {
            Ok(next) => next,
            Err(error) => {
                let why = error.to_string();
                let brain = &webhook.brain;
                tracing::error!(brain, why, "a webhook is not sent what its brain has");
                let next_try = after((self.now)(), WEBHOOK_AGAIN_AFTER_MAX);
                self.progress(move |progress, _| {
                    progress.next_try = Some(next_try);
                    progress.last_error = Some(bounded(why));
                })
                .await?;
                return Ok(false);
            }
        };
        match next {
            NextStep::Send(message, position) => {
                let sent = move |progress: &mut WebhookProgress| progress.position = Some(position);
                self.send(&webhook, &message, sent).await
            }
            NextStep::SendErased(message) => {
                let sent = |progress: &mut WebhookProgress| {
                    progress.erased.pop_front();
                };
                self.send(&webhook, &message, sent).await
            }
            NextStep::Drop => {
                let drop_first = |progress: &mut WebhookProgress, _: &mut bool| {
                    progress.erased.pop_front();
                };
                self.progress(drop_first).await
            }
            NextStep::Wait => Ok(false),
            NextStep::Skip(position, is_end) => {
                let moved = move |progress: &mut WebhookProgress, _: &mut bool| {
                    progress.position = Some(position);
                };
                Ok(self.progress(moved).await? && !is_end)
            }
            NextStep::Replaced(position) => {
                let (webhook, brain) = (webhook.id.to_string(), webhook.brain);
                tracing::warn!(
                    brain,
                    webhook,
                    "another brain has the name: the webhook is sent what comes from now on"
                );
                self.progress(move |progress, _| {
                    progress.erased.clear();
                    progress.position = Some(position);
                })
                .await?;
                Ok(false)
            }
        }
    }

    /// The brain of a webhook; `None` if it cannot be opened now.
    async fn open(&self, webhook: &Webhook) -> Result<Option<Arc<OpenBrain>>, String> {
        let error = match self.brains.engine().open(&webhook.brain).await {
            Ok(brain) => return Ok(Some(brain)),
            Err(error) => error,
        };
        if error.is_unknown_brain() {
            // It is looked at again once a brain of the name is open.
            self.blocking(|webhooks, turn| webhooks.idle(turn, true))
                .await?;
            return Ok(None);
        }
        let next_try = after((self.now)(), WEBHOOK_AGAIN_AFTER_MAX);
        let why = bounded(format!("its brain cannot be opened: {error}"));
        self.progress(move |progress, _| {
            progress.next_try = Some(next_try);
            progress.last_error = Some(why);
        })
        .await?;
        Ok(None)
    }

    /// Posts a message, and notes what became of it; true if it was accepted.
    async fn send(
        &self,
        webhook: &Webhook,
        message: &Message,
        sent: impl FnOnce(&mut WebhookProgress) + Send + 'static,
    ) -> Result<bool, String> {
        let metrics = self.webhooks.metrics();
        let Err(why) = self.post(webhook, message).await else {
            metrics.webhook_posts().add(1);
            return self
                .progress(move |progress, _| {
                    sent(progress);
                    progress.succeeded();
                })
                .await;
        };
        metrics.webhook_posts_failed().add(1);
        let failures = webhook.progress.failures.saturating_add(1);
        let pause = WEBHOOK_AGAIN_AFTER
            .saturating_mul(1 << (failures - 1).min(16))
            .min(WEBHOOK_AGAIN_AFTER_MAX);
        let next_try = after((self.now)(), pause);
        let (id, delivery) = (webhook.id.to_string(), message.delivery.to_string());
        let brain = &webhook.brain;
        let is_paused = failures >= WEBHOOK_ATTEMPTS_MAX;
        if is_paused {
            tracing::error!(
                brain,
                webhook = id,
                delivery,
                why,
                "a webhook is paused, after {WEBHOOK_ATTEMPTS_MAX} posts that failed: change it, and it goes on from here"
            );
        } else {
            let again_after_secs = pause.as_secs();
            tracing::warn!(
                brain,
                webhook = id,
                delivery,
                why,
                again_after_secs,
                "a webhook was not sent"
            );
        }
        let why = bounded(why);
        // A change by a request meanwhile is not undone.
        let updated = webhook.updated;
        self.blocking(move |webhooks, turn| {
            let is_same = webhooks
                .active(turn)
                .is_some_and(|now| now.updated == updated);
            is_same
                && webhooks.progress(turn, |progress, is_active| {
                    progress.failures = failures;
                    progress.next_try = Some(next_try);
                    progress.last_error = Some(why);
                    *is_active &= !is_paused;
                })
        })
        .await?;
        Ok(false)
    }

    async fn post(&self, webhook: &Webhook, message: &Message) -> Result<(), String> {
        // The settings may list other hosts than when the webhook was created.
        let target = self.webhooks.hosts().target(&webhook.url)?;
        let request = message.request(webhook, target.uri);
        let request = request.map_err(|why| format!("the URL cannot be called: {why}"))?;
        let secret = webhook.secret.text().to_owned();
        match (self.webhooks.post())(request, secret, target.is_private).await? {
            200..=299 => Ok(()),
            status @ 300..=399 => Err(format!(
                "the receiver answered {status}, and redirects are not followed"
            )),
            status => Err(format!("the receiver answered {status}")),
        }
    }
}

/// The time after a pause.
fn after(now: Micros, pause: Duration) -> i64 {
    let pause = i64::try_from(pause.as_micros()).unwrap_or(i64::MAX);
    now.0.saturating_add(pause)
}

/// A reason without what is beyond its limit.
fn bounded(mut why: String) -> String {
    let mut end = WEBHOOK_ERROR_BYTES_MAX.min(why.len());
    while !why.is_char_boundary(end) {
        end -= 1;
    }
    why.truncate(end);
    why
}
