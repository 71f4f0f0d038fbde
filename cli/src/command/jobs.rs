//! `amemctl jobs`: scheduled jobs, their times and results.

use amem_client::v1;
use clap::{Args, ValueEnum};

use crate::connection::remote::whole_list;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{Align, Column, plural};
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
    cx.changed(None, &answer, |page| page.line(&answer.message))?;
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
    let answer = whole_list(
        |page_token| {
            let request = v1::ListSchedulesRequest {
                brain: brain.to_owned(),
                page_size: PAGE,
                page_token,
            };
            remote.call(remote.client.admin().list_schedules(request))
        },
        |answer| (&mut answer.jobs, &mut answer.next_page_token),
    )?;
    cx.message(None, &answer, |page| {
        page.rows(&COLUMNS, &answer.jobs);
        page.aside(match answer.jobs.len() {
            0 => "no brain is open: `amemctl jobs BRAIN` opens one".to_owned(),
            n => plural(n as u64, "job"),
        });
    })?;
    let failed = answer.jobs.iter().any(|job| job.failed);
    Ok(if failed { Exit::Findings } else { Exit::Ok })
}

const COLUMNS: [Column<v1::ScheduledJob>; 6] = [
    ("brain", Align::Left, |job| job.brain.clone()),
    ("job", Align::Left, |job| job_name(job.kind())),
    ("when", Align::Left, |job| job.schedule.clone()),
    ("last", Align::Left, |job| {
        when::short_or_dash(job.last_time)
    }),
    ("next", Align::Left, |job| match job.running {
        true => "runs now".to_owned(),
        false => when::short_or_dash(job.next_time),
    }),
    ("what it did", Align::Left, |job| match job.failed {
        true => format!("failed: {}", job.message),
        false => job.message.clone(),
    }),
];
