//! The demo itself: step by step, each told in one line and checked.

use std::io::Write;
use std::path::PathBuf;

use amem_client::{Reader, v1};
use amem_core::EventType;
use amem_core::view::View;

use super::cleanup::Cleanup;
use super::daemon::Daemon;
use super::follow::{Follower, Seen};
use super::remember::{Remembered, remember};
use super::sample::SESSIONS;
use super::stage::{DemoError, Result, Stage, Story};
use crate::remote::Remote;
use crate::render::plural;

/// The brain's name.
pub(super) const BRAIN: &str = "marina";

/// Runs the demo, and tells it on `out`.
pub(crate) fn run(out: &mut dyn Write) -> Result<Story> {
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
            Ok(ids) => plural(ids.len() as u64, &kind.to_string()),
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

    pub(super) fn view(&self) -> Result<View> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    pub(super) fn id(&self, key: &str) -> Result<u64> {
        let id = self.sample.ids.get(key).copied();
        id.ok_or_else(|| DemoError::Wrong(format!("the sample has an event {key:?}")))
    }
}
