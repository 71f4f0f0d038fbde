//! `amemctl watch`: the commits of a brain, as they are made.

use amem_client::v1;
use amem_client::v1::change::Change as Of;
use clap::Args;
use serde::Serialize;
use serde_json::{Value, json};

use super::jobs;
use super::watch_lines::{kind_of, words};
use crate::args::selection::{ScopeArgs, TypeArgs};
use crate::authors;
use crate::brain::opened::{BrainHandle, DaemonBrain};
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::Time;
use crate::output::context::CommandContext;
use crate::render::{TextPage, clipped, printable};
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl watch work
  amemctl watch work --after 0 --count 10       the first ten commits that amemd still has
  amemctl watch work --type decision --session standup
  amemctl watch work --scope-user ada           changes of events of one user
  amemctl watch work --jobs                     with results of decay, expiry, checkpoints
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

#[derive(Serialize)]
struct JobLine {
    job: String,
    started: Option<Time>,
    ended: Option<Time>,
    failed: bool,
    message: String,
}

#[derive(Serialize)]
struct CommitLine {
    lsn: u64,
    time: Option<Time>,
    kind: String,
    principal: String,
    agent: String,
    changes: Vec<Value>,
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
            let commit = cx.daemon()?.wait(commits.next())?;
            match &commit.job {
                Some(job) => show_job(cx, job)?,
                None => {
                    show(cx, &commit)?;
                    seen += 1;
                }
            }
        }
        Ok(Exit::Ok)
    }
}

fn show(cx: &mut CommandContext, commit: &v1::SubscribeResponse) -> Result<(), Failure> {
    let moment = commit.moment.clone().unwrap_or_default();
    let line = CommitLine {
        lsn: moment.lsn,
        time: Time::maybe(moment.time)?,
        kind: kind_of(commit.kind()),
        principal: commit.principal.clone(),
        agent: commit.agent.clone(),
        changes: commit
            .changes
            .iter()
            .filter_map(|change| change.change.as_ref())
            .map(json_of)
            .collect::<Result<_, _>>()?,
    };
    if cx.is_json() {
        cx.line(&line)?;
    } else {
        let mut page = cx.page();
        write(&line, commit, &mut page)?;
        cx.text(&page)?;
    }
    // Show each commit at once, not when the buffer is full.
    cx.finish()
}

fn show_job(cx: &mut CommandContext, job: &v1::Job) -> Result<(), Failure> {
    let line = JobLine {
        job: jobs::name(job.kind()),
        started: Time::maybe(job.start_time)?,
        ended: Time::maybe(job.end_time)?,
        failed: job.state() == v1::JobState::Failed,
        message: job.message.clone(),
    };
    if cx.is_json() {
        cx.line(&line)?;
    } else {
        let clock = line
            .ended
            .map(|time| when::time_of_day(time.0))
            .unwrap_or_default();
        let failed = if line.failed { "failed: " } else { "" };
        let mut page = cx.page();
        page.title(format!("{:>6}  {clock}  {}", "job", line.job));
        let text = format!("{:>8}{failed}{}", "", printable(&line.message));
        page.drawn(&clipped(&text, page.style().columns()));
        cx.text(&page)?;
    }
    cx.finish()
}

fn write(
    line: &CommitLine,
    commit: &v1::SubscribeResponse,
    page: &mut TextPage,
) -> Result<(), Failure> {
    let clock = line
        .time
        .map(|time| when::time_of_day(time.0))
        .unwrap_or_default();
    let who = authors::author(&line.principal, &line.agent, true);
    let head = format!("{:>6}  {clock}  {:<12}  {who}", line.lsn, line.kind);
    page.title(head.trim_end());
    for change in commit.changes.iter().filter_map(|c| c.change.as_ref()) {
        let text = format!("{:>8}{}", "", words(change)?);
        page.drawn(&clipped(&text, page.style().columns()));
    }
    Ok(())
}

/// The kind of change, and fields named as in other answers.
fn json_of(change: &Of) -> Result<Value, Failure> {
    use crate::json::event::{EdgeJson, EventJson, edge_type_of, whole};
    let edge = |edge| Ok::<_, Failure>(json!(EdgeJson::of(edge)?));
    Ok(match change {
        Of::Event(event) => match whole(event)? {
            Some(_) => json!({"event": EventJson::of(event)?}),
            None => json!({"event": {"id": event.id}}),
        },
        Of::Edge(of) => json!({"edge": edge(of)?}),
        // A retracted edge has no time.
        Of::RetractedEdge(of) => json!({"retracted_edge": {
            "source": of.source,
            "target": of.target,
            "type": edge_type_of(of.r#type)?,
        }}),
        Of::Belief(of) => json!({"belief": {
            "id": of.event_id,
            "confidence": crate::json::event::number(of.confidence),
            "lambda": crate::json::event::number(of.lambda),
            "pinned": of.pinned,
            "forgotten": of.forgotten,
            "compressed": of.compressed,
        }}),
        Of::Attributes(of) => json!({"attributes": {
            "id": of.event_id,
            "attributes": serde_json::from_str::<Value>(&of.attributes_json).unwrap_or(Value::Null),
        }}),
        Of::Vector(of) => json!({"vector": {"id": of.event_id}}),
        Of::Touch(of) => {
            let touched = of
                .touched
                .iter()
                .map(|t| json!({"id": t.event_id, "count": t.count}));
            json!({"touched": touched.collect::<Vec<_>>()})
        }
        Of::Decay(of) => json!({"decay": Time::of(of.time)?}),
        Of::SessionOpened(of) => json!({"session_opened": {
            "id": of.session_id, "key": of.key, "agent": of.agent,
        }}),
        Of::SessionClosed(of) => json!({"session_closed": {
            "id": of.session_id, "outcome": of.outcome,
        }}),
        Of::SettingsJson(of) => {
            json!({"settings": serde_json::from_str::<Value>(of).unwrap_or(Value::Null)})
        }
        Of::ErasedEventId(id) => json!({"erased": id}),
    })
}
