//! The state of brains, calls and jobs, as messages.

use std::time::{SystemTime, UNIX_EPOCH};

use amem_facts::PendingSummary;
use amem_format::Micros;
use amem_proto::{Duration, Timestamp, v1};

use crate::ingress::latency::Rpc;
use crate::metrics::Process;
use crate::refusal::{Refusal, Result};
use amem_engine::{JobCount, JobEntry, JobKind, NamedProblem, ScheduledJob};
use amem_engine::{JobReport, OpenBrain};
use amem_proto::answer::{moment, timestamp};

pub(super) fn brain(brain: &OpenBrain, pending: PendingSummary) -> v1::BrainStatus {
    let metrics = brain.metrics();
    let (groups, syncs) = (metrics.groups.read(), metrics.syncs.read());
    let waits = metrics.waits.read();
    let last = |span: u64| (metrics.checkpoints.get() > 0).then(|| micros(span));
    let size = |thousandths| u32::try_from(groups.at_most(thousandths)).unwrap_or(u32::MAX);
    let view = brain.view();
    // The engine has reported a base whose log cannot be read when it opened the brain.
    let held = view.commits_held_after().unwrap_or(view.lsn());
    v1::BrainStatus {
        brain: brain.name.clone(),
        moment: Some(moment(&view)),
        generation: view.identity().generation.0,
        events: view.nodes(),
        edges: view.edges(),
        base_bytes: view.brain().base_bytes(),
        journal_bytes: brain.journal_bytes(),
        queued: brain.queued(),
        checkpointing: brain.is_checkpointing(),
        poisoned: brain.poisoned().unwrap_or_default(),
        subscribers: brain.subscriber_count(),
        oldest_after_lsn: held.0,
        commits: metrics.commits.get(),
        requests: metrics.requests.get(),
        requests_refused: metrics.refused.get(),
        groups: groups.count(),
        group_p50: size(500),
        group_p99: size(990),
        sync_p50: Some(micros(syncs.at_most(500))),
        sync_p99: Some(micros(syncs.at_most(990))),
        wait_p50: Some(micros(waits.at_most(500))),
        wait_p99: Some(micros(waits.at_most(990))),
        checkpoints: metrics.checkpoints.get(),
        checkpoints_failed: metrics.checkpoints_failed.get(),
        checkpoint_duration: last(metrics.checkpoint_micros.get()),
        checkpoint_stall: last(metrics.stall_micros.get()),
        subscriber_behind: brain.subscriber_lag(view.lsn()),
        // A brain that is damaged there says so when its facts are read.
        review_facts: amem_facts::review_count(&view).unwrap_or_default(),
        pending_facts: pending.count,
        oldest_pending_facts: pending.oldest.map(timestamp),
    }
}

/// A brain that cannot be opened, or a file that was rejected.
pub(super) fn problem((name, problem): NamedProblem) -> v1::BrainProblem {
    let refusal = Refusal::from(problem.error).0;
    v1::BrainProblem {
        brain: name,
        reason: refusal.reason.into_owned(),
        message: refusal.message,
        time: Some(time(problem.since)),
        rejected: problem.is_rejected,
    }
}

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

pub(super) fn job_count(of: JobCount) -> v1::JobCount {
    v1::JobCount {
        kind: of.kind as i32,
        running: of.running,
        done: of.done,
        failed: of.failed,
    }
}

pub(super) fn job(entry: JobEntry) -> v1::Job {
    let (state, end_time, message) = match entry.ended {
        None => (v1::JobState::Running, None, String::new()),
        Some((ended, Ok(what))) => (v1::JobState::Done, Some(time(ended)), what),
        Some((ended, Err(why))) => (v1::JobState::Failed, Some(time(ended)), why),
    };
    v1::Job {
        id: entry.id,
        kind: entry.kind as i32,
        brain: entry.brain,
        state: state.into(),
        start_time: Some(time(entry.started)),
        end_time,
        message,
    }
}

/// The outcome of a scheduled job, for subscribers.
pub(super) fn job_outcome(brain: &str, report: JobReport) -> v1::Job {
    job(JobEntry {
        id: 0,
        kind: report.kind,
        brain: brain.to_owned(),
        started: report.began,
        ended: Some((report.ended, report.outcome)),
    })
}

/// The kind of job that a request names.
pub(super) fn job_kind(kind: v1::JobKind) -> Result<JobKind> {
    let job = kind.as_str_name();
    Ok(JobKind::by_name(job).ok_or(amem_engine::Error::NotScheduled { job })?)
}

pub(super) fn scheduled(entry: ScheduledJob) -> v1::ScheduledJob {
    let (message, failed) = match entry.outcome {
        None => (String::new(), false),
        Some(Ok(what)) => (what, false),
        Some(Err(why)) => (why, true),
    };
    v1::ScheduledJob {
        brain: entry.brain,
        kind: entry.kind as i32,
        schedule: entry.schedule.to_string(),
        last_time: entry.last.map(timestamp),
        message,
        failed,
        next_time: entry.next.map(timestamp),
        running: entry.running,
        runs: entry.runs,
    }
}

pub(super) fn duration(span: std::time::Duration) -> Duration {
    Duration {
        seconds: i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        nanos: span.subsec_nanos() as i32,
    }
}

fn micros(micros: u64) -> Duration {
    duration(std::time::Duration::from_micros(micros))
}

pub(super) fn time(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    timestamp(Micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_jobs_have_the_names_and_numbers_of_the_wire() {
        for kind in JobKind::ALL {
            let wire = v1::JobKind::from_str_name(kind.name()).unwrap();
            assert_eq!(wire as i32, kind as i32);
            assert_eq!(job_kind(wire).unwrap(), kind);
        }
        assert!(v1::JobKind::try_from(JobKind::ALL.len() as i32 + 1).is_err());
        assert!(job_kind(v1::JobKind::Unspecified).is_err());
    }
}
