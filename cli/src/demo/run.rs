//! The demo itself: step by step, each told in one line and checked.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use amem_client::{Reader, v1};
use amem_core::query::why::Why;
use amem_core::view::View;
use amem_core::{EventType, NodeId};

use super::cleanup::Cleanup;
use super::daemon::Daemon;
use super::follow::{Follower, Seen, now};
use super::load::{Load, held};
use super::remember::{Remembered, remember};
use super::sample::SESSIONS;
use super::stage::{DemoError, Result, Stage};
use crate::remote::Remote;

const BRAIN: &str = "marina";
const QUESTION: &str = "When does the nightly backup start?";
const CORRECTION: &str = "The nightly backup of the bookings starts at 04:15 UTC, because the tide import takes an hour since May.";
const REASON: &str = "the backup of 4 May began while tides were still being imported";
/// Copies that are made while writes go on.
const COPIES: u64 = 3;
/// Writes that are acknowledged between two of them.
const WRITES: u64 = 40;

/// Runs the demo, and tells it on `out`.
pub(crate) fn run(out: &mut dyn Write) -> Result<()> {
    let mut stage = Stage::new(out);
    let cleanup = Cleanup::new()?;
    let done = Demo::start(&mut stage, &cleanup)?.play(&mut stage, &cleanup);
    let folder = cleanup.folder().to_path_buf();
    drop(cleanup);
    done?;
    stage.step("tidy up", "The private folder is removed.")?;
    stage.check(
        format_args!("{} is gone", folder.display()),
        !folder.exists(),
    )?;
    stage.end()
}

/// A daemon with the sample in a brain.
struct Demo {
    daemon: Daemon,
    remote: Remote,
    file: PathBuf,
    sample: Remembered,
}

impl Demo {
    fn start(stage: &mut Stage<'_>, cleanup: &Cleanup) -> Result<Self> {
        stage.step(
            "start",
            "A daemon of our own, on a private folder and socket.",
        )?;
        let (daemon, remote) = Daemon::start(cleanup)?;
        let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
        stage.show(format_args!(
            "amemd {} is process {}, in {}",
            status.version,
            daemon.pid(),
            cleanup.folder().display()
        ))?;
        stage.check(
            "the daemon that answers is ours",
            status.pid == daemon.pid(),
        )?;
        let create = v1::CreateBrainRequest {
            brain: BRAIN.into(),
            ..Default::default()
        };
        remote.call(remote.client.brains().create_brain(create))?;
        let open = v1::OpenBrainRequest {
            brain: BRAIN.into(),
        };
        let opened = remote.call(remote.client.brains().open_brain(open))?;
        stage.check("we may read the brain's file directly", opened.direct_read)?;

        stage.step(
            "remember",
            "Two agents remember two sessions of a project; each answer means: on the disk.",
        )?;
        let sample = remember(&remote, BRAIN)?;
        Ok(Self {
            daemon,
            remote,
            file: opened.path.into(),
            sample,
        })
    }

    fn play(mut self, stage: &mut Stage<'_>, cleanup: &Cleanup) -> Result<()> {
        self.remembered(stage)?;
        self.search(stage, "backup-330")?;
        self.why(stage)?;
        let mut follower = self.other_process(stage, cleanup)?;
        let (old, before) = (self.id("backup-330")?, self.view()?.lsn().0);
        let new = self.correct(stage, &mut follower, old)?;
        self.as_of(stage, before, old, new)?;
        let load = self.copy(stage, cleanup, &mut follower)?;
        drop(follower);
        self = self.kill(stage, cleanup, load)?;
        self.stop(stage, new)
    }

    fn remembered(&self, stage: &mut Stage<'_>) -> Result<()> {
        let view = self.view()?;
        let of_each = EventType::ALL.map(|kind| match view.of_type(kind) {
            Ok(ids) => format!("{} {kind}", ids.len()),
            Err(error) => error.to_string(),
        });
        stage.show(of_each.join(", "))?;
        let events: usize = SESSIONS.iter().map(|s| s.memories.len()).sum();
        stage.check(
            format_args!(
                "the file has the {events} events and {} edges",
                self.sample.edges
            ),
            view.nodes() == events as u64 && view.edges() == self.sample.edges,
        )?;
        stage.check(
            format_args!(
                "it is at commit {}, the last that was answered",
                self.sample.lsn
            ),
            view.lsn().0 == self.sample.lsn,
        )
    }

    fn search(&self, stage: &mut Stage<'_>, expected: &str) -> Result<()> {
        stage.step(
            "search",
            format_args!("{QUESTION:?}: words, meaning and ties together."),
        )?;
        let hits = self.ask()?;
        for hit in &hits {
            let event = hit.event.clone().unwrap_or_default();
            stage.show(format_args!(
                "{:.2} = {:.2} words + {:.2} meaning + {:.2} ties  {}",
                hit.score,
                hit.text_score,
                hit.vector_score,
                hit.neighbour_score,
                told(&event)
            ))?;
        }
        let sums = hits.iter().all(|hit| {
            (hit.text_score + hit.vector_score + hit.neighbour_score - hit.score).abs() < 1e-5
        });
        stage.check("the parts of each score sum to it", sums)?;
        let wanted = self.id(expected)?;
        stage.check(
            "what is believed now is among the first three",
            has(&hits, wanted),
        )
    }

    fn ask(&self) -> Result<Vec<v1::SearchHit>> {
        let request = v1::SearchRequest {
            brain: BRAIN.into(),
            text: QUESTION.into(),
            limit: 3,
            ..Default::default()
        };
        Ok(self
            .remote
            .call(self.remote.client.queries().search(request))?
            .hits)
    }

    fn why(&self, stage: &mut Stage<'_>) -> Result<()> {
        stage.step(
            "why",
            "What does a decision rest on? Read from the file, by this process.",
        )?;
        let (view, decision) = (self.view()?, self.id("sqlite")?);
        let why = Why {
            event: NodeId(decision),
            ..Why::default()
        };
        let tree = why.run(&view)?;
        // Depth first, so that each event stands below what it explains.
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            let step = &tree.steps[at];
            let via = step
                .via
                .map_or(String::new(), |via| format!("{} ", via.edge_type));
            let node = view.node(step.id)?;
            stage.show(format_args!(
                "{}{via}{}: {}",
                "   ".repeat(step.depth as usize),
                node.event_type(),
                node.text()?
            ))?;
            let children = (0..tree.steps.len()).rev();
            open.extend(children.filter(|&c| tree.steps[c].via.is_some_and(|v| v.parent == at)));
        }
        let mut evidence = Vec::new();
        for key in ["light-load", "peak", "server", "sheet"] {
            evidence.push(NodeId(self.id(key)?));
        }
        let all = evidence
            .iter()
            .all(|id| tree.steps.iter().any(|step| step.id == *id));
        stage.check("its cause and all three levels of evidence are there", all)
    }

    fn other_process(&self, stage: &mut Stage<'_>, cleanup: &Cleanup) -> Result<Follower> {
        stage.step(
            "follow",
            "Another process maps the file; it asks nobody, and misses nothing.",
        )?;
        let mut follower = Follower::start(cleanup, &self.file)?;
        let (lsn, events, live) = follower.wait("its first view", |seen| match seen {
            Seen::View {
                lsn, events, live, ..
            } => Some((lsn, events, live)),
            _ => None,
        })?;
        let (nanos, _) = follower.time()?;
        stage.show(format_args!(
            "process {} sees commit {lsn}, {events} events, and reads one of them, whole, in {nanos:.0} ns",
            follower.pid()
        ))?;
        stage.check("it follows a file that is being written", live)?;
        stage.check("it sees the last commit", lsn == self.sample.lsn)?;
        Ok(follower)
    }

    fn correct(&self, stage: &mut Stage<'_>, follower: &mut Follower, old: u64) -> Result<u64> {
        stage.step(
            "correct",
            "An agent learns better. The old belief stays, as history.",
        )?;
        let first = self.id("backup-2")?;
        let before = self.resolve(first, None)?;
        stage.show(format_args!(
            "before: {}",
            told(&before.head.unwrap_or_default())
        ))?;
        let request = v1::CorrectRequest {
            brain: BRAIN.into(),
            options: Some(v1::WriteOptions {
                agent: "keeper".into(),
                ..Default::default()
            }),
            target_id: first,
            to_head: true,
            event: Some(v1::NewEvent {
                text: CORRECTION.into(),
                confidence: Some(0.95),
                ..Default::default()
            }),
            target_confidence: None,
            reason: REASON.into(),
        };
        let answer = self
            .remote
            .call(self.remote.client.memory().correct(request))?;
        let answered = now();
        let lsn = answer.commit.unwrap_or_default().lsn;
        let looked = follower.look_after(lsn)?;
        let after = self.resolve(first, None)?;
        let head = after.head.clone().unwrap_or_default();
        stage.show(format_args!("after:  {}", told(&head)))?;
        stage.show("the chain, the oldest first:")?;
        for event in &after.chain {
            stage.show(format_args!("  {:.2} {}", event.confidence, told(event)))?;
        }
        stage.check(
            "the belief was replaced at the head of its chain",
            answer.target_id == old,
        )?;
        stage.check("the chain has three links, and ends at the correction", {
            after.chain.len() == 3 && head.id == answer.event_id && !after.contested
        })?;
        let confident = |id| after.chain.iter().any(|e| e.id == id && e.confidence > 0.9);
        stage.check("only the correction is believed", {
            confident(answer.event_id) && after.chain[..2].iter().all(|e| e.confidence == 0.0)
        })?;
        stage.check("search finds it", has(&self.ask()?, answer.event_id))?;
        stage.show(format_args!("the other process: {:?}", looked.newest))?;
        stage.check(
            format_args!("it saw the correction {}", delay(looked.at, answered)),
            looked.newest == CORRECTION,
        )?;
        stage.check("a view begun after the answer has it", looked.asked >= lsn)?;
        Ok(answer.event_id)
    }

    fn as_of(&self, stage: &mut Stage<'_>, before: u64, old: u64, new: u64) -> Result<()> {
        stage.step(
            "as of",
            "What was believed before that? Every earlier moment can be asked.",
        )?;
        let first = self.id("backup-2")?;
        let then = self.resolve(first, Some(before))?.head.unwrap_or_default();
        let now = self.resolve(first, None)?.head.unwrap_or_default();
        stage.show(format_args!(
            "at commit {before}: {:.2} {}",
            then.confidence,
            told(&then)
        ))?;
        stage.show(format_args!(
            "now:          {:.2} {}",
            now.confidence,
            told(&now)
        ))?;
        stage.check("then the old belief held, with its confidence", {
            then.id == old && then.confidence > 0.8
        })?;
        stage.check("now the new one holds", now.id == new)
    }

    fn copy(
        &self,
        stage: &mut Stage<'_>,
        cleanup: &Cleanup,
        follower: &mut Follower,
    ) -> Result<Load> {
        stage.step(
            "copy",
            "The file is copied with cp while writes go on; each copy is a whole brain.",
        )?;
        let load = Load::start(self.daemon.socket(), BRAIN)?;
        for n in 1..=COPIES {
            load.until(n * WRITES)?;
            let copy = cleanup.folder().join(format!("copy-{n}.amem"));
            let before = load.acknowledged();
            cp(&self.file, &copy)?;
            let meanwhile = load.acknowledged() - before;
            let (held, view) = held(&copy)?;
            stage.check(
                format_args!("copy {n} holds {held} of {before} acknowledged before it ({meanwhile} came while it was made)"),
                held >= before,
            )?;
            let head =
                view.nodes() > self.sample.ids.len() as u64 && view.edges() >= self.sample.edges;
            stage.check("and all that was remembered before", head)?;
        }
        let (nanos, commits) = follower.time()?;
        stage.show(format_args!(
            "the other process reads in {nanos:.0} ns while {commits} commits are made"
        ))?;
        stage.check("it keeps up with the writes", {
            let acknowledged = load.acknowledged();
            let seen = follower.look()?;
            seen >= self.sample.lsn + acknowledged
        })?;
        Ok(load)
    }

    fn kill(self, stage: &mut Stage<'_>, cleanup: &Cleanup, load: Load) -> Result<Self> {
        stage.step(
            "kill -9",
            "The daemon is killed in the middle of a write, and started again.",
        )?;
        self.daemon.kill()?;
        let (acknowledged, error) = load.broken();
        stage.check(
            "the writer was told that its last write is not certain",
            error.is_some(),
        )?;
        let (daemon, remote) = Daemon::start(cleanup)?;
        let open = v1::OpenBrainRequest {
            brain: BRAIN.into(),
        };
        remote.call(remote.client.brains().open_brain(open))?;
        let (held, _) = held(&self.file)?;
        stage.check(
            format_args!("{held} writes are there, {acknowledged} were acknowledged: none is lost"),
            held == acknowledged || held == acknowledged + 1,
        )?;
        Ok(Self {
            daemon,
            remote,
            ..self
        })
    }

    fn stop(self, stage: &mut Stage<'_>, new: u64) -> Result<()> {
        stage.step(
            "stop",
            "The daemon ends when asked; the file needs no one to be read.",
        )?;
        let head = self
            .resolve(self.id("backup-2")?, None)?
            .head
            .unwrap_or_default();
        stage.check("after the crash the correction still holds", head.id == new)?;
        let status = self.daemon.stop()?;
        stage.check(format_args!("it ended well ({status})"), status.success())?;
        let view = Reader::open_copy(&self.file)?;
        let text = view.node(NodeId(new))?.text()?.into_owned();
        stage.check("the correction is read without it", text == CORRECTION)
    }

    fn resolve(&self, event_id: u64, as_of: Option<u64>) -> Result<v1::ResolveResponse> {
        let request = v1::ResolveRequest {
            brain: BRAIN.into(),
            event_id,
            as_of: as_of.map(|lsn| v1::AsOf {
                moment: Some(v1::as_of::Moment::Lsn(lsn)),
            }),
            ..Default::default()
        };
        Ok(self
            .remote
            .call(self.remote.client.queries().resolve(request))?)
    }

    fn view(&self) -> Result<View> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    fn id(&self, key: &str) -> Result<u64> {
        let id = self.sample.ids.get(key).copied();
        id.ok_or_else(|| DemoError::Wrong(format!("the sample has an event {key:?}")))
    }
}

fn has(hits: &[v1::SearchHit], id: u64) -> bool {
    let ids = hits.iter().filter_map(|hit| hit.event.as_ref());
    ids.into_iter().any(|event| event.id == id)
}

/// An event in one line.
fn told(event: &v1::Event) -> String {
    let kind = EventType((event.r#type - 1).clamp(0, 255) as u8);
    format!("[{}] {kind}: {}", event.id, event.text)
}

/// When something was seen, told from when its answer came.
fn delay(seen: u64, answered: u64) -> String {
    if seen <= answered {
        format!("{} µs before the answer came here", answered - seen)
    } else {
        format!("{} µs after the answer came here", seen - answered)
    }
}

fn cp(from: &Path, to: &Path) -> Result<()> {
    let mut command = Command::new("cp");
    let status = command.arg(from).arg(to).status();
    let status = status.map_err(DemoError::io("run cp"))?;
    let whole = fs::metadata(to).is_ok();
    if status.success() && whole {
        return Ok(());
    }
    Err(DemoError::Wrong(format!("cp copies the file ({status})")))
}
