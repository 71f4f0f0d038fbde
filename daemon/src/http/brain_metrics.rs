//! The metrics of open brains. A closed brain has none; its counters continue when it is opened again.

use std::sync::Arc;

use super::prometheus::{Family, MICROS, MetricsText, counter, gauge, histogram};
use crate::pending_facts::PendingFacts;
use amem_engine::{BrainMetrics, Histogram as Buckets, OpenBrain};

/// The values of one brain.
struct BrainSample {
    name: String,
    counts: Arc<BrainMetrics>,
    lsn: u64,
    generation: u64,
    events: u64,
    edges: u64,
    base_bytes: u64,
    journal_bytes: u64,
    queued: u64,
    subscribers: u64,
    behind: u64,
    pending_facts: u64,
    is_checkpointing: bool,
    is_poisoned: bool,
}

impl BrainSample {
    fn of(brain: &OpenBrain, pending: &PendingFacts) -> Self {
        let view = brain.view();
        Self {
            name: brain.name.clone(),
            counts: brain.metrics().clone(),
            lsn: view.lsn().0,
            generation: view.identity().generation.0,
            events: view.nodes(),
            edges: view.edges(),
            base_bytes: view.brain().base_bytes(),
            journal_bytes: brain.journal_bytes(),
            queued: brain.queued().into(),
            subscribers: brain.subscriber_count().into(),
            behind: brain.subscriber_lag(view.lsn()),
            pending_facts: pending.known(&brain.name).count,
            is_checkpointing: brain.is_checkpointing(),
            is_poisoned: brain.poisoned().is_some(),
        }
    }
}

type BrainSeries = (Family, fn(&BrainSample) -> f64);

/// Microseconds as seconds.
fn seconds(micros: u64) -> f64 {
    micros as f64 / MICROS
}

#[rustfmt::skip]
const NUMBERS: &[BrainSeries] = &[
    (gauge("amemd_brain_lsn", "Newest LSN of the brain."), |b| b.lsn as f64),
    (gauge("amemd_brain_generation", "Generation of the base."), |b| b.generation as f64),
    (gauge("amemd_brain_events", "Events of the brain, forgotten ones included."), |b| b.events as f64),
    (gauge("amemd_brain_edges", "Edges of the brain."), |b| b.edges as f64),
    (gauge("amemd_brain_base_bytes", "Bytes of the base."), |b| b.base_bytes as f64),
    (gauge("amemd_brain_journal_bytes", "Bytes of the journal."), |b| b.journal_bytes as f64),
    (gauge("amemd_brain_queue_requests", "Requests that wait for the writer."), |b| b.queued as f64),
    (gauge("amemd_brain_subscribers", "Subscriptions that follow the brain."), |b| b.subscribers as f64),
    (gauge("amemd_brain_subscriber_behind_commits", "Commits that the slowest subscription has not received yet."), |b| b.behind as f64),
    (gauge("amemd_brain_pending_facts", "Pieces of work of fact memory that are left and tried again."), |b| b.pending_facts as f64),
    (gauge("amemd_brain_checkpointing", "1 while a checkpoint is being made."), |b| f64::from(u8::from(b.is_checkpointing))),
    (gauge("amemd_brain_poisoned", "1 while the brain refuses writes, until it has been recovered."), |b| f64::from(u8::from(b.is_poisoned))),
    (counter("amemd_brain_commits_total", "Commits, those of the daemon itself included."), |b| b.counts.commits.get() as f64),
    (counter("amemd_brain_requests_total", "Requests that the writer executed, refused ones included."), |b| b.counts.requests.get() as f64),
    (counter("amemd_brain_requests_refused_total", "Requests that the writer refused."), |b| b.counts.refused.get() as f64),
    (counter("amemd_brain_checkpoints_total", "Checkpoints that are in place."), |b| b.counts.checkpoints.get() as f64),
    (counter("amemd_brain_checkpoints_failed_total", "Checkpoints that failed."), |b| b.counts.checkpoints_failed.get() as f64),
    (gauge("amemd_brain_checkpoint_last_seconds", "How long the last checkpoint took, during which commits continue."), |b| seconds(b.counts.checkpoint_micros.get())),
    (gauge("amemd_brain_checkpoint_last_stall_seconds", "How long the last checkpoint delayed commits."), |b| seconds(b.counts.stall_micros.get())),
];

type BrainHistogram = (Family, f64, fn(&BrainMetrics) -> &Buckets);

#[rustfmt::skip]
const HISTOGRAMS: &[BrainHistogram] = &[
    (histogram("amemd_brain_group_requests", "Requests that were committed by one sync."), 1.0, |f| &f.groups),
    (histogram("amemd_brain_sync_seconds", "How long a group's sync took."), MICROS, |f| &f.syncs),
    (histogram("amemd_brain_queue_wait_seconds", "How long requests waited for the writer."), MICROS, |f| &f.waits),
];

pub(super) fn write(brains: &[Arc<OpenBrain>], pending: &PendingFacts, text: &mut MetricsText) {
    let samples = brains.iter().map(|brain| BrainSample::of(brain, pending));
    let samples: Vec<_> = samples.collect();
    for (family, number) in NUMBERS {
        text.family(family);
        for brain in &samples {
            text.sample(family, &[("brain", &brain.name)], number(brain));
        }
    }
    for (family, unit, buckets) in HISTOGRAMS {
        text.family(family);
        for brain in &samples {
            let counted = buckets(&brain.counts).read();
            text.histogram(family, ("brain", &brain.name), &counted, *unit);
        }
    }
}
