//! What a memory survives: being copied while it is written, the daemon's death, the daemon's absence.

use std::env;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use amem_client::{Reader, v1};
use amem_format::view::View;
use amem_format::{Lsn, NodeId};

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
/// How long a commit may take from being written to being shown.
const PATIENCE: Duration = Duration::from_secs(10);

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
            "The file is copied with plain cp while writes go on. Each copy is a whole brain.",
        )?;
        let rest = self.view()?;
        let load = Load::start(self.daemon.socket(), BRAIN)?;
        let mut last = self.file.clone();
        for n in 1..=COPIES {
            load.until(n * WRITES)?;
            last = cleanup.folder().join(format!("copy-{n}.amem"));
            let before = load.acknowledged();
            cp(cleanup, &self.file, &last)?;
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
                is_prefix(&view, &self.view_with(view.lsn())?)?,
            )?;
        }
        self.stranger(stage, cleanup, &last, done)?;
        self.meanwhile(stage, follower, &load, rest.lsn())?;
        Ok(load)
    }

    /// The other process reads on, and misses nothing.
    fn meanwhile(
        &self,
        stage: &mut Stage<'_>,
        follower: &mut Follower,
        load: &Load,
        before: Lsn,
    ) -> Result<()> {
        let began = Instant::now();
        let mut timed = follower.time()?;
        // A busy disk may take longer for one write than a measurement takes.
        while timed.commits == 0 && began.elapsed() < PATIENCE {
            timed = follower.time()?;
        }
        stage.check(
            format_args!(
                "meanwhile the other process reads on, {:.0} ns an event, while {} commits came",
                timed.read_nanos, timed.commits
            ),
            timed.commits > 0,
        )?;
        let answered = load.acknowledged();
        let seen = follower.look()?;
        stage.check(
            format_args!(
                "it sees commit {seen}: every one of the {answered} writes that were answered"
            ),
            seen >= before.0 + answered,
        )?;
        let (half, longest) = self.write_times()?;
        stage.show(format_args!(
            "a write was on the disk and answered within {half:.1} ms (half of them), {longest:.1} ms (all)"
        ))
    }

    /// Milliseconds that half of the writes took at most, and the slowest one, as the daemon measured them.
    fn write_times(&self) -> Result<(f64, f64)> {
        let request = v1::ListLatenciesRequest::default();
        let mut admin = self.remote.client.admin();
        let listed = self.remote.call(admin.list_latencies(request))?.latencies;
        let ingest = listed.into_iter().find(|l| l.rpc.ends_with("/Ingest"));
        let none = || DemoError::Wrong("the daemon knows how long writes take".into());
        let ingest = ingest.ok_or_else(none)?;
        let millis = |time: Option<amem_client::Duration>| {
            time.map_or(0.0, |t| t.seconds as f64 * 1e3 + f64::from(t.nanos) / 1e6)
        };
        Ok((millis(ingest.p50), millis(ingest.max)))
    }

    /// A view that has a commit. A copy may have been made after a commit was written and before readers were shown
    /// it: then that is so in a moment.
    fn view_with(&self, lsn: Lsn) -> Result<View> {
        let reader = Reader::open(&self.file)?;
        let began = Instant::now();
        loop {
            let view = reader.view()?;
            if view.lsn() >= lsn {
                return Ok(view);
            }
            if began.elapsed() > PATIENCE {
                let why = format!("the brain comes to commit {lsn}, which a copy of it has");
                return Err(DemoError::Wrong(why));
            }
            thread::yield_now();
        }
    }

    /// Another program opens a copy, which no daemon serves.
    fn stranger(
        &self,
        stage: &mut Stage<'_>,
        cleanup: &Cleanup,
        copy: &Path,
        done: &Corrected,
    ) -> Result<()> {
        // A copy may end in the middle of a commit that was being written: that was not answered, and does not count.
        let verified = amemctl(cleanup, "verify", copy, &[])?;
        let nothing_wrong = verified["data"]["findings"]
            .as_array()
            .is_some_and(Vec::is_empty);
        stage.check(
            "another process holds every byte of the last copy against its checksums: all are right",
            nothing_wrong && verified["data"]["checksums"].as_u64() > Some(0),
        )?;
        let first = self.id("backup-2")?.to_string();
        let resolved = amemctl(cleanup, "resolve", copy, &[&first])?;
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
        let (written, view) = held(&self.file)?;
        let rest = view.nodes() - written;
        drop(view);
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
        let (held, view) = held(&self.file)?;
        stage.check(
            format_args!(
                "{acknowledged} writes were answered, {held} are there, without a gap: none is lost"
            ),
            held == acknowledged || held == acknowledged + 1,
        )?;
        stage.check(
            format_args!("so are the {rest} events from before"),
            view.nodes() - held == rest,
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
        let ops: Vec<_> = commit.ops().collect::<amem_format::Result<_>>()?;
        let others: Vec<_> = other.ops().collect::<amem_format::Result<_>>()?;
        if commit.commit != other.commit || ops != others {
            return Ok(false);
        }
        lsn = commit.commit.lsn;
    }
    Ok(lsn == view.lsn())
}

/// What this program says of a file when it is started again.
fn amemctl(
    cleanup: &Cleanup,
    command: &str,
    file: &Path,
    arguments: &[&str],
) -> Result<serde_json::Value> {
    let program = env::current_exe().map_err(DemoError::io("find this program"))?;
    let mut process = Command::new(program);
    process.args(["--json", command]).arg(file).args(arguments);
    let ran = cleanup.output(&mut process);
    let (_, said) = ran.map_err(DemoError::io("run another process"))?;
    serde_json::from_slice(&said)
        .map_err(|error| DemoError::Wrong(format!("amemctl {command} answers in JSON: {error}")))
}

fn cp(cleanup: &Cleanup, from: &Path, to: &Path) -> Result<()> {
    let ran = cleanup.output(Command::new("cp").arg(from).arg(to));
    let (status, _) = ran.map_err(DemoError::io("run cp"))?;
    if status.success() {
        return Ok(());
    }
    Err(DemoError::Wrong(format!("cp copies the file ({status})")))
}
