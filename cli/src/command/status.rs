//! `amemctl status`: whether amemd runs, and its state.

use amem_client::v1;
use clap::Args;
use serde_json::json;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{
    Align, Column, Style, TextPage, agree, bytes, count, micros, plural, printable, span, spark,
};
use crate::vitals::{Vitals, job_name, job_state, problem_line, rpc_name, span_micros, span_secs};
use crate::when;

/// Calls shown without --all.
const CALLS: usize = 8;
/// Jobs shown without --all.
const JOBS: usize = 5;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl status
  amemctl status --all
  amemctl status --alive
  amemctl status --json | jq .data.status.brains

It starts no daemon: without one the exit code is 7. It is 1 if a brain cannot be opened; rejected files are listed
and do not change it. --alive shows only whether a daemon answers, whatever the state of its brains: for
supervisors.

The bars are p50, p90, p99, p99.9 and the slowest, relative to the slowest of the call.")]
pub(crate) struct StatusArgs {
    /// Show every call and every job, not only the most frequent and the last.
    #[arg(long)]
    all: bool,
    /// Only show whether a daemon answers.
    #[arg(long, conflicts_with = "all")]
    alive: bool,
}

impl StatusArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        if self.alive {
            return alive(&remote, cx);
        }
        let vitals = Vitals::of(&remote)?;
        cx.object(
            None,
            || vitals.json(),
            |page| write(&vitals, self.all, page),
        )?;
        Ok(match vitals.status.failed_brains {
            0 => Exit::Ok,
            _ => Exit::Findings,
        })
    }
}

fn alive(remote: &Remote, cx: &mut CommandContext) -> Result<Exit, Failure> {
    // The cheapest call: it reads neither the folder nor a brain.
    let request = v1::ListJobsRequest {
        page_size: 1,
        ..Default::default()
    };
    remote.call(remote.client.admin().list_jobs(request))?;
    cx.answer(None, &json!({"alive": true}), |page| {
        page.line("amemd answers")
    })?;
    Ok(Exit::Ok)
}

/// Where the log is, for people.
fn log_place(log: &str) -> String {
    match log {
        "journal" => "the journal of systemd: `amemctl logs`".to_owned(),
        "" | "stderr" => "its standard error".to_owned(),
        file => printable(file),
    }
}

fn write(vitals: &Vitals, all: bool, page: &mut TextPage) {
    let output = &vitals.status;
    page.title(format!("amemd {}", output.version));
    let up = span(span_secs(output.uptime));
    // By TCP a daemon tells neither its process nor its paths.
    if output.pid == 0 {
        page.field("process", format!("up {up}"));
    } else {
        page.field("process", format!("{}, up {up}", output.pid));
        page.field("folder", printable(&output.folder));
        page.field("socket", printable(&output.socket));
        page.field(
            "settings",
            match output.settings_file.as_str() {
                "" => "no file: defaults, variables and flags".to_owned(),
                file => printable(file),
            },
        );
        page.field("log", log_place(&output.log));
    }
    let open = output.brains.len() as u64;
    let mut brains = format!("{}, {} open", count(output.brain_count), count(open));
    if output.failed_brains > 0 {
        brains.push_str(&format!(
            ", {} cannot be opened",
            count(output.failed_brains)
        ));
    }
    page.field("brains", brains);
    if output.rejected_files > 0 {
        page.field(
            "files",
            format!(
                "{} rejected, which {}",
                count(output.rejected_files),
                agree(output.rejected_files, "is not a brain", "are not brains")
            ),
        );
    }
    if output.stalls > 0 {
        page.field(
            "stalls",
            format!(
                "{}: calls were held up; the log names what blocked",
                count(output.stalls)
            ),
        );
    }
    let process = output.process.unwrap_or_default();
    page.field(
        "memory",
        format!(
            "{}, and {} of mapped files; {}, {}",
            bytes(process.memory_bytes),
            bytes(process.mapped_bytes),
            plural(process.descriptors, "descriptor"),
            plural(process.threads, "thread")
        ),
    );
    page.field("connections", count(output.connections));
    if !output.refused_calls.is_empty() {
        let refused = output.refused_calls.iter();
        let refused = refused.map(|of| format!("{} {}", printable(&of.reason), count(of.count)));
        page.field("refused", refused.collect::<Vec<_>>().join(", "));
    }
    if output.files_waiting > 0 {
        page.field("arriving", plural(output.files_waiting, "file"));
    }
    for problem in &output.problems {
        let (what, line) = problem_line(problem);
        page.field(what, line);
    }
    match vitals.problems_unlisted() {
        0 => {}
        more => page.aside(format!(
            "{} more: `amemctl brain ls --rejected`",
            count(more)
        )),
    }
    write_table(&BRAINS, &output.brains, usize::MAX, page);
    let shown = if all { usize::MAX } else { CALLS };
    let style = page.style();
    let latencies: Vec<_> = vitals
        .latencies
        .iter()
        .map(|of| (of.clone(), style))
        .collect();
    if write_table(&LATENCIES, &latencies, shown, page) {
        let more = vitals.latencies.len().saturating_sub(shown);
        if more > 0 {
            page.aside(format!("{more} more: --all shows them"));
        }
    }
    let shown = if all { usize::MAX } else { JOBS };
    write_table(&JOB_COLUMNS, &vitals.jobs, shown, page);
}

/// A table below an empty line, of the first items; false if there are none.
fn write_table<T>(columns: &[Column<T>], items: &[T], most: usize, page: &mut TextPage) -> bool {
    if items.is_empty() {
        return false;
    }
    page.line("");
    page.rows(columns, items.iter().take(most));
    true
}

const BRAINS: [Column<v1::BrainStatus>; 11] = [
    ("brain", Align::Left, |brain| brain.brain.clone()),
    ("events", Align::Right, |brain| count(brain.events)),
    ("edges", Align::Right, |brain| count(brain.edges)),
    ("LSN", Align::Right, |brain| {
        count(brain.moment.as_ref().map_or(0, |moment| moment.lsn))
    }),
    ("base", Align::Right, |brain| bytes(brain.base_bytes)),
    ("journal", Align::Right, |brain| bytes(brain.journal_bytes)),
    ("waiting", Align::Right, |brain| count(brain.queued.into())),
    ("wait p99", Align::Right, |brain| {
        micros(span_micros(brain.wait_p99))
    }),
    ("sync p99", Align::Right, |brain| {
        micros(span_micros(brain.sync_p99))
    }),
    ("watched by", Align::Right, |brain| {
        count(brain.subscribers.into())
    }),
    ("", Align::Left, brain_state),
];

fn brain_state(brain: &v1::BrainStatus) -> String {
    let mut states = Vec::new();
    if !brain.poisoned.is_empty() {
        states.push(brain.poisoned.clone());
    } else if brain.checkpointing {
        states.push("checkpoint under way".to_owned());
    }
    if brain.oldest_pending_facts.is_some() {
        let (count, since) = (
            count(brain.pending_facts),
            when::short_of(brain.oldest_pending_facts),
        );
        states.push(format!("{count} pending facts, since {since}"));
    }
    if brain.review_facts > 0 {
        states.push(format!("{} to review", count(brain.review_facts)));
    }
    states.join("; ")
}

const LATENCIES: [Column<(v1::RpcLatency, Style)>; 7] = [
    ("call", Align::Left, |(of, _)| rpc_name(&of.rpc)),
    ("calls", Align::Right, |(of, _)| count(of.count)),
    ("refused", Align::Right, |(of, _)| count(of.errors)),
    ("p50", Align::Right, |(of, _)| micros(span_micros(of.p50))),
    ("p99", Align::Right, |(of, _)| micros(span_micros(of.p99))),
    ("slowest", Align::Right, |(of, _)| {
        micros(span_micros(of.max))
    }),
    ("", Align::Left, |(of, style)| {
        let bars = [of.p50, of.p90, of.p99, of.p999, of.max];
        spark(&bars.map(span_micros), *style)
    }),
];

const JOB_COLUMNS: [Column<v1::Job>; 5] = [
    ("job", Align::Right, |job| job.id.to_string()),
    ("what", Align::Left, |job| job_name(job.kind())),
    ("brain", Align::Left, |job| job.brain.clone()),
    ("begun", Align::Left, |job| {
        when::short_or_dash(job.start_time)
    }),
    ("state", Align::Left, |job| match job.message.as_str() {
        "" => job_state(job),
        message => format!("{}: {message}", job_state(job)),
    }),
];
