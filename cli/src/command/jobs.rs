//! `amemctl jobs`: scheduled jobs, their times and results.

use amem_client::v1;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::connection::remote::{Remote, all_pages};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{Align, TextPage, TextTable, plural, printable};
use crate::vitals::job_name;
use crate::when;

/// Jobs per request.
const PAGE: u32 = 200;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl jobs
  amemctl jobs work
  amemctl jobs work --run decay

Schedules are settings of a brain: `amemctl brain set work jobs.decay=\"daily 03:00\"`, likewise expire, close_sessions
(with session_idle), compress (with compress_after; off by default), scrub and checkpoint (off by default, because
checkpoints follow the size of the journal). Values: off, every 6h, daily 03:00, weekly sun 03:00, in UTC. A job
that became due while the machine slept, amemd did not run or the brain was closed runs once, soon after. For daily
and weekly jobs amemd opens a closed brain and closes it again; other jobs wait until a client opens the brain.")]
pub(crate) struct JobsArgs {
    /// Only jobs of this brain.
    brain: Option<String>,
    /// Run a job now, and show its result.
    #[arg(long, value_enum, value_name = "JOB", requires = "brain")]
    run: Option<JobName>,
}

/// A scheduled job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum JobName {
    /// Compute strengths as of now.
    Decay,
    /// Forget events whose attribute expires_at is past.
    #[value(name = "expire", alias = "expiry")]
    Expiry,
    /// Close idle sessions.
    #[value(name = "close_sessions", alias = "close-sessions")]
    CloseSessions,
    /// Summarise sessions that ended a while ago.
    #[value(name = "compress", alias = "compression")]
    Compression,
    /// Check every byte.
    Scrub,
    /// Make a new base from the journal.
    Checkpoint,
}

#[derive(Serialize)]
struct JobsOutput {
    jobs: Vec<JobRow>,
}

#[derive(Serialize)]
struct JobRow {
    brain: String,
    job: String,
    schedule: String,
    last: Option<Time>,
    next: Option<Time>,
    running: bool,
    runs: u64,
    failed: bool,
    message: String,
}

#[derive(Serialize)]
struct RunJobOutput {
    brain: String,
    job: String,
    message: String,
}

impl JobName {
    fn of(self) -> v1::JobKind {
        match self {
            Self::Decay => v1::JobKind::Decay,
            Self::Expiry => v1::JobKind::Expiry,
            Self::CloseSessions => v1::JobKind::CloseSessions,
            Self::Compression => v1::JobKind::Compression,
            Self::Scrub => v1::JobKind::Scrub,
            Self::Checkpoint => v1::JobKind::Checkpoint,
        }
    }
}

impl JobsArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        match (&self.brain, self.run) {
            (Some(brain), Some(kind)) => run(cx, brain, kind),
            (brain, _) => list(cx, brain.as_deref().unwrap_or_default()),
        }
    }
}

fn run(cx: &mut CommandContext, brain: &str, kind: JobName) -> Result<Exit, Failure> {
    let request = v1::RunJobRequest {
        brain: brain.to_owned(),
        kind: kind.of().into(),
    };
    let remote = cx.daemon()?;
    let answer = remote.call(remote.client.admin().run_job(request))?;
    let output = RunJobOutput {
        brain: brain.to_owned(),
        job: job_name(kind.of()),
        message: answer.message,
    };
    cx.done(None, &output, |page| page.line(printable(&output.message)))?;
    Ok(Exit::Ok)
}

fn list(cx: &mut CommandContext, brain: &str) -> Result<Exit, Failure> {
    let remote = cx.reach().running()?;
    if !brain.is_empty() {
        // The daemon lists only jobs of open brains.
        let request = v1::GetBrainRequest {
            brain: brain.to_owned(),
        };
        remote.call(remote.client.brains().get_brain(request))?;
    }
    let jobs = jobs(&remote, brain)?;
    let output = JobsOutput {
        jobs: jobs.iter().map(row).collect::<Result<_, _>>()?,
    };
    cx.answer(None, &output, |page| write(&output, page))?;
    let failed = output.jobs.iter().any(|job| job.failed);
    Ok(if failed { Exit::Findings } else { Exit::Ok })
}

fn jobs(remote: &Remote, brain: &str) -> Result<Vec<v1::ScheduledJob>, Failure> {
    Ok(all_pages(|page_token| {
        let request = v1::ListSchedulesRequest {
            brain: brain.to_owned(),
            page_size: PAGE,
            page_token,
        };
        let answer = remote.call(remote.client.admin().list_schedules(request))?;
        Ok((answer.jobs, answer.next_page_token))
    })?)
}

fn row(job: &v1::ScheduledJob) -> Result<JobRow, Failure> {
    Ok(JobRow {
        brain: job.brain.clone(),
        job: job_name(job.kind()),
        schedule: job.schedule.clone(),
        last: Time::maybe(job.last_time)?,
        next: Time::maybe(job.next_time)?,
        running: job.running,
        runs: job.runs,
        failed: job.failed,
        message: job.message.clone(),
    })
}

fn write(output: &JobsOutput, page: &mut TextPage) {
    let mut table = TextTable::new(&[
        ("brain", Align::Left),
        ("job", Align::Left),
        ("when", Align::Left),
        ("last", Align::Left),
        ("next", Align::Left),
        ("what it did", Align::Left),
    ]);
    let short = |time: Option<Time>| time.map_or("-".to_owned(), |time| when::short(time.0));
    for job in &output.jobs {
        table.row(vec![
            job.brain.clone(),
            job.job.clone(),
            job.schedule.clone(),
            short(job.last),
            if job.running {
                "runs now".to_owned()
            } else {
                short(job.next)
            },
            if job.failed {
                format!("failed: {}", printable(&job.message))
            } else {
                printable(&job.message)
            },
        ]);
    }
    table.write(page);
    page.aside(match output.jobs.len() {
        0 => "no brain is open: `amemctl jobs BRAIN` opens one".to_owned(),
        n => plural(n as u64, "job"),
    });
}
