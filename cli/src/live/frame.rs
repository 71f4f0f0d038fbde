//! A frame of `amemctl top`: what happened between two samples, busiest first.

use std::time::Duration;

use amem_client::v1;
use serde::Serialize;
use serde_json::{Value, json};

use super::rates::{GrowthRates, text};
use super::view_state::{BrainOrder, ViewState};
use crate::failure::Failure;
use crate::output::context::messages_json;
use crate::render::{Align, Column, TextPage, bytes, count, micros, plural, span};
use crate::vitals::{Vitals, job_name, problem_line, rpc_name, span_micros, span_secs};

/// Rows shown of each table; JSON has all.
pub(crate) const ROWS: usize = 12;
/// Problems shown.
const PROBLEMS: usize = 5;

/// Rates are per second.
#[derive(Debug)]
pub(crate) struct ScreenFrame {
    seconds: f64,
    now: Vitals,
    /// Processors in use.
    cpus: f64,
    brains: Vec<BrainRates>,
    calls: Vec<CallRates>,
    refused: Vec<RefusalRates>,
    /// Those that run.
    jobs: Vec<v1::Job>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct BrainRates {
    brain: String,
    commits_per_sec: f64,
    events_per_sec: f64,
    requests_per_sec: f64,
    #[serde(skip)]
    status: v1::BrainStatus,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallRates {
    rpc: String,
    per_sec: f64,
    refused_per_sec: f64,
    #[serde(skip)]
    latency: v1::RpcLatency,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RefusalRates {
    reason: String,
    per_sec: f64,
    #[serde(skip)]
    count: u64,
}

impl ScreenFrame {
    pub(crate) fn of(before: &Vitals, now: &Vitals, between: Duration) -> Self {
        let secs = between.as_secs_f64();
        let cpu_secs = |of: &Vitals| {
            let process = of.status.process.unwrap_or_default();
            span_secs(process.cpu_time)
        };
        let mut jobs = now.jobs.clone();
        jobs.retain(|job| job.end_time.is_none());
        Self {
            seconds: secs,
            cpus: ((cpu_secs(now) - cpu_secs(before)) / secs.max(f64::EPSILON)).max(0.0),
            brains: brains(before, now, between),
            calls: calls(before, now, between),
            refused: refused(before, now, between),
            jobs,
            now: now.clone(),
        }
    }

    /// The state at the end, as `amemctl status --json` has it, and the rates.
    pub(crate) fn json(&self) -> Result<Value, Failure> {
        let mut frame = self.now.json()?;
        frame["jobs"] = messages_json(&self.jobs)?;
        frame["seconds"] = self.seconds.into();
        frame["cpus"] = self.cpus.into();
        frame["rates"] = json!({
            "brains": self.brains,
            "calls": self.calls,
            "refused": self.refused,
        });
        Ok(frame)
    }

    /// The number of open brains.
    pub(crate) fn brain_rows(&self) -> usize {
        self.brains.len()
    }

    pub(crate) fn write(&self, page: &mut TextPage) {
        self.write_head(page);
        self.write_problems(page);
        self.write_brains(&self.brains.iter().collect::<Vec<_>>(), 0, page);
        self.write_calls(page);
        self.write_jobs(page);
    }

    /// As the user of a terminal wants to see it.
    pub(crate) fn write_screen(&self, view: &ViewState, page: &mut TextPage) {
        let paused = if view.is_paused() { "PAUSED  " } else { "" };
        page.aside(format!(
            "{paused}q quit  p pause  s sort: {}  h help",
            view.order.label()
        ));
        if view.is_help {
            return write_help(page);
        }
        let mut brains: Vec<_> = self.brains.iter().collect();
        match view.order {
            BrainOrder::Load => {}
            BrainOrder::Name => brains.sort_by(|a, b| a.brain.cmp(&b.brain)),
            BrainOrder::Journal => {
                brains.sort_by_key(|b| std::cmp::Reverse(b.status.journal_bytes));
            }
            BrainOrder::Waiting => brains.sort_by_key(|b| std::cmp::Reverse(b.status.queued)),
        }
        self.write_head(page);
        self.write_problems(page);
        self.write_brains(&brains, view.first, page);
        self.write_calls(page);
        self.write_jobs(page);
    }

    fn write_head(&self, page: &mut TextPage) {
        let status = &self.now.status;
        page.title(format!(
            "amemd {}  process {}, up {}",
            status.version,
            status.pid,
            span(span_secs(status.uptime))
        ));
        let calls: f64 = self.calls.iter().map(|call| call.per_sec).sum();
        page.line(format!(
            "{} calls/s, {}, {} ({} open), {} arriving",
            text(calls),
            plural(status.connections, "connection"),
            plural(status.brain_count, "brain"),
            count(self.brains.len() as u64),
            plural(status.files_waiting, "file")
        ));
        let process = status.process.unwrap_or_default();
        page.line(format!(
            "{:.2} processors, {} of memory, {} of mapped files, {}, {}",
            self.cpus,
            bytes(process.memory_bytes),
            bytes(process.mapped_bytes),
            plural(process.descriptors, "descriptor"),
            plural(process.threads, "thread")
        ));
    }

    fn write_problems(&self, page: &mut TextPage) {
        let problems = &self.now.status.problems;
        for problem in problems.iter().take(PROBLEMS) {
            let (what, line) = problem_line(problem);
            page.line(format!("{what}: {line}"));
        }
        let untold = problems.len().saturating_sub(PROBLEMS) as u64 + self.now.problems_unlisted();
        if untold > 0 {
            page.aside(format!(
                "{} more: `amemctl brain ls --rejected`",
                count(untold)
            ));
        }
        for brain in &self.brains {
            let (brain, why) = (&brain.brain, &brain.status.poisoned);
            if !why.is_empty() {
                page.line(format!("problem: {brain} is being recovered: {why}"));
            }
        }
        let refused = self.refused.iter().take(ROWS);
        let refused = refused.map(|of| {
            let rate = if of.per_sec > 0.0 {
                format!(" (+{}/s)", text(of.per_sec))
            } else {
                String::new()
            };
            format!("{} {}{rate}", of.reason, count(of.count))
        });
        let refused: Vec<_> = refused.collect();
        if !refused.is_empty() {
            page.line(format!("refused: {}", refused.join(", ")));
        }
    }

    /// Narrow terminals get fewer columns.
    fn write_brains(&self, brains: &[&BrainRates], first: usize, page: &mut TextPage) {
        let room = page.style().columns();
        let columns = COLUMNS.iter().filter(|(min, _)| *min <= room);
        let columns: Vec<_> = columns.map(|(_, column)| *column).collect();
        let all = brains.iter().skip(first).copied();
        write_table(&columns, all, "brains", page);
    }

    fn write_calls(&self, page: &mut TextPage) {
        write_table(&CALLS, &self.calls, "calls", page);
    }

    fn write_jobs(&self, page: &mut TextPage) {
        write_table(&JOBS, &self.jobs, "jobs", page);
    }
}

/// The first rows of a table below an empty line, and how many more there are.
fn write_table<'t, T: 't>(
    columns: &[Column<T>],
    items: impl IntoIterator<Item = &'t T>,
    what: &str,
    page: &mut TextPage,
) {
    let items: Vec<&T> = items.into_iter().collect();
    if items.is_empty() {
        return;
    }
    page.line("");
    page.rows(columns, items.iter().copied().take(ROWS));
    if items.len() > ROWS {
        let more = count((items.len() - ROWS) as u64);
        page.aside(format!("{more} more {what}"));
    }
}

/// Columns of a terminal from which on each is shown.
const COLUMNS: [(usize, Column<BrainRates>); 10] = [
    (0, ("brain", Align::Left, |b| b.brain.clone())),
    (0, ("commits/s", Align::Right, |b| text(b.commits_per_sec))),
    (60, ("events/s", Align::Right, |b| text(b.events_per_sec))),
    (
        0,
        ("waiting", Align::Right, |b| count(b.status.queued.into())),
    ),
    (
        80,
        ("wait p99", Align::Right, |b| {
            micros(span_micros(b.status.wait_p99))
        }),
    ),
    (
        80,
        ("sync p99", Align::Right, |b| {
            micros(span_micros(b.status.sync_p99))
        }),
    ),
    (100, ("base", Align::Right, |b| bytes(b.status.base_bytes))),
    (
        50,
        ("journal", Align::Right, |b| bytes(b.status.journal_bytes)),
    ),
    (
        100,
        ("behind", Align::Right, |b| match b.status.subscribers {
            0 => "-".to_owned(),
            _ => count(b.status.subscriber_behind),
        }),
    ),
    (110, ("checkpoint", Align::Left, |b| checkpoint(&b.status))),
];

const CALLS: [Column<CallRates>; 6] = [
    ("call", Align::Left, |call| rpc_name(&call.rpc)),
    ("calls/s", Align::Right, |call| text(call.per_sec)),
    ("refused/s", Align::Right, |call| text(call.refused_per_sec)),
    ("under way", Align::Right, |call| {
        count(call.latency.in_flight)
    }),
    ("p50", Align::Right, |call| {
        micros(span_micros(call.latency.p50))
    }),
    ("p99", Align::Right, |call| {
        micros(span_micros(call.latency.p99))
    }),
];

const JOBS: [Column<v1::Job>; 3] = [
    ("job", Align::Right, |job| job.id.to_string()),
    ("what", Align::Left, |job| job_name(job.kind())),
    ("brain", Align::Left, |job| job.brain.clone()),
];

fn write_help(page: &mut TextPage) {
    for (key, what) in [
        ("q, Ctrl-C", "quit"),
        (
            "p, space",
            "pause: the numbers stay, until it is pressed again",
        ),
        (
            "s",
            "sort brains by load, name, journal or waiting requests",
        ),
        (
            "up, down",
            "scroll the brains; also k, j, page up, page down",
        ),
        ("h, ?", "this help, and back"),
    ] {
        page.field(key, what);
    }
    page.line("");
    page.line(
        "Rates are those since the previous sample; p50 and p99 are those since amemd started.",
    );
}

fn checkpoint(brain: &v1::BrainStatus) -> String {
    if brain.checkpointing {
        return "under way".to_owned();
    }
    match (brain.checkpoint_duration, brain.checkpoint_stall) {
        (Some(took), Some(stall)) => format!(
            "{}, held up {}",
            micros(span_micros(Some(took))),
            micros(span_micros(Some(stall)))
        ),
        _ => "-".to_owned(),
    }
}

fn brains(before: &Vitals, now: &Vitals, between: Duration) -> Vec<BrainRates> {
    let before = &before.status.brains;
    let of = |number: fn(&v1::BrainStatus) -> u64| {
        GrowthRates::since(
            before.iter().map(|b| (b.brain.as_str(), number(b))),
            between,
        )
    };
    let (commits, events, requests) = (of(|b| b.commits), of(|b| b.events), of(|b| b.requests));
    let row = |brain: &v1::BrainStatus| BrainRates {
        brain: brain.brain.clone(),
        commits_per_sec: commits.of(&brain.brain, brain.commits),
        // A brain that was closed before has not gained all its events since.
        events_per_sec: if before.iter().any(|b| b.brain == brain.brain) {
            events.of(&brain.brain, brain.events)
        } else {
            0.0
        },
        requests_per_sec: requests.of(&brain.brain, brain.requests),
        status: brain.clone(),
    };
    let mut rows: Vec<_> = now.status.brains.iter().map(row).collect();
    rows.sort_by(|a, b| {
        let busier = b.commits_per_sec.total_cmp(&a.commits_per_sec);
        busier
            .then_with(|| b.status.queued.cmp(&a.status.queued))
            .then_with(|| a.brain.cmp(&b.brain))
    });
    rows
}

fn calls(before: &Vitals, now: &Vitals, between: Duration) -> Vec<CallRates> {
    let of = |number: fn(&v1::RpcLatency) -> u64| {
        let calls = before.latencies.iter();
        GrowthRates::since(calls.map(|c| (c.rpc.as_str(), number(c))), between)
    };
    let (counts, errors) = (of(|c| c.count), of(|c| c.errors));
    let row = |call: &v1::RpcLatency| CallRates {
        rpc: call.rpc.clone(),
        per_sec: counts.of(&call.rpc, call.count),
        refused_per_sec: errors.of(&call.rpc, call.errors),
        latency: call.clone(),
    };
    let mut rows: Vec<_> = now.latencies.iter().map(row).collect();
    rows.sort_by(|a, b| {
        let busier = b.per_sec.total_cmp(&a.per_sec);
        busier
            .then_with(|| b.latency.count.cmp(&a.latency.count))
            .then_with(|| a.rpc.cmp(&b.rpc))
    });
    rows
}

fn refused(before: &Vitals, now: &Vitals, between: Duration) -> Vec<RefusalRates> {
    let counts = before.status.refused_calls.iter();
    let rates = GrowthRates::since(counts.map(|of| (of.reason.as_str(), of.count)), between);
    let row = |of: &v1::RefusedCalls| RefusalRates {
        reason: of.reason.clone(),
        per_sec: rates.of(&of.reason, of.count),
        count: of.count,
    };
    let mut rows: Vec<_> = now.status.refused_calls.iter().map(row).collect();
    rows.sort_by(|a, b| {
        b.per_sec
            .total_cmp(&a.per_sec)
            .then_with(|| b.count.cmp(&a.count))
    });
    rows
}
