//! Steps: a memory survives being copied while it is written, the daemon's death, and the daemon's absence.

use std::process::Command;
use std::thread;
use std::time::Instant;

use amem_client::Reader;
use amem_format::view::View;
use amem_format::{Lsn, NodeId};

use super::beliefs::{BACKUP, CORRECTION};
use super::load::{Load, count_held};
use super::sandbox::{BRAIN, Daemon, PATIENCE};
use super::transcript::{Stage, wrong};
use super::state::Demo;
use crate::failure::Failure;

/// Copies that are made while writes go on.
const COPIES: u64 = 3;
/// Writes that are answered between two of them.
const WRITES: u64 = 40;

impl Demo {
    pub(super) fn copy(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let (rest, load) = (self.view()?, Load::start(&self.sandbox.socket())?);
        let mut last = self.file.clone();
        for n in 1..=COPIES {
            load.wait_until(n * WRITES)?;
            last = self.sandbox.folder().join(format!("copy-{n}.amem"));
            let before = load.answered();
            self.sandbox
                .run(Command::new("cp").args([&self.file, &last]))?;
            let meanwhile = load.answered() - before;
            let (held, view) = count_held(&last, rest.nodes())?;
            let whole = held >= before && view.nodes() == rest.nodes() + held;
            check!(stage, "copy {n} has {held} writes: {before} were answered before it, {meanwhile} during it" => whole);
            let whole = is_prefix(&view, &self.view_with(view.lsn())?)?;
            check!(stage, "it has every commit up to its last, {}, as the brain has it", view.lsn() => whole);
        }
        let copy = last.to_string_lossy();
        // A copy may end in the middle of a commit that was being written: it was not answered, and does not count.
        let verified = self.json("verify", &[&copy])?;
        let sound = verified["findings"].as_array().is_some_and(Vec::is_empty)
            && verified["checksums"].as_u64() > Some(0);
        check!(stage, "another process holds every byte of the last copy against its checksums: all are right" => sound);
        let resolved = self.json("resolve", &[&copy, &BACKUP.to_string()])?;
        let known =
            resolved["head"]["id"] == self.correction.new && resolved["head"]["text"] == CORRECTION;
        check!(stage, "it knows there what is believed, without any daemon" => known);
        self.read_on(stage, &load, rest.lsn())?;
        self.load = Some(load);
        Ok(())
    }

    /// This process reads on, and misses nothing.
    fn read_on(&self, stage: &mut Stage<'_>, load: &Load, before: Lsn) -> Result<(), Failure> {
        let (began, reader) = (Instant::now(), Reader::open(&self.file)?);
        let mut timing = self.time(&reader)?;
        // A busy disk may take longer for one write than a measurement takes.
        while timing.commits == 0 && began.elapsed() < PATIENCE {
            timing = self.time(&reader)?;
        }
        let (nanos, commits) = (timing.read_nanos, timing.commits);
        check!(stage, "meanwhile this process reads on, {nanos:.0} ns an event, while {commits} commits came" => commits > 0);
        let (answered, seen) = (load.answered(), reader.view()?.lsn().0);
        let all = seen >= before.0 + answered;
        check!(stage, "it sees commit {seen}: every one of the {answered} writes that were answered" => all);
        // As the daemon measured them.
        let listed = self.json("status --all", &[])?;
        let mut latencies = listed["latencies"].as_array().into_iter().flatten();
        let ingest = latencies.find(|of| {
            of["rpc"]
                .as_str()
                .is_some_and(|rpc| rpc.ends_with("/Ingest"))
        });
        let ingest = ingest.ok_or_else(|| wrong("the daemon knows how long writes take"))?;
        let [half, longest] =
            ["p50", "max"].map(|of| ingest[of].as_f64().unwrap_or_default() / 1e3);
        stage.show(format_args!(
            "a write was on the disk and answered within {half:.1} ms (half of them), {longest:.1} ms (all)"
        ))
    }

    /// A view that has a commit. A copy may have one that is written and not yet published to readers: it will be in a
    /// moment.
    fn view_with(&self, lsn: Lsn) -> Result<View, Failure> {
        let (reader, began) = (Reader::open(&self.file)?, Instant::now());
        while reader.view()?.lsn() < lsn {
            if began.elapsed() > PATIENCE {
                return Err(wrong(format!(
                    "the brain comes to commit {lsn}, which a copy of it has"
                )));
            }
            thread::yield_now();
        }
        Ok(reader.view()?)
    }

    pub(super) fn kill(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let (written, view) = count_held(&self.file, 0)?;
        let rest = view.nodes() - written;
        drop(view);
        self.daemon.kill(&self.sandbox)?;
        let (answered, error) = self.load.take().map_or((0, None), Load::wait_for_error);
        check!(stage, "the writer was told that its last write is not certain" => error.is_some());
        (self.daemon, self.remote) = Daemon::start(&self.sandbox)?;
        stage.show(format_args!("amemd is process {} now", self.daemon.pid()))?;
        self.brain = self.remote.wait(self.remote.client.brain(BRAIN))?.by_call();
        let (held, view) = count_held(&self.file, 0)?;
        let none_lost = held == answered || held == answered + 1;
        check!(stage, "{answered} writes were answered, {held} are there, without a gap: none is lost" => none_lost);
        check!(stage, "so are the {rest} events from before" => view.nodes() - held == rest);
        Ok(())
    }

    pub(super) fn stop(&mut self, stage: &mut Stage<'_>) -> Result<(), Failure> {
        let (head, new) = (
            self.resolve(BACKUP)?.head.unwrap_or_default(),
            self.correction.new,
        );
        check!(stage, "after all of this the correction still holds" => head.id == new);
        let status = self.daemon.stop(&self.sandbox)?;
        check!(stage, "amemd ended well ({status})" => status.success());
        let view = Reader::open_copy(&self.file)?;
        let text = view.node(NodeId(new))?.text()?.into_owned();
        check!(stage, "the correction is read without it" => text == CORRECTION);
        Ok(())
    }
}

/// Whether the commits of a view, from the first to its last, are the first ones of another, each with all that it did.
fn is_prefix(view: &View, of: &View) -> Result<bool, Failure> {
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
