//! `amemctl watch`: the commits of a brain, as they are made.

use amem_client::{Timestamp, v1};
use clap::Args;

use super::watch_lines::{kind_of, words};
use crate::args::selection::{ScopeArgs, TypeArgs};
use crate::authors;
use crate::brain::opened::{BrainHandle, DaemonBrain};
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::{TextPage, clipped, printable};
use crate::vitals::job_name;
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl watch work
  amemctl watch work --after 0 --count 10       the first ten commits that amemd still has
  amemctl watch work --type decision --session standup
  amemctl watch work --scope-user ada           changes of events of one user
  amemctl watch work --jobs                     with results of decay, expire, checkpoint
  amemctl watch work --json | jq .changes       one object a line, without the envelope

Runs until Ctrl-C, across checkpoints and restarts of amemd, and misses no commit. With filters it also shows
changes of the whole brain, such as settings.")]
pub(crate) struct WatchArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// Begin with the commits after this LSN, instead of now.
    #[arg(long, value_name = "LSN")]
    after: Option<u64>,
    /// End after this many commits.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Show forgotten events in full.
    #[arg(long, visible_alias = "forgotten")]
    include_forgotten: bool,
    /// Also show results of scheduled jobs when they end.
    #[arg(long)]
    jobs: bool,
    #[command(flatten)]
    kinds: TypeArgs,
    #[command(flatten)]
    scoped: ScopeArgs,
}

impl WatchArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let BrainTarget::Name(name) = &self.brain else {
            return Err(Failure::refused(
                "file",
                format!(
                    "{} is a file; only brains of amemd can be watched",
                    self.brain
                ),
                "name a brain of amemd; `amemctl dump-journal FILE` shows a file's commits",
            ));
        };
        let opened = BrainHandle::Served(DaemonBrain::open_for_good(cx.daemon()?, name)?);
        let session_ids = self.kinds.session_ids(cx, &opened)?;
        let served = opened.served()?;
        let named = served.named();
        // From the LSN at which the brain was opened, so that no commit in between is missed.
        let mut commits = served.brain.follow_with(v1::SubscribeRequest {
            after_lsn: Some(self.after.unwrap_or(named.lsn)),
            instance: named.instance.map(|id| id.to_string()).unwrap_or_default(),
            include_forgotten: self.include_forgotten,
            include_jobs: self.jobs,
            types: self.kinds.types(),
            session_ids,
            scope: self.scoped.scope(),
            ..Default::default()
        });
        let mut seen = 0;
        if self.after.is_none() {
            cx.note(&format!(
                "watching {name} from commit {}; Ctrl-C stops it",
                named.lsn
            ));
        }
        while self.count.is_none_or(|count| seen < count) {
            let commit = cx.daemon()?.wait_silently(commits.next())?;
            show(cx, &commit)?;
            seen += u64::from(commit.job.is_none());
        }
        Ok(Exit::Ok)
    }
}

fn show(cx: &mut CommandContext, commit: &v1::SubscribeResponse) -> Result<(), Failure> {
    if cx.is_json() {
        cx.message_line(commit)?;
    } else {
        let mut page = cx.page();
        match &commit.job {
            Some(job) => write_job(job, &mut page),
            None => write(commit, &mut page)?,
        }
        cx.text(&page)?;
    }
    // Show each commit at once, not when the buffer is full.
    cx.finish()
}

fn clock(time: Option<Timestamp>) -> String {
    time.map_or_else(String::new, |time| when::time_of_day(when::micros_of(time)))
}

fn write_job(job: &v1::Job, page: &mut TextPage) {
    let is_failed = job.state() == v1::JobState::Failed;
    let failed = if is_failed { "failed: " } else { "" };
    let (clock, name) = (clock(job.end_time), job_name(job.kind()));
    page.title(format!("{:>6}  {clock}  {name}", "job"));
    let text = format!("{:>8}{failed}{}", "", printable(&job.message));
    page.drawn(&clipped(&text, page.style().columns()));
}

fn write(commit: &v1::SubscribeResponse, page: &mut TextPage) -> Result<(), Failure> {
    let moment = commit.moment.clone().unwrap_or_default();
    let (clock, kind) = (clock(moment.time), kind_of(commit.kind()));
    let who = authors::author(&commit.principal, &commit.agent, true);
    let head = format!("{:>6}  {clock}  {kind:<12}  {who}", moment.lsn);
    page.title(head.trim_end());
    for change in commit.changes.iter().filter_map(|c| c.change.as_ref()) {
        let text = format!("{:>8}{}", "", words(change)?);
        page.drawn(&clipped(&text, page.style().columns()));
    }
    Ok(())
}
