//! The demo itself: step by step, each told in one line and checked.

use std::io::Write;
use std::path::PathBuf;

use amem_client::{Reader, v1};
use amem_format::view::{Direction, View};
use amem_format::{EdgeType, EventType, NodeId};

use super::cleanup::Cleanup;
use super::daemon::Daemon;
use super::remember::{Remembered, remember};
use super::sample::SESSIONS;
use super::stage::{DemoError, Result, Stage, Story};
use crate::remote::Remote;
use crate::render::Style;

/// The brain's name.
pub(super) const BRAIN: &str = "marina";

/// What somebody has to know who sees this for the first time.
const INTRODUCTION: &str = "\
amemd keeps what AI agents observe, decide and correct. A memory, called a brain, is one file of events \
(what was learned) and edges (how events hang together). Every change that amemd has answered is a commit: it has \
a number, and it is on the disk. This demo starts an amemd of its own, shows what it promises on a small invented \
memory of a marina, checks that it is so (✓), and leaves nothing behind.";

/// Runs the demo, and tells it on `out`.
pub(crate) fn run(out: &mut dyn Write, style: Style) -> Result<Story> {
    let mut stage = Stage::new(out, style);
    match play(&mut stage) {
        Ok(()) => stage.end(),
        Err(error) => Err(stage.placed(error)),
    }
}

fn play(stage: &mut Stage<'_>) -> Result<()> {
    stage.introduce(INTRODUCTION)?;
    let cleanup = Cleanup::new()?;
    Demo::start(stage, &cleanup)?.play(stage, &cleanup)?;
    let left = cleanup.clean();
    stage.check(
        format_args!(
            "{} is gone, and so is every process of the demo",
            left.folder.display()
        ),
        !left.folder.exists() && left.processes.is_empty(),
    )
}

/// A daemon with the sample in a brain.
pub(super) struct Demo {
    /// The daemon.
    pub(super) daemon: Daemon,
    /// A connection to it.
    pub(super) remote: Remote,
    /// The brain's file.
    pub(super) file: PathBuf,
    /// What was remembered.
    pub(super) sample: Remembered,
}

impl Demo {
    fn start(stage: &mut Stage<'_>, cleanup: &Cleanup) -> Result<Self> {
        stage.step(
            "start",
            "A daemon of our own, on a private folder and socket; no brain of yours is touched.",
        )?;
        let (daemon, remote) = Daemon::start(cleanup)?;
        let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
        stage.show(format_args!(
            "amemd {} is process {}, in {}",
            status.version,
            daemon.pid(),
            cleanup.folder().display()
        ))?;
        stage.check("the daemon that answers is ours", {
            status.pid == daemon.pid()
        })?;
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
            "Two agents remember two sessions of a project. An answer means: it is on the disk.",
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
        self.search(stage, "backup-345")?;
        self.why(stage)?;
        let done = self.correct(stage)?;
        self.as_of(stage, &done)?;
        let mut follower = self.read(stage, cleanup, &done)?;
        self.follow(stage, &mut follower)?;
        self.compress(stage)?;
        self.decay(stage)?;
        let load = self.copy(stage, cleanup, &mut follower, &done)?;
        drop(follower);
        self = self.kill(stage, cleanup, load)?;
        self.erase(stage, cleanup)?;
        self.stop(stage, &done)
    }

    fn remembered(&self, stage: &mut Stage<'_>) -> Result<()> {
        let view = self.view()?;
        let (events, edges) = kinds(&view)?;
        stage.show(format_args!("events: {}", listed(&events)))?;
        stage.show(format_args!("edges: {}", listed(&edges)))?;
        let remembered: usize = SESSIONS.iter().map(|s| s.memories.len()).sum();
        stage.check(
            format_args!(
                "the file has the {remembered} events and {} edges",
                self.sample.edges
            ),
            view.nodes() == remembered as u64 && view.edges() == self.sample.edges,
        )?;
        stage.check(
            "all six kinds of events are among them, and all seven kinds of edges",
            events.iter().chain(&edges).all(|(_, count)| *count > 0),
        )?;
        stage.check(
            format_args!(
                "it is at commit {}, the last that was answered",
                self.sample.lsn
            ),
            view.lsn().0 == self.sample.lsn,
        )
    }

    pub(super) fn view(&self) -> Result<View> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    pub(super) fn id(&self, key: &str) -> Result<u64> {
        let id = self.sample.ids.get(key).copied();
        id.ok_or_else(|| DemoError::Wrong(format!("the sample has an event {key:?}")))
    }
}

/// How many there are of each kind.
type Counts = Vec<(String, u64)>;

/// The events and the edges of a view, by kind.
fn kinds(view: &View) -> Result<(Counts, Counts)> {
    let mut events = Vec::new();
    for kind in EventType::ALL {
        events.push((kind.to_string(), view.of_type(kind)?.len() as u64));
    }
    let mut edges: Counts = EdgeType::ALL.map(|kind| (kind.to_string(), 0)).into();
    for id in 0..view.nodes() {
        for tie in view.ties(NodeId(id), Direction::Outgoing)?.iter() {
            if let Some((_, count)) = edges.get_mut(usize::from(tie.edge_type.0)) {
                *count += 1;
            }
        }
    }
    Ok((events, edges))
}

fn listed(counts: &Counts) -> String {
    let each = counts.iter().map(|(name, count)| format!("{name} {count}"));
    each.collect::<Vec<_>>().join(", ")
}
