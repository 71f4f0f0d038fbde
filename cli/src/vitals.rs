//! The state of the daemon: itself, its brains, calls and jobs.
//!
//! Counts are totals since the daemon started: two samples give a rate. Not here: printing it.

use amem_client::{Duration, v1};
use serde::Serialize;

use crate::connection::remote::{Remote, all_pages};
use crate::failure::Failure;
use crate::json::event::Time;
use crate::render::printable;

/// Rows per request.
const PAGE: u32 = 200;

#[derive(Debug, Clone, Serialize)]
pub(crate) struct Vitals {
    pub(crate) version: String,
    pub(crate) pid: u32,
    pub(crate) uptime_secs: f64,
    pub(crate) folder: String,
    pub(crate) socket: String,
    /// Empty if none was read.
    pub(crate) settings_file: String,
    /// A path, `journal` or `stderr`.
    pub(crate) log: String,
    pub(crate) brain_count: u64,
    pub(crate) failed_brains: u64,
    pub(crate) rejected_files: u64,
    pub(crate) connections: u64,
    pub(crate) connections_turned_away: u64,
    pub(crate) stalls: u64,
    pub(crate) files_waiting: u64,
    pub(crate) process: ProcessJson,
    pub(crate) brains: Vec<BrainStatusJson>,
    /// The first ones: brains, then files.
    pub(crate) problems: Vec<ProblemJson>,
    pub(crate) latencies: Vec<LatencyJson>,
    pub(crate) refused_calls: Vec<RefusedCallsJson>,
    pub(crate) job_counts: Vec<JobCountJson>,
    pub(crate) jobs: Vec<JobJson>,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct BrainStatusJson {
    pub(crate) brain: String,
    pub(crate) lsn: u64,
    pub(crate) generation: u64,
    pub(crate) events: u64,
    pub(crate) edges: u64,
    pub(crate) base_bytes: u64,
    pub(crate) journal_bytes: u64,
    pub(crate) queued: u32,
    pub(crate) subscribers: u32,
    pub(crate) checkpointing: bool,
    pub(crate) poisoned: Option<String>,
    /// From here on: since the daemon started; times in microseconds.
    pub(crate) commits: u64,
    pub(crate) requests: u64,
    pub(crate) requests_refused: u64,
    pub(crate) groups: u64,
    pub(crate) group_p50: u32,
    pub(crate) group_p99: u32,
    pub(crate) sync_p50: u64,
    pub(crate) sync_p99: u64,
    pub(crate) wait_p50: u64,
    pub(crate) wait_p99: u64,
    pub(crate) checkpoints: u64,
    pub(crate) checkpoints_failed: u64,
    pub(crate) checkpoint_duration: Option<u64>,
    pub(crate) checkpoint_stall: Option<u64>,
    pub(crate) subscriber_behind: u64,
    pub(crate) pending_facts: u64,
    pub(crate) oldest_pending_facts: Option<Time>,
    pub(crate) review_facts: u64,
}

/// A brain that cannot be opened, or a rejected file.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ProblemJson {
    pub(crate) brain: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) time: Option<Time>,
    /// A file that was never a brain.
    pub(crate) rejected: bool,
}

/// The latency of one RPC.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LatencyJson {
    pub(crate) rpc: String,
    pub(crate) count: u64,
    pub(crate) errors: u64,
    pub(crate) in_flight: u64,
    /// Microseconds, as all that follow.
    pub(crate) p50: u64,
    pub(crate) p90: u64,
    pub(crate) p99: u64,
    pub(crate) p999: u64,
    pub(crate) max: u64,
    pub(crate) mean: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct JobJson {
    pub(crate) id: u64,
    pub(crate) kind: String,
    pub(crate) brain: String,
    pub(crate) state: String,
    pub(crate) start_time: Option<Time>,
    pub(crate) end_time: Option<Time>,
    pub(crate) message: String,
}

/// Resources of the daemon's process.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct ProcessJson {
    pub(crate) memory_bytes: u64,
    pub(crate) mapped_bytes: u64,
    pub(crate) descriptors: u64,
    pub(crate) descriptors_max: u64,
    pub(crate) threads: u64,
    pub(crate) cpu_secs: f64,
}

/// Calls that failed for one reason.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RefusedCallsJson {
    pub(crate) reason: String,
    pub(crate) count: u64,
}

#[derive(Debug, Clone, Serialize)]
pub(crate) struct JobCountJson {
    pub(crate) kind: String,
    pub(crate) running: u64,
    pub(crate) done: u64,
    pub(crate) failed: u64,
}

impl ProblemJson {
    /// A label, and the problem in one line.
    pub(crate) fn line(&self) -> (&'static str, String) {
        let (name, why) = (printable(&self.brain), printable(&self.message));
        if !self.rejected {
            return ("problem", format!("{name}: {why}"));
        }
        // Some messages name the file themselves.
        if self.message.starts_with(&format!("{}.amem ", self.brain)) {
            return ("rejected", why);
        }
        ("rejected", format!("{name}.amem: {why}"))
    }
}

impl Vitals {
    /// Problems that `problems` does not list.
    pub(crate) fn problems_unlisted(&self) -> u64 {
        let all = self.failed_brains + self.rejected_files;
        all.saturating_sub(self.problems.len() as u64)
    }

    pub(crate) fn of(remote: &Remote) -> Result<Self, Failure> {
        let mut admin = remote.client.admin();
        let status = remote.call(admin.get_status(v1::GetStatusRequest {}))?;
        let mut latencies = latencies(remote)?;
        latencies.retain(|latency| latency.count > 0);
        latencies.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.rpc.cmp(&b.rpc)));
        Ok(Self {
            version: status.version,
            pid: status.pid,
            uptime_secs: status.uptime.map_or(0.0, |up| secs(&up)),
            folder: status.folder,
            socket: status.socket,
            settings_file: status.settings_file,
            log: status.log,
            brain_count: status.brain_count,
            failed_brains: status.failed_brains,
            rejected_files: status.rejected_files,
            connections: status.connections,
            connections_turned_away: status.connections_turned_away,
            stalls: status.stalls,
            files_waiting: status.files_waiting,
            process: status.process.map(process).unwrap_or_default(),
            refused_calls: status.refused_calls.into_iter().map(refused).collect(),
            job_counts: status.jobs.into_iter().map(job_count).collect(),
            brains: status
                .brains
                .into_iter()
                .map(brain)
                .collect::<Result<_, _>>()?,
            problems: status
                .problems
                .into_iter()
                .map(problem)
                .collect::<Result<_, _>>()?,
            latencies,
            jobs: jobs(remote)?,
        })
    }
}

/// Every brain and file that is not served, and why.
pub(crate) fn problems(remote: &Remote) -> Result<Vec<ProblemJson>, Failure> {
    let problems = all_pages(|page_token| {
        let request = v1::ListProblemsRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_problems(request))?;
        Ok((answer.problems, answer.next_page_token))
    })?;
    problems.into_iter().map(problem).collect()
}

fn latencies(remote: &Remote) -> Result<Vec<LatencyJson>, Failure> {
    let latencies = all_pages(|page_token| {
        let request = v1::ListLatenciesRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_latencies(request))?;
        Ok((answer.latencies, answer.next_page_token))
    })?;
    Ok(latencies.into_iter().map(latency).collect())
}

fn jobs(remote: &Remote) -> Result<Vec<JobJson>, Failure> {
    let jobs = all_pages(|page_token| {
        let request = v1::ListJobsRequest {
            page_size: PAGE,
            page_token,
            running: false,
        };
        let answer = remote.call(remote.client.admin().list_jobs(request))?;
        Ok((answer.jobs, answer.next_page_token))
    })?;
    jobs.into_iter().map(job).collect()
}

fn brain(of: v1::BrainStatus) -> Result<BrainStatusJson, Failure> {
    let time = |of: Option<Duration>| of.map_or(0, |of| micros(&of));
    Ok(BrainStatusJson {
        brain: of.brain,
        lsn: of.moment.map_or(0, |moment| moment.lsn),
        generation: of.generation,
        events: of.events,
        edges: of.edges,
        base_bytes: of.base_bytes,
        journal_bytes: of.journal_bytes,
        queued: of.queued,
        subscribers: of.subscribers,
        checkpointing: of.checkpointing,
        poisoned: Some(of.poisoned).filter(|why| !why.is_empty()),
        commits: of.commits,
        requests: of.requests,
        requests_refused: of.requests_refused,
        groups: of.groups,
        group_p50: of.group_p50,
        group_p99: of.group_p99,
        sync_p50: time(of.sync_p50),
        sync_p99: time(of.sync_p99),
        wait_p50: time(of.wait_p50),
        wait_p99: time(of.wait_p99),
        checkpoints: of.checkpoints,
        checkpoints_failed: of.checkpoints_failed,
        checkpoint_duration: of.checkpoint_duration.map(|of| micros(&of)),
        checkpoint_stall: of.checkpoint_stall.map(|of| micros(&of)),
        subscriber_behind: of.subscriber_behind,
        pending_facts: of.pending_facts,
        oldest_pending_facts: Time::maybe(of.oldest_pending_facts)?,
        review_facts: of.review_facts,
    })
}

fn problem(of: v1::BrainProblem) -> Result<ProblemJson, Failure> {
    Ok(ProblemJson {
        brain: of.brain,
        reason: of.reason,
        message: of.message,
        time: Time::maybe(of.time)?,
        rejected: of.rejected,
    })
}

fn latency(of: v1::RpcLatency) -> LatencyJson {
    let micros = |of: Option<Duration>| of.map_or(0, |of| micros(&of));
    LatencyJson {
        rpc: of.rpc,
        count: of.count,
        errors: of.errors,
        in_flight: of.in_flight,
        p50: micros(of.p50),
        p90: micros(of.p90),
        p99: micros(of.p99),
        p999: micros(of.p999),
        max: micros(of.max),
        mean: micros(of.mean),
    }
}

fn process(of: v1::ProcessStatus) -> ProcessJson {
    ProcessJson {
        memory_bytes: of.memory_bytes,
        mapped_bytes: of.mapped_bytes,
        descriptors: of.descriptors,
        descriptors_max: of.descriptors_max,
        threads: of.threads,
        cpu_secs: of.cpu_time.map_or(0.0, |of| secs(&of)),
    }
}

fn refused(of: v1::RefusedCalls) -> RefusedCallsJson {
    RefusedCallsJson {
        reason: of.reason,
        count: of.count,
    }
}

fn job_count(of: v1::JobCount) -> JobCountJson {
    JobCountJson {
        kind: job_name(of.kind()),
        running: of.running,
        done: of.done,
        failed: of.failed,
    }
}

fn job(of: v1::Job) -> Result<JobJson, Failure> {
    Ok(JobJson {
        id: of.id,
        kind: job_name(of.kind()),
        state: word(of.state().as_str_name(), "JOB_STATE_"),
        brain: of.brain,
        start_time: Time::maybe(of.start_time)?,
        end_time: Time::maybe(of.end_time)?,
        message: of.message,
    })
}

/// The name of a job, as the settings of a brain write it.
pub(crate) fn job_name(kind: v1::JobKind) -> String {
    match kind {
        v1::JobKind::Expiry => "expire".to_owned(),
        v1::JobKind::Compression => "compress".to_owned(),
        kind => word(kind.as_str_name(), "JOB_KIND_").replace('-', "_"),
    }
}

/// `JOB_STATE_RUNNING` as `running`.
fn word(name: &str, prefix: &str) -> String {
    let name = name.strip_prefix(prefix).unwrap_or(name);
    name.to_ascii_lowercase().replace('_', "-")
}

fn micros(of: &Duration) -> u64 {
    let whole = u64::try_from(of.seconds).unwrap_or_default();
    let part = u64::try_from(of.nanos).unwrap_or_default() / 1000;
    whole.saturating_mul(1_000_000).saturating_add(part)
}

fn secs(of: &Duration) -> f64 {
    micros(of) as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_enumerations_are_words_and_spans_are_microseconds() {
        assert_eq!(word("JOB_STATE_RUNNING", "JOB_STATE_"), "running");
        assert_eq!(word("JOB_KIND_A_B", "JOB_KIND_"), "a-b");
        assert_eq!(job_name(v1::JobKind::CloseSessions), "close_sessions");
        assert_eq!(job_name(v1::JobKind::Expiry), "expire");
        let span = Duration {
            seconds: 1,
            nanos: 500_000,
        };
        assert_eq!((micros(&span), secs(&span)), (1_000_500, 1.0005));
    }
}
