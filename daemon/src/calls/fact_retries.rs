//! Pending work of fact memory, tried again when its time has come, over restarts.
//!
//! Promises: a brain is opened only for work that is due; its work runs once at a time; each run that did something or
//! failed is a job of the brain: listed, and sent to subscribers.

use std::sync::Arc;
use std::time::Instant;

use amem_engine::tasks::{blocking, spawn_part};
use amem_engine::{Error as EngineError, JobKind, OpenBrain, PRINCIPAL, plural};
use amem_facts::{Error as FactError, Facts, RetryOutcome};
use amem_memory::FactScope;
use tokio::sync::Semaphore;

use super::fact_memory::now;
use super::gateway::Gateway;
use super::standing_reads::StandingReads;
use crate::limits::{FACT_FORGET_EVERY, FACT_RETRIES_EVERY, FACT_RETRIES_MAX};
use crate::pending_facts::PendingFacts;

/// The agent in whose name the daemon tries again.
const AGENT: &str = "fact_retry";

/// Tries what is due again, for as long as it is polled.
pub(crate) async fn run_due(gateway: Arc<Gateway>) {
    let slots = Arc::new(Semaphore::new(FACT_RETRIES_MAX));
    let mut forget_at = Instant::now() + FACT_FORGET_EVERY;
    let pending = gateway.brains.pending_facts().clone();
    let mut reads = StandingReads::default();
    loop {
        tokio::time::sleep(FACT_RETRIES_EVERY).await;
        look_at_open_brains(&gateway, &pending).await;
        reads.begin(&gateway, &slots);
        if Instant::now() >= forget_at {
            forget_at = Instant::now() + FACT_FORGET_EVERY;
            let here = gateway.brains.engine().identities();
            pending.retain(|name| here.contains_key(name));
        }
        for name in pending.due(now()) {
            let Ok(slot) = slots.clone().try_acquire_owned() else {
                break;
            };
            let gateway = gateway.clone();
            spawn_part(async move {
                let _slot = slot;
                retry(gateway, &name).await;
            });
        }
    }
}

/// Other calls change pending work as well: an erase, a merge.
async fn look_at_open_brains(gateway: &Gateway, pending: &PendingFacts) {
    let mut behind = gateway.brains.engine().open_brains();
    behind.retain(|brain| pending.is_behind(brain));
    if behind.is_empty() {
        return;
    }
    let pending = pending.clone();
    let looked = blocking(move || behind.iter().for_each(|brain| pending.look(brain))).await;
    if let Err(error) = looked {
        tracing::error!(why = error.to_string(), "pending facts were not looked at");
    }
}

/// Tries the due work of a brain again.
async fn retry(gateway: Arc<Gateway>, name: &str) {
    let pending = gateway.brains.pending_facts();
    let Some(run) = pending.begin(name) else {
        return;
    };
    let of = gateway.clone();
    let work = move |brain: Arc<OpenBrain>| async move { of.retry_facts(brain).await };
    let schedules = &gateway.schedules;
    let done = schedules
        .run_unscheduled(name, JobKind::FactRetry, work)
        .await;
    match &done {
        Err(error) if error.is_unknown_brain() => pending.retain(|known| known != name),
        done => {
            if let (Some(pause), Err(error)) = (run.ended(done.is_ok()), done) {
                tracing::warn!(
                    brain = name,
                    why = error.to_string(),
                    again_after_secs = pause.as_secs(),
                    "pending facts were not tried again"
                );
            }
        }
    }
}

impl Gateway {
    /// Tries the due work of an open brain again; returns what became of it, or none if nothing was due.
    async fn retry_facts(&self, brain: Arc<OpenBrain>) -> Result<Option<String>, EngineError> {
        let due = |facts: &Facts<'_>| facts.retry(&FactScope::default(), now(), true);
        let work = self.fact_work(PRINCIPAL, &brain, AGENT, due);
        let pool = &self.fact_calls.0;
        let outcomes = pool.of(PRINCIPAL).run(work).await?;
        let outcomes = outcomes.map_err(|error| match error {
            FactError::Engine(error) => error,
            FactError::Memory(error) => EngineError::JobFailed {
                why: error.to_string(),
            },
        })?;
        Ok(report(&outcomes))
    }
}

/// What became of work, in words; none of no work.
fn report(outcomes: &[RetryOutcome]) -> Option<String> {
    let left: Vec<_> = outcomes.iter().filter(|outcome| !outcome.is_done).collect();
    let done = outcomes.len() - left.len();
    let of = plural(outcomes.len() as u64, "piece");
    let why = left.first().map(|outcome| match &outcome.failure {
        Some(failure) => failure.to_string(),
        None => outcome.entry.work.detail.clone(),
    });
    let why = why.map_or(String::new(), |why| format!("; the others wait: {why}"));
    (!outcomes.is_empty()).then(|| format!("{done} of {of} of pending work done{why}"))
}
