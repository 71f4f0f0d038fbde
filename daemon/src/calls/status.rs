//! How brains, calls and jobs are, as messages.

use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use amem_format::Micros;
use amem_proto::{Duration, Timestamp, v1};

use crate::brains::Named;
use crate::checkpoints::base_bytes;
use crate::figures::Process;
use crate::jobs::{Count, Entry};
use crate::latency::Rpc;
use crate::open_brain::{JobTold, OpenBrain};
use crate::schedules::Entry as Scheduled;
use amem_proto::answer::{moment, timestamp};

/// An open brain.
pub(super) fn brain(brain: &OpenBrain) -> v1::BrainStatus {
    let figures = &brain.shared.figures;
    let (groups, syncs) = (figures.groups.read(), figures.syncs.read());
    let waits = figures.waits.read();
    let last = |span: u64| (figures.checkpoints.get() > 0).then(|| micros(span));
    let size = |thousandths| u32::try_from(groups.at_most(thousandths)).unwrap_or(u32::MAX);
    let view = brain.view();
    // A base whose log can't be read has told so when it was opened.
    let held = view.commits_held_after().unwrap_or(view.lsn());
    v1::BrainStatus {
        brain: brain.name.clone(),
        moment: Some(moment(&view)),
        generation: view.identity().generation.0,
        events: view.nodes(),
        edges: view.edges(),
        base_bytes: base_bytes(view.brain()),
        journal_bytes: brain.shared.journal_bytes.load(Ordering::Relaxed),
        queued: brain.queued(),
        checkpointing: brain.shared.checkpointing.load(Ordering::Relaxed),
        poisoned: brain.shared.poisoned().unwrap_or_default(),
        subscribers: brain.followers.count(),
        oldest_after_lsn: held.0,
        commits: figures.commits.get(),
        requests: figures.requests.get(),
        requests_refused: figures.refused.get(),
        groups: groups.count(),
        group_p50: size(500),
        group_p99: size(990),
        sync_p50: Some(micros(syncs.at_most(500))),
        sync_p99: Some(micros(syncs.at_most(990))),
        wait_p50: Some(micros(waits.at_most(500))),
        wait_p99: Some(micros(waits.at_most(990))),
        checkpoints: figures.checkpoints.get(),
        checkpoints_failed: figures.checkpoints_failed.get(),
        checkpoint_duration: last(figures.checkpoint_micros.get()),
        checkpoint_stall: last(figures.stall_micros.get()),
        subscriber_behind: brain.followers.behind(view.lsn()),
    }
}

/// A brain that can't be opened, or a file that was not adopted.
pub(super) fn problem((name, problem): Named) -> v1::BrainProblem {
    let refusal = problem.refusal.0;
    v1::BrainProblem {
        brain: name,
        reason: refusal.reason.into_owned(),
        message: refusal.message,
        time: Some(time(problem.since)),
        rejected: problem.is_rejected,
    }
}

/// How long the calls of an RPC took.
pub(super) fn latency(path: String, rpc: &Rpc) -> v1::RpcLatency {
    let at = |quantile| Some(micros(rpc.micros.value_at_quantile(quantile)));
    v1::RpcLatency {
        rpc: path,
        count: rpc.micros.len(),
        errors: rpc.errors,
        in_flight: rpc.in_flight,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        p999: at(0.999),
        max: Some(micros(rpc.micros.max())),
        mean: Some(micros(rpc.micros.mean() as u64)),
    }
}

/// The process.
pub(super) fn process(of: &Process) -> v1::ProcessStatus {
    v1::ProcessStatus {
        memory_bytes: of.memory_bytes,
        mapped_bytes: of.mapped_bytes,
        descriptors: of.descriptors,
        descriptors_max: of.descriptors_max,
        threads: of.threads,
        cpu_time: Some(duration(of.cpu)),
    }
}

/// How many jobs of a kind there were.
pub(super) fn job_count(of: Count) -> v1::JobCount {
    v1::JobCount {
        kind: of.kind.into(),
        running: of.running,
        done: of.done,
        failed: of.failed,
    }
}

/// A job.
pub(super) fn job(entry: Entry) -> v1::Job {
    let (state, end_time, message) = match entry.ended {
        None => (v1::JobState::Running, None, String::new()),
        Some((ended, Ok(what))) => (v1::JobState::Done, Some(time(ended)), what),
        Some((ended, Err(why))) => (v1::JobState::Failed, Some(time(ended)), why),
    };
    v1::Job {
        id: entry.id,
        kind: entry.kind.into(),
        brain: entry.brain,
        state: state.into(),
        start_time: Some(time(entry.started)),
        end_time,
        message,
    }
}

/// What came of a scheduled job, as subscribers are told.
pub(super) fn job_told(brain: &str, told: JobTold) -> v1::Job {
    job(Entry {
        id: 0,
        kind: told.kind,
        brain: brain.to_owned(),
        started: told.began,
        ended: Some((told.ended, told.outcome)),
    })
}

/// A job that follows the clock.
pub(super) fn scheduled(entry: Scheduled) -> v1::ScheduledJob {
    let (message, failed) = match entry.outcome {
        None => (String::new(), false),
        Some(Ok(what)) => (what, false),
        Some(Err(why)) => (why, true),
    };
    v1::ScheduledJob {
        brain: entry.brain,
        kind: entry.kind.into(),
        schedule: entry.schedule.to_string(),
        last_time: entry.last.map(timestamp),
        message,
        failed,
        next_time: entry.next.map(timestamp),
        running: entry.running,
        runs: entry.runs,
    }
}

/// A span of time.
pub(super) fn duration(span: std::time::Duration) -> Duration {
    Duration {
        seconds: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        nanos: span.subsec_nanos() as i32,
    }
}

fn micros(micros: u64) -> Duration {
    duration(std::time::Duration::from_micros(micros))
}

/// A moment.
pub(super) fn time(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    timestamp(Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}
