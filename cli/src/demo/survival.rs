//! What a memory survives: being copied while it is written, the daemon's death, the daemon's absence.

use std::path::Path;
use std::process::Command;

use amem_client::{Reader, v1};
use amem_core::NodeId;

use super::beliefs::CORRECTION;
use super::cleanup::Cleanup;
use super::daemon::Daemon;
use super::follow::Follower;
use super::load::{Load, held};
use super::run::{BRAIN, Demo};
use super::stage::{DemoError, Result, Stage};

/// Copies that are made while writes go on.
const COPIES: u64 = 3;
/// Writes that are acknowledged between two of them.
const WRITES: u64 = 40;

impl Demo {
    pub(super) fn copy(
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
            let rest = view.nodes() - held == self.sample.ids.len() as u64 + 1
                && view.edges() == self.sample.edges + 1;
            stage.check(
                format_args!("copy {n} has all else and {held} writes; {before} were acknowledged before it, {meanwhile} while it was made"),
                held >= before && rest,
            )?;
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

    pub(super) fn kill(self, stage: &mut Stage<'_>, cleanup: &Cleanup, load: Load) -> Result<Self> {
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

    pub(super) fn stop(self, stage: &mut Stage<'_>, new: u64) -> Result<()> {
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
}

fn cp(from: &Path, to: &Path) -> Result<()> {
    let mut command = Command::new("cp");
    let status = command.arg(from).arg(to).status();
    let status = status.map_err(DemoError::io("run cp"))?;
    if status.success() {
        return Ok(());
    }
    Err(DemoError::Wrong(format!("cp copies the file ({status})")))
}
