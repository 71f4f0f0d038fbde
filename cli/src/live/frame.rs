//! A frame of `amemctl top`: what happened between two samples, busiest first.

use std::time::Duration;

use serde::Serialize;

use super::rates::{GrowthRates, text};
use super::view_state::{BrainOrder, ViewState};
use crate::render::{Align, TextPage, TextTable, bytes, count, micros, plural, printable, span};
use crate::vitals::{JobJson, ProblemJson, ProcessJson, Vitals};

/// Rows shown of each table; JSON has all.
pub(crate) const ROWS: usize = 12;
/// Problems shown.
const PROBLEMS: usize = 5;

/// Rates are per second; times are microseconds.
#[derive(Debug, Serialize)]
pub(crate) struct ScreenFrame {
    seconds: f64,
    version: String,
    pid: u32,
    uptime_secs: f64,
    brain_count: u64,
    failed_brains: u64,
    rejected_files: u64,
    connections: u64,
    files_waiting: u64,
    process: ProcessJson,
    /// Processors in use.
    cpus: f64,
    brains: Vec<BrainRates>,
    calls: Vec<CallRates>,
    refused: Vec<RefusalRates>,
    jobs: Vec<JobJson>,
    problems: Vec<ProblemJson>,
    #[serde(skip)]
    problems_unlisted: u64,
}

#[derive(Debug, Serialize)]
struct BrainRates {
    brain: String,
    commits_per_sec: f64,
    events_per_sec: f64,
    requests_per_sec: f64,
    queued: u32,
    wait_p99: u64,
    sync_p99: u64,
    group_p50: u32,
    base_bytes: u64,
    journal_bytes: u64,
    checkpointing: bool,
    checkpoints: u64,
    checkpoint_duration: Option<u64>,
    checkpoint_stall: Option<u64>,
    subscribers: u32,
    subscriber_behind: u64,
    poisoned: Option<String>,
}

#[derive(Debug, Serialize)]
struct CallRates {
    rpc: String,
    per_sec: f64,
    refused_per_sec: f64,
    in_flight: u64,
    p50: u64,
    p99: u64,
    count: u64,
}

#[derive(Debug, Serialize)]
struct RefusalRates {
    reason: String,
    per_sec: f64,
    count: u64,
}

impl ScreenFrame {
    pub(crate) fn of(before: &Vitals, now: &Vitals, between: Duration) -> Self {
        let secs = between.as_secs_f64();
        let cpu = now.process.cpu_secs - before.process.cpu_secs;
        let mut jobs = now.jobs.clone();
        jobs.retain(|job| job.end_time.is_none());
        Self {
            seconds: secs,
            version: now.version.clone(),
            pid: now.pid,
            uptime_secs: now.uptime_secs,
            brain_count: now.brain_count,
            failed_brains: now.failed_brains,
            rejected_files: now.rejected_files,
            connections: now.connections,
            files_waiting: now.files_waiting,
            process: now.process.clone(),
            cpus: (cpu / secs.max(f64::EPSILON)).max(0.0),
            brains: brains(before, now, between),
            calls: calls(before, now, between),
            refused: refused(before, now, between),
            jobs,
            problems: now.problems.clone(),
            problems_unlisted: now.problems_unlisted(),
        }
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
            BrainOrder::Journal => brains.sort_by_key(|b| std::cmp::Reverse(b.journal_bytes)),
            BrainOrder::Waiting => brains.sort_by_key(|b| std::cmp::Reverse(b.queued)),
        }
        self.write_head(page);
        self.write_problems(page);
        self.write_brains(&brains, view.first, page);
        self.write_calls(page);
        self.write_jobs(page);
    }

    fn write_head(&self, page: &mut TextPage) {
        page.title(format!(
            "amemd {}  process {}, up {}",
            self.version,
            self.pid,
            span(self.uptime_secs)
        ));
        let calls: f64 = self.calls.iter().map(|call| call.per_sec).sum();
        page.line(format!(
            "{} calls/s, {}, {} ({} open), {} arriving",
            text(calls),
            plural(self.connections, "connection"),
            plural(self.brain_count, "brain"),
            count(self.brains.len() as u64),
            plural(self.files_waiting, "file")
        ));
        page.line(format!(
            "{:.2} processors, {} of memory, {} of mapped files, {}, {}",
            self.cpus,
            bytes(self.process.memory_bytes),
            bytes(self.process.mapped_bytes),
            plural(self.process.descriptors, "descriptor"),
            plural(self.process.threads, "thread")
        ));
    }

    fn write_problems(&self, page: &mut TextPage) {
        for problem in self.problems.iter().take(PROBLEMS) {
            let (what, line) = problem.line();
            page.line(format!("{what}: {line}"));
        }
        let untold = self.problems.len().saturating_sub(PROBLEMS) as u64 + self.problems_unlisted;
        if untold > 0 {
            page.aside(format!(
                "{} more: `amemctl brain ls --rejected`",
                count(untold)
            ));
        }
        for brain in &self.brains {
            if let Some(why) = &brain.poisoned {
                let (brain, why) = (printable(&brain.brain), printable(why));
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
            format!("{} {}{rate}", printable(&of.reason), count(of.count))
        });
        let refused: Vec<_> = refused.collect();
        if !refused.is_empty() {
            page.line(format!("refused: {}", refused.join(", ")));
        }
    }

    /// Narrow terminals get fewer columns.
    fn write_brains(&self, brains: &[&BrainRates], first: usize, page: &mut TextPage) {
        let room = page.style().columns();
        let columns: Vec<_> = COLUMNS.iter().filter(|of| of.columns_min <= room).collect();
        let header: Vec<_> = columns.iter().map(|of| (of.name, of.align)).collect();
        let mut table = TextTable::new(&header);
        for brain in brains.iter().skip(first).take(ROWS) {
            table.row(columns.iter().map(|of| (of.cell)(brain)).collect());
        }
        self.write_table(&table, brains.len() - first, "brains", page);
    }

    fn write_calls(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("call", Align::Left),
            ("calls/s", Align::Right),
            ("refused/s", Align::Right),
            ("under way", Align::Right),
            ("p50", Align::Right),
            ("p99", Align::Right),
        ]);
        for call in self.calls.iter().take(ROWS) {
            let name = call.rpc.rsplit('/').next().unwrap_or_default();
            table.row(vec![
                name.to_owned(),
                text(call.per_sec),
                text(call.refused_per_sec),
                count(call.in_flight),
                micros(call.p50),
                micros(call.p99),
            ]);
        }
        self.write_table(&table, self.calls.len(), "calls", page);
    }

    fn write_jobs(&self, page: &mut TextPage) {
        let mut table = TextTable::new(&[
            ("job", Align::Right),
            ("what", Align::Left),
            ("brain", Align::Left),
        ]);
        for job in self.jobs.iter().take(ROWS) {
            table.row(vec![
                job.id.to_string(),
                job.kind.clone(),
                job.brain.clone(),
            ]);
        }
        self.write_table(&table, self.jobs.len(), "jobs", page);
    }

    fn write_table(&self, table: &TextTable, all: usize, what: &str, page: &mut TextPage) {
        if table.is_empty() {
            return;
        }
        page.line("");
        table.write(page);
        if all > ROWS {
            page.aside(format!("{} more {what}", count((all - ROWS) as u64)));
        }
    }
}

/// A column of the table of brains.
struct BrainColumn {
    name: &'static str,
    align: Align,
    /// Columns of a terminal from which on it is shown.
    columns_min: usize,
    cell: fn(&BrainRates) -> String,
}

const fn column(
    name: &'static str,
    align: Align,
    columns_min: usize,
    cell: fn(&BrainRates) -> String,
) -> BrainColumn {
    BrainColumn {
        name,
        align,
        columns_min,
        cell,
    }
}

const COLUMNS: [BrainColumn; 10] = [
    column("brain", Align::Left, 0, |b| b.brain.clone()),
    column("commits/s", Align::Right, 0, |b| text(b.commits_per_sec)),
    column("events/s", Align::Right, 60, |b| text(b.events_per_sec)),
    column("waiting", Align::Right, 0, |b| count(b.queued.into())),
    column("wait p99", Align::Right, 80, |b| micros(b.wait_p99)),
    column("sync p99", Align::Right, 80, |b| micros(b.sync_p99)),
    column("base", Align::Right, 100, |b| bytes(b.base_bytes)),
    column("journal", Align::Right, 50, |b| bytes(b.journal_bytes)),
    column("behind", Align::Right, 100, |b| match b.subscribers {
        0 => "-".to_owned(),
        _ => count(b.subscriber_behind),
    }),
    column("checkpoint", Align::Left, 110, checkpoint),
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

fn checkpoint(brain: &BrainRates) -> String {
    if brain.checkpointing {
        return "under way".to_owned();
    }
    match (brain.checkpoint_duration, brain.checkpoint_stall) {
        (Some(took), Some(stall)) => format!("{}, held up {}", micros(took), micros(stall)),
        _ => "-".to_owned(),
    }
}

fn brains(before: &Vitals, now: &Vitals, between: Duration) -> Vec<BrainRates> {
    let of = |number: fn(&crate::vitals::BrainStatusJson) -> u64| {
        let brains = before.brains.iter();
        GrowthRates::since(brains.map(|b| (b.brain.as_str(), number(b))), between)
    };
    let (commits, events, requests) = (of(|b| b.commits), of(|b| b.events), of(|b| b.requests));
    let row = |brain: &crate::vitals::BrainStatusJson| BrainRates {
        brain: brain.brain.clone(),
        commits_per_sec: commits.of(&brain.brain, brain.commits),
        // A brain that was closed before has not gained all its events since.
        events_per_sec: if before.brains.iter().any(|b| b.brain == brain.brain) {
            events.of(&brain.brain, brain.events)
        } else {
            0.0
        },
        requests_per_sec: requests.of(&brain.brain, brain.requests),
        queued: brain.queued,
        wait_p99: brain.wait_p99,
        sync_p99: brain.sync_p99,
        group_p50: brain.group_p50,
        base_bytes: brain.base_bytes,
        journal_bytes: brain.journal_bytes,
        checkpointing: brain.checkpointing,
        checkpoints: brain.checkpoints,
        checkpoint_duration: brain.checkpoint_duration,
        checkpoint_stall: brain.checkpoint_stall,
        subscribers: brain.subscribers,
        subscriber_behind: brain.subscriber_behind,
        poisoned: brain.poisoned.clone(),
    };
    let mut rows: Vec<_> = now.brains.iter().map(row).collect();
    rows.sort_by(|a, b| {
        let busier = b.commits_per_sec.total_cmp(&a.commits_per_sec);
        busier
            .then_with(|| b.queued.cmp(&a.queued))
            .then_with(|| a.brain.cmp(&b.brain))
    });
    rows
}

fn calls(before: &Vitals, now: &Vitals, between: Duration) -> Vec<CallRates> {
    let of = |number: fn(&crate::vitals::LatencyJson) -> u64| {
        let calls = before.latencies.iter();
        GrowthRates::since(calls.map(|c| (c.rpc.as_str(), number(c))), between)
    };
    let (counts, errors) = (of(|c| c.count), of(|c| c.errors));
    let row = |call: &crate::vitals::LatencyJson| CallRates {
        rpc: call.rpc.clone(),
        per_sec: counts.of(&call.rpc, call.count),
        refused_per_sec: errors.of(&call.rpc, call.errors),
        in_flight: call.in_flight,
        p50: call.p50,
        p99: call.p99,
        count: call.count,
    };
    let mut rows: Vec<_> = now.latencies.iter().map(row).collect();
    rows.sort_by(|a, b| {
        let busier = b.per_sec.total_cmp(&a.per_sec);
        busier
            .then_with(|| b.count.cmp(&a.count))
            .then_with(|| a.rpc.cmp(&b.rpc))
    });
    rows
}

fn refused(before: &Vitals, now: &Vitals, between: Duration) -> Vec<RefusalRates> {
    let counts = before.refused_calls.iter();
    let rates = GrowthRates::since(counts.map(|of| (of.reason.as_str(), of.count)), between);
    let row = |of: &crate::vitals::RefusedCallsJson| RefusalRates {
        reason: of.reason.clone(),
        per_sec: rates.of(&of.reason, of.count),
        count: of.count,
    };
    let mut rows: Vec<_> = now.refused_calls.iter().map(row).collect();
    rows.sort_by(|a, b| {
        b.per_sec
            .total_cmp(&a.per_sec)
            .then_with(|| b.count.cmp(&a.count))
    });
    rows
}
