//! `amemctl status`: whether amemd runs, and how it is.

use amem_client::{Duration, Timestamp, v1};
use clap::Args;
use serde::Serialize;

use crate::context::Context;
use crate::event::Time;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::remote::Remote;
use crate::render::{Align, Page, Table, bytes, count, printable, spark};
use crate::when;

/// Calls whose latencies are shown unless all are wanted.
const CALLS: usize = 8;
/// Jobs that are shown unless all are wanted.
const JOBS: usize = 5;
/// Rows that are asked for at a time.
const PAGE: u32 = 200;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl status
  amemctl status --all
  amemctl status --json | jq .data.brains

It starts no daemon: without one it ends with 7. With a brain that can't be served it ends with 1.
The bars are the p50, p90, p99, p99.9 and the slowest, each beside the slowest of its call.")]
pub(crate) struct Status {
    /// Every call and every job, not only the most frequent and the last.
    #[arg(long)]
    all: bool,
}

#[derive(Serialize)]
struct Told {
    version: String,
    pid: u32,
    uptime_secs: f64,
    folder: String,
    socket: String,
    brain_count: u64,
    brains: Vec<BrainJson>,
    problems: Vec<Problem>,
    latencies: Vec<Latency>,
    jobs: Vec<JobJson>,
}

#[derive(Serialize)]
struct BrainJson {
    brain: String,
    lsn: u64,
    generation: u64,
    events: u64,
    edges: u64,
    base_bytes: u64,
    journal_bytes: u64,
    queued: u32,
    subscribers: u32,
    checkpointing: bool,
    poisoned: Option<String>,
}

#[derive(Serialize)]
struct Problem {
    brain: String,
    reason: String,
    message: String,
    time: Option<Time>,
}

#[derive(Serialize)]
struct Latency {
    rpc: String,
    count: u64,
    errors: u64,
    in_flight: u64,
    /// Microseconds.
    p50: u64,
    p90: u64,
    p99: u64,
    p999: u64,
    max: u64,
    mean: u64,
}

#[derive(Serialize)]
struct JobJson {
    id: u64,
    kind: String,
    brain: String,
    state: String,
    start_time: Option<Time>,
    end_time: Option<Time>,
    message: String,
}

impl Status {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        let told = self.told(&remote)?;
        cx.answer(None, &told, |page| write(&told, self.all, page))?;
        Ok(match told.problems.is_empty() {
            true => Exit::Ok,
            false => Exit::Findings,
        })
    }

    fn told(&self, remote: &Remote) -> Result<Told, Failure> {
        let mut admin = remote.client.admin();
        let status = remote.call(admin.get_status(v1::GetStatusRequest {}))?;
        let mut latencies = latencies(remote)?;
        latencies.retain(|latency| latency.count > 0);
        latencies.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.rpc.cmp(&b.rpc)));
        Ok(Told {
            version: status.version,
            pid: status.pid,
            uptime_secs: status.uptime.map_or(0.0, |up| micros(&up) as f64 / 1e6),
            folder: status.folder,
            socket: status.socket,
            brain_count: status.brain_count,
            brains: status.brains.into_iter().map(brain).collect(),
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

fn latencies(remote: &Remote) -> Result<Vec<Latency>, Failure> {
    let mut all = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListLatenciesRequest {
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_latencies(request))?;
        all.extend(answer.latencies.into_iter().map(latency));
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            return Ok(all);
        }
    }
}

fn jobs(remote: &Remote) -> Result<Vec<JobJson>, Failure> {
    let mut all = Vec::new();
    let mut page_token = String::new();
    loop {
        let request = v1::ListJobsRequest {
            page_size: PAGE,
            page_token,
            running: false,
        };
        let answer = remote.call(remote.client.admin().list_jobs(request))?;
        for job in answer.jobs {
            all.push(self::job(job)?);
        }
        page_token = answer.next_page_token;
        if page_token.is_empty() {
            return Ok(all);
        }
    }
}

fn brain(of: v1::BrainStatus) -> BrainJson {
    BrainJson {
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
    }
}

fn problem(of: v1::BrainProblem) -> Result<Problem, Failure> {
    Ok(Problem {
        brain: of.brain,
        reason: of.reason,
        message: of.message,
        time: time(of.time)?,
    })
}

fn latency(of: v1::RpcLatency) -> Latency {
    let micros = |of: Option<Duration>| of.map_or(0, |of| micros(&of));
    Latency {
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

fn job(of: v1::Job) -> Result<JobJson, Failure> {
    Ok(JobJson {
        id: of.id,
        kind: word(of.kind().as_str_name(), "JOB_KIND_"),
        state: word(of.state().as_str_name(), "JOB_STATE_"),
        brain: of.brain,
        start_time: time(of.start_time)?,
        end_time: time(of.end_time)?,
        message: of.message,
    })
}

/// A name of an enumeration as a word.
fn word(name: &str, prefix: &str) -> String {
    let name = name.strip_prefix(prefix).unwrap_or(name);
    name.to_ascii_lowercase().replace('_', "-")
}

fn time(of: Option<Timestamp>) -> Result<Option<Time>, Failure> {
    of.map(|of| Time::of(Some(of))).transpose()
}

fn micros(of: &Duration) -> u64 {
    let whole = u64::try_from(of.seconds).unwrap_or_default();
    let part = u64::try_from(of.nanos).unwrap_or_default() / 1000;
    whole.saturating_mul(1_000_000).saturating_add(part)
}

fn write(told: &Told, all: bool, page: &mut Page) {
    page.title(format!("amemd {}", told.version));
    page.field(
        "process",
        format!("{}, up {}", told.pid, span(told.uptime_secs)),
    );
    page.field("folder", printable(&told.folder));
    page.field("socket", printable(&told.socket));
    let open = told.brains.len() as u64;
    page.field(
        "brains",
        format!("{}, {} open", count(told.brain_count), count(open)),
    );
    for problem in &told.problems {
        page.field(
            "problem",
            format!(
                "{}: {}",
                printable(&problem.brain),
                printable(&problem.message)
            ),
        );
    }
    write_brains(&told.brains, page);
    let shown = if all { usize::MAX } else { CALLS };
    write_latencies(&told.latencies, shown, page);
    write_jobs(&told.jobs, if all { usize::MAX } else { JOBS }, page);
}

fn write_brains(brains: &[BrainJson], page: &mut Page) {
    let mut table = Table::new(&[
        ("brain", Align::Left),
        ("events", Align::Right),
        ("edges", Align::Right),
        ("LSN", Align::Right),
        ("base", Align::Right),
        ("journal", Align::Right),
        ("waiting", Align::Right),
        ("watched by", Align::Right),
        ("", Align::Left),
    ]);
    for brain in brains {
        let state = match (&brain.poisoned, brain.checkpointing) {
            (Some(why), _) => printable(why),
            (None, true) => "checkpoint under way".to_owned(),
            (None, false) => String::new(),
        };
        table.row(vec![
            brain.brain.clone(),
            count(brain.events),
            count(brain.edges),
            count(brain.lsn),
            bytes(brain.base_bytes),
            bytes(brain.journal_bytes),
            count(brain.queued.into()),
            count(brain.subscribers.into()),
            state,
        ]);
    }
    if !table.is_empty() {
        page.line("");
        table.write(page);
    }
}

fn write_latencies(latencies: &[Latency], most: usize, page: &mut Page) {
    let mut table = Table::new(&[
        ("call", Align::Left),
        ("calls", Align::Right),
        ("refused", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("slowest", Align::Right),
        ("", Align::Left),
    ]);
    for of in latencies.iter().take(most) {
        let name = of.rpc.rsplit('/').next().unwrap_or_default();
        table.row(vec![
            name.to_owned(),
            count(of.count),
            count(of.errors),
            latency_text(of.p50),
            latency_text(of.p99),
            latency_text(of.max),
            spark(&[of.p50, of.p90, of.p99, of.p999, of.max], page.style()),
        ]);
    }
    if !table.is_empty() {
        page.line("");
        table.write(page);
        let more = latencies.len().saturating_sub(most);
        if more > 0 {
            page.aside(format!("{more} more: --all shows them"));
        }
    }
}

fn write_jobs(jobs: &[JobJson], most: usize, page: &mut Page) {
    let mut table = Table::new(&[
        ("job", Align::Right),
        ("what", Align::Left),
        ("brain", Align::Left),
        ("begun", Align::Left),
        ("state", Align::Left),
    ]);
    for job in jobs.iter().take(most) {
        let state = match job.message.as_str() {
            "" => job.state.clone(),
            message => format!("{}: {}", job.state, printable(message)),
        };
        table.row(vec![
            job.id.to_string(),
            job.kind.clone(),
            job.brain.clone(),
            job.start_time
                .map_or("-".to_owned(), |at| when::short(at.0)),
            state,
        ]);
    }
    if !table.is_empty() {
        page.line("");
        table.write(page);
    }
}

/// Microseconds for people.
fn latency_text(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{micros} µs"),
        10_000..10_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

/// Seconds for people: the two greatest units.
fn span(secs: f64) -> String {
    let secs = secs as u64;
    match secs {
        0..60 => format!("{secs} s"),
        60..3_600 => format!("{} min {} s", secs / 60, secs % 60),
        3_600..86_400 => format!("{} h {} min", secs / 3_600, secs / 60 % 60),
        _ => format!("{} d {} h", secs / 86_400, secs / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_latencies_are_short() {
        let spans = [0.4, 61.0, 3_661.0, 90_000.0].map(span);
        assert_eq!(spans, ["0 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
        let latencies = [7, 9_999, 12_345, 12_345_678].map(latency_text);
        assert_eq!(latencies, ["7 µs", "9999 µs", "12.3 ms", "12.3 s"]);
        assert_eq!(word("JOB_STATE_RUNNING", "JOB_STATE_"), "running");
    }
}
