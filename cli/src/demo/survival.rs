//! What a memory survives: being copied while it is written, the daemon's death, the daemon's absence.

use std::env;
use std::path::Path;
use std::process::Command;

use amem_client::{Reader, v1};
use amem_core::view::View;
use amem_core::{Lsn, NodeId};

use super::beliefs::{CORRECTION, Corrected};
use super::cleanup::Cleanup;
use super::daemon::Daemon;
use super::follower::Follower;
use super::load::{Load, held};
use super::run::{BRAIN, Demo};
use super::stage::{DemoError, Result, Stage};

/// Copies that are made while writes go on.
const COPIES: u64 = 3;
/// Writes that are answered between two of them.
const WRITES: u64 = 40;

impl Demo {
    pub(super) fn copy(
        &self,
        stage: &mut Stage<'_>,
        cleanup: &Cleanup,
        follower: &mut Follower,
        done: &Corrected,
    ) -> Result<Load> {
        stage.step(
            "copy",
            "The file is copied with plain cp while another thread writes. Each copy is a whole brain.",
        )?;
        let rest = self.view()?;
        let load = Load::start(self.daemon.socket(), BRAIN)?;
        let mut last = self.file.clone();
        for n in 1..=COPIES {
            load.until(n * WRITES)?;
            last = cleanup.folder().join(format!("copy-{n}.amem"));
            let before = load.acknowledged();
            cp(&self.file, &last)?;
            let meanwhile = load.acknowledged() - before;
            let (held, view) = held(&last)?;
            stage.check(
                format_args!(
                    "copy {n} has {held} writes: {before} were answered before it, {meanwhile} during it"
                ),
                held >= before && view.nodes() == rest.nodes() + held,
            )?;
            stage.check(
                format_args!(
                    "it has every commit up to its last, {}, as the brain has it",
                    view.lsn()
                ),
                is_prefix(&view, &self.view()?)?,
            )?;
        }
        self.stranger(stage, &last, done)?;
        let seen = follower.look()?;
        let timed = follower.time()?;
        stage.check(
            format_args!(
                "meanwhile the other process reads on, {:.0} ns an event, during {} commits",
                timed.read_nanos, timed.commits
            ),
            seen > rest.lsn().0 + COPIES * WRITES && timed.commits > 0,
        )?;
        Ok(load)
    }

    /// Another program opens a copy, which no daemon serves.
    fn stranger(&self, stage: &mut Stage<'_>, copy: &Path, done: &Corrected) -> Result<()> {
        let verified = amemctl("verify", copy, &[])?;
        stage.check(
            "another process opens the last one and verifies every byte: it is whole",
            verified["data"]["whole"] == true,
        )?;
        let first = self.id("backup-2")?.to_string();
        let resolved = amemctl("resolve", copy, &[&first])?;
        let head = &resolved["data"]["head"];
        stage.check(
            "it knows there what is believed, without any daemon",
            head["id"] == done.new && head["text"] == CORRECTION,
        )
    }

    pub(super) fn kill(self, stage: &mut Stage<'_>, cleanup: &Cleanup, load: Load) -> Result<Self> {
        stage.step(
            "kill -9",
            "The daemon is killed in the middle of these writes, and started again.",
        )?;
        self.daemon.kill()?;
        let (acknowledged, error) = load.broken();
        stage.check(
            "the writer was told that its last write is not certain",
            error.is_some(),
        )?;
        let (daemon, remote) = Daemon::start(cleanup)?;
        stage.show(format_args!("amemd is process {} now", daemon.pid()))?;
        let open = v1::OpenBrainRequest {
            brain: BRAIN.into(),
        };
        remote.call(remote.client.brains().open_brain(open))?;
        let (held, _) = held(&self.file)?;
        stage.check(
            format_args!(
                "{acknowledged} writes were answered, {held} are there, without a gap: none is lost"
            ),
            held == acknowledged || held == acknowledged + 1,
        )?;
        Ok(Self {
            daemon,
            remote,
            ..self
        })
    }

    pub(super) fn stop(self, stage: &mut Stage<'_>, done: &Corrected) -> Result<()> {
        stage.step(
            "stop",
            "The daemon ends when it is asked to. The file needs nobody to be read.",
        )?;
        let head = self.resolve(self.id("backup-2")?, None)?.head;
        stage.check("after all of this the correction still holds", {
            head.unwrap_or_default().id == done.new
        })?;
        let status = self.daemon.stop()?;
        stage.check(
            format_args!("amemd ended well ({status})"),
            status.success(),
        )?;
        let view = Reader::open_copy(&self.file)?;
        let text = view.node(NodeId(done.new))?.text()?.into_owned();
        stage.check("the correction is read without it", text == CORRECTION)
    }
}

/// Are the commits of a view, from the first to its last, the first ones of another? Each with all that it did.
fn is_prefix(view: &View, of: &View) -> Result<bool> {
    let mut lsn = Lsn(0);
    while let Some(commit) = view.commit_after(lsn)? {
        let Some(other) = of.commit_after(lsn)? else {
            return Ok(false);
        };
        let ops: Vec<_> = commit.ops().collect::<amem_core::Result<_>>()?;
        let others: Vec<_> = other.ops().collect::<amem_core::Result<_>>()?;
        if commit.commit != other.commit || ops != others {
            return Ok(false);
        }
        lsn = commit.commit.lsn;
    }
    Ok(lsn == view.lsn())
}

/// What this program says of a file when it is started again.
fn amemctl(command: &str, file: &Path, arguments: &[&str]) -> Result<serde_json::Value> {
    let program = env::current_exe().map_err(DemoError::io("find this program"))?;
    let mut process = Command::new(program);
    process.args(["--json", command]).arg(file).args(arguments);
    let said = process
        .output()
        .map_err(DemoError::io("start another process"))?;
    serde_json::from_slice(&said.stdout)
        .map_err(|error| DemoError::Wrong(format!("amemctl {command} answers in JSON: {error}")))
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
