//! The texts of the pages.

use amem_engine::{HistogramSnapshot, TIME_BOUNDS};

use super::brain_metrics;
use super::prometheus::{Family, MICROS, MetricsText, counter, gauge, histogram};
use crate::brains::{Brains, blocking};
use crate::ingress::latency::{Latencies, Rpc};
use crate::limits::STATUS_PROBLEMS_MAX;
use crate::metrics::{Phase, Process, STALLS};
use crate::refusal::{Refusal, Result};

/// The sources of the values.
#[derive(Debug, Clone)]
pub(super) struct PageSources {
    pub(super) brains: Brains,
    pub(super) latencies: Latencies,
}

const INFO: Family = gauge("amemd_info", "1, with the daemon's version.");
const UPTIME: Family = gauge(
    "amemd_uptime_seconds",
    "How long the daemon has been running.",
);
const READY: Family = gauge("amemd_ready", "1 while calls are served.");
const BRAINS: Family = gauge(
    "amemd_brains",
    "Brains in the folder, open or not, without rejected files.",
);
const OPEN: Family = gauge("amemd_brains_open", "Brains that are open.");
const PROBLEMS: Family = gauge("amemd_brains_failed", "Brains that cannot be opened.");
const REJECTED: Family = gauge(
    "amemd_files_rejected",
    "Files in the folder that were rejected: they are not brains, or incomplete.",
);
const FILES: Family = gauge(
    "amemd_files_waiting",
    "Files in the folder that may become brains and are not yet adopted.",
);
const CONNECTIONS: Family = gauge("amemd_connections", "Open connections.");
const TURNED_AWAY: Family = counter(
    "amemd_connections_turned_away_total",
    "Connections that were refused.",
);
const STALLED: Family = counter(
    "amemd_stalls_total",
    "Calls that blocked a thread that serves all calls, and times when no such thread was free.",
);
const POSTS: Family = counter(
    "amemd_webhook_posts_total",
    "Posts of webhooks that ended, done or failed; each try counts.",
);
const PAUSED: Family = gauge(
    "amemd_webhooks_paused",
    "Webhooks that are sent nothing until they are changed.",
);
const CALLS: Family = histogram(
    "amemd_call_seconds",
    "How long calls took, to the end of the answer or the first message of a stream; to three digits.",
);
const FAILED: Family = counter(
    "amemd_calls_failed_total",
    "Calls that were refused or failed, by call.",
);
const IN_FLIGHT: Family = gauge("amemd_calls_in_flight", "Calls in progress.");
const REFUSED: Family = counter(
    "amemd_calls_refused_total",
    "Calls that were refused or failed, by reason; GONE if the caller left before the end of an answer that has one.",
);
const RUNNING: Family = gauge("amemd_jobs_running", "Running jobs.");
const JOBS: Family = counter(
    "amemd_jobs_total",
    "Jobs that ended, done or failed; a failed adoption is a rejected file.",
);
const MEMORY: Family = gauge(
    "amemd_process_memory_bytes",
    "Memory of the process without the files that it maps.",
);
const MAPPED: Family = gauge(
    "amemd_process_mapped_bytes",
    "Bytes of mapped files that are in memory.",
);
const DESCRIPTORS: Family = gauge("amemd_process_descriptors", "Open descriptors.");
const DESCRIPTORS_MAX: Family = gauge(
    "amemd_process_descriptors_max",
    "The limit of open descriptors; 0 without one.",
);
const THREADS: Family = gauge("amemd_process_threads", "Threads of the process.");
const CPU: Family = counter(
    "amemd_process_cpu_seconds_total",
    "Processor time of all threads.",
);

/// The page of metrics.
pub(super) async fn metrics(sources: &PageSources) -> Result<String> {
    let brain_count = sources.brains.engine().list(|_| true).await?.0.len() as u64;
    let process = blocking(Process::now).await?;
    let mut text = MetricsText::default();
    daemon(sources, brain_count, &mut text);
    calls(&sources.latencies, &mut text);
    jobs(sources, &mut text);
    text.one(&MEMORY, process.memory_bytes as f64);
    text.one(&MAPPED, process.mapped_bytes as f64);
    text.one(&DESCRIPTORS, process.descriptors as f64);
    text.one(&DESCRIPTORS_MAX, process.descriptors_max as f64);
    text.one(&THREADS, process.threads as f64);
    text.one(&CPU, process.cpu.as_secs_f64());
    let pending = sources.brains.pending_facts();
    brain_metrics::write(&sources.brains.engine().open_brains(), pending, &mut text);
    Ok(text.into_string())
}

fn daemon(sources: &PageSources, brain_count: u64, text: &mut MetricsText) {
    let metrics = sources.brains.metrics();
    text.family(&INFO);
    text.sample(&INFO, &[("version", env!("CARGO_PKG_VERSION"))], 1.0);
    text.one(&UPTIME, metrics.uptime().as_secs_f64());
    let is_ready = metrics.phase() == Phase::Ready;
    text.one(&READY, f64::from(u8::from(is_ready)));
    text.one(&BRAINS, brain_count as f64);
    text.one(&OPEN, sources.brains.engine().open_brains().len() as f64);
    let (failed, rejected) = sources.brains.engine().problem_counts(|_| true);
    text.one(&PROBLEMS, failed as f64);
    text.one(&REJECTED, rejected as f64);
    text.one(
        &FILES,
        sources.brains.engine().metrics().files_waiting().get() as f64,
    );
    text.one(&CONNECTIONS, metrics.connections().get() as f64);
    text.one(&TURNED_AWAY, metrics.turned_away().get() as f64);
    text.one(&STALLED, STALLS.get() as f64);
    text.family(&POSTS);
    for (outcome, posts) in [
        ("done", metrics.webhook_posts()),
        ("failed", metrics.webhook_posts_failed()),
    ] {
        text.sample(&POSTS, &[("outcome", outcome)], posts.get() as f64);
    }
    text.one(&PAUSED, metrics.webhooks_paused().get() as f64);
}

fn calls(latencies: &Latencies, text: &mut MetricsText) {
    let (rpcs, _) = latencies.page("", usize::MAX);
    text.family(&CALLS);
    for (path, rpc) in &rpcs {
        text.histogram(&CALLS, ("rpc", path), &counted(rpc), MICROS);
    }
    text.family(&FAILED);
    for (path, rpc) in &rpcs {
        text.sample(&FAILED, &[("rpc", path)], rpc.errors as f64);
    }
    text.family(&IN_FLIGHT);
    for (path, rpc) in &rpcs {
        text.sample(&IN_FLIGHT, &[("rpc", path)], rpc.in_flight as f64);
    }
    text.family(&REFUSED);
    for (reason, count) in latencies.refused() {
        text.sample(&REFUSED, &[("reason", &reason)], count as f64);
    }
}

/// A latency histogram in the buckets of Prometheus.
fn counted(rpc: &Rpc) -> HistogramSnapshot {
    let mut counted = HistogramSnapshot::empty(TIME_BOUNDS);
    for value in rpc.micros.iter_recorded() {
        counted.add(value.value_iterated_to(), value.count_at_value());
    }
    counted
}

fn jobs(sources: &PageSources, text: &mut MetricsText) {
    let counts = sources.brains.jobs().counts();
    text.family(&RUNNING);
    for count in &counts {
        text.sample(
            &RUNNING,
            &[("kind", count.kind.label())],
            count.running as f64,
        );
    }
    text.family(&JOBS);
    for count in &counts {
        for (outcome, number) in [("done", count.done), ("failed", count.failed)] {
            let labels = [("kind", count.kind.label()), ("outcome", outcome)];
            text.sample(&JOBS, &labels, number as f64);
        }
    }
}

/// True if the daemon serves calls; and a page that lists the brains that it does not serve.
pub(super) fn ready(sources: &PageSources) -> (bool, String) {
    let phase = sources.brains.metrics().phase();
    let mut out = match phase {
        Phase::Starting => "recovering\n",
        Phase::Ready => "ready\n",
        Phase::Stopping => "stopping\n",
    }
    .to_owned();
    let problems = sources
        .brains
        .engine()
        .first_problems(STATUS_PROBLEMS_MAX, |_| true);
    let (failed, rejected) = sources.brains.engine().problem_counts(|_| true);
    let more = (failed + rejected).saturating_sub(problems.len() as u64);
    for (name, problem) in problems {
        // A file name must not add lines to the page.
        let (name, reason) = (name.escape_debug(), Refusal::from(problem.error).0.reason);
        out.push_str(&if problem.is_rejected {
            format!("file {name}.amem: rejected ({reason})\n")
        } else {
            format!("brain {name}: not served ({reason})\n")
        });
    }
    if more > 0 {
        out.push_str(&format!(
            "and {more} more: `amemctl brain ls --rejected` lists all\n"
        ));
    }
    for brain in sources.brains.engine().open_brains() {
        if brain.poisoned().is_some() {
            out.push_str(&format!("brain {}: poisoned, recovering\n", brain.name));
        }
    }
    (phase == Phase::Ready, out)
}
