//! `amemctl status`: whether amemd runs, and its state.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::connection::remote::Remote;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{
    Align, TextPage, TextTable, agree, bytes, count, micros, plural, printable, span, spark,
};
use crate::vitals::{BrainStatusJson, JobJson, LatencyJson, Vitals};
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
  amemctl status --json | jq .data.brains

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

#[derive(Serialize)]
struct AliveOutput {
    alive: bool,
}

impl StatusArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let remote = cx.reach().running()?;
        if self.alive {
            return alive(&remote, cx);
        }
        let output = Vitals::of(&remote)?;
        cx.answer(None, &output, |page| write(&output, self.all, page))?;
        Ok(match output.failed_brains {
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
    cx.answer(None, &AliveOutput { alive: true }, |page| {
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

fn write(output: &Vitals, all: bool, page: &mut TextPage) {
    page.title(format!("amemd {}", output.version));
    let up = span(output.uptime_secs);
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
    let process = &output.process;
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
        let (what, line) = problem.line();
        page.field(what, line);
    }
    match output.problems_unlisted() {
        0 => {}
        more => page.aside(format!(
            "{} more: `amemctl brain ls --rejected`",
            count(more)
        )),
    }
    write_brains(&output.brains, page);
    let shown = if all { usize::MAX } else { CALLS };
    write_latencies(&output.latencies, shown, page);
    write_jobs(&output.jobs, if all { usize::MAX } else { JOBS }, page);
}

fn write_brains(brains: &[BrainStatusJson], page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("brain", Align::Left),
        ("events", Align::Right),
        ("edges", Align::Right),
        ("LSN", Align::Right),
        ("base", Align::Right),
        ("journal", Align::Right),
        ("waiting", Align::Right),
        ("wait p99", Align::Right),
        ("sync p99", Align::Right),
        ("watched by", Align::Right),
        ("", Align::Left),
    ]);
    for brain in brains {
        let mut state = match (&brain.poisoned, brain.checkpointing) {
            (Some(why), _) => printable(why),
            (None, true) => "checkpoint under way".to_owned(),
            (None, false) => String::new(),
        };
        if let Some(oldest) = brain.oldest_pending_facts {
            let gap = if state.is_empty() { "" } else { "; " };
            let (count, since) = (count(brain.pending_facts), when::short(oldest.0));
            state.push_str(&format!("{gap}{count} pending facts, since {since}"));
        }
        if brain.review_facts > 0 {
            let gap = if state.is_empty() { "" } else { "; " };
            let waiting = count(brain.review_facts);
            state.push_str(&format!("{gap}{waiting} to review"));
        }
        table.row(vec![
            brain.brain.clone(),
            count(brain.events),
            count(brain.edges),
            count(brain.lsn),
            bytes(brain.base_bytes),
            bytes(brain.journal_bytes),
            count(brain.queued.into()),
            micros(brain.wait_p99),
            micros(brain.sync_p99),
            count(brain.subscribers.into()),
            state,
        ]);
    }
    if !table.is_empty() {
        page.line("");
        table.write(page);
    }
}

fn write_latencies(latencies: &[LatencyJson], most: usize, page: &mut TextPage) {
    let mut table = TextTable::new(&[
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
            micros(of.p50),
            micros(of.p99),
            micros(of.max),
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

fn write_jobs(jobs: &[JobJson], most: usize, page: &mut TextPage) {
    let mut table = TextTable::new(&[
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
