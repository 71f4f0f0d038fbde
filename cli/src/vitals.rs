//! The state of the daemon: itself, its brains, calls and jobs.
//!
//! Counts are totals since the daemon started: two samples give a rate. Not here: printing it.

use amem_client::{Duration, v1};
use serde_json::{Value, json};

use crate::connection::remote::{Remote, all_pages, whole_list};
use crate::failure::Failure;
use crate::output::context::{message_json, messages_json};

/// Rows per request.
const PAGE: u32 = 200;

#[derive(Debug, Clone, Default)]
pub(crate) struct Vitals {
    pub(crate) status: v1::GetStatusResponse,
    /// Of calls that were made; the most frequent first.
    pub(crate) latencies: Vec<v1::RpcLatency>,
    pub(crate) jobs: Vec<v1::Job>,
}

impl Vitals {
    /// Problems that `problems` does not list.
    pub(crate) fn problems_unlisted(&self) -> u64 {
        let all = self.status.failed_brains + self.status.rejected_files;
        all.saturating_sub(self.status.problems.len() as u64)
    }

    pub(crate) fn of(remote: &Remote) -> Result<Self, Failure> {
        let mut admin = remote.client.admin();
        let status = remote.call(admin.get_status(v1::GetStatusRequest {}))?;
        let mut latencies = latencies(remote)?;
        latencies.retain(|latency| latency.count > 0);
        latencies.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.rpc.cmp(&b.rpc)));
        Ok(Self {
            status,
            latencies,
            jobs: jobs(remote)?,
        })
    }

    /// The answers of three calls in one object.
    pub(crate) fn json(&self) -> Result<Value, Failure> {
        Ok(json!({
            "status": message_json(&self.status)?,
            "latencies": messages_json(&self.latencies)?,
            "jobs": messages_json(&self.jobs)?,
        }))
    }
}

/// A label, and the problem in one line.
pub(crate) fn problem_line(problem: &v1::BrainProblem) -> (&'static str, String) {
    let (name, why) = (&problem.brain, &problem.message);
    if !problem.rejected {
        return ("problem", format!("{name}: {why}"));
    }
    // Some messages name the file themselves.
    if why.starts_with(&format!("{name}.amem ")) {
        return ("rejected", why.clone());
    }
    ("rejected", format!("{name}.amem: {why}"))
}

/// Every brain and file that is not served, and why.
pub(crate) fn problems(remote: &Remote) -> Result<v1::ListProblemsResponse, Failure> {
    Ok(whole_list(
        |page_token| {
            let request = v1::ListProblemsRequest {
                page_size: PAGE,
                page_token,
            };
            remote.call(remote.client.admin().list_problems(request))
        },
        |answer| (&mut answer.problems, &mut answer.next_page_token),
    )?)
}

fn latencies(remote: &Remote) -> Result<Vec<v1::RpcLatency>, Failure> {
    Ok(all_pages(|page_token| {
        let request = v1::ListLatenciesRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_latencies(request))?;
        Ok((answer.latencies, answer.next_page_token))
    })?)
}

fn jobs(remote: &Remote) -> Result<Vec<v1::Job>, Failure> {
    Ok(all_pages(|page_token| {
        let request = v1::ListJobsRequest {
            page_size: PAGE,
            page_token,
            running: false,
        };
        let answer = remote.call(remote.client.admin().list_jobs(request))?;
        Ok((answer.jobs, answer.next_page_token))
    })?)
}

/// The name of a call without its service.
pub(crate) fn rpc_name(rpc: &str) -> String {
    rpc.rsplit('/').next().unwrap_or_default().to_owned()
}

/// The name of a job, as the settings of a brain write it.
pub(crate) fn job_name(kind: v1::JobKind) -> String {
    match kind {
        v1::JobKind::Expiry => "expire".to_owned(),
        v1::JobKind::Compression => "compress".to_owned(),
        kind => word(kind.as_str_name(), "JOB_KIND_").replace('-', "_"),
    }
}

/// The state of a job, such as `running`.
pub(crate) fn job_state(job: &v1::Job) -> String {
    word(job.state().as_str_name(), "JOB_STATE_")
}

/// `JOB_STATE_RUNNING` as `running`.
fn word(name: &str, prefix: &str) -> String {
    let name = name.strip_prefix(prefix).unwrap_or(name);
    name.to_ascii_lowercase().replace('_', "-")
}

/// Microseconds; 0 without a span.
pub(crate) fn span_micros(span: Option<Duration>) -> u64 {
    let Some(span) = span else { return 0 };
    let whole = u64::try_from(span.seconds).unwrap_or_default();
    let part = u64::try_from(span.nanos).unwrap_or_default() / 1000;
    whole.saturating_mul(1_000_000).saturating_add(part)
}

/// Seconds; 0 without a span.
pub(crate) fn span_secs(span: Option<Duration>) -> f64 {
    span_micros(span) as f64 / 1e6
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
        let span = Some(Duration {
            seconds: 1,
            nanos: 500_000,
        });
        assert_eq!((span_micros(span), span_secs(span)), (1_000_500, 1.0005));
        assert_eq!(span_micros(None), 0);
    }
}
