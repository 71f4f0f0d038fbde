//! The demo: what amemd promises, shown and checked in a few seconds.
//!
//! It is a list of steps (`STEPS`) over the commands of this program, the client's calls and the brain's file. A step
//! shows what it does and checks it; the first check that fails ends the demo with its claim.
//!
//! Promises: it runs on a daemon, a folder and a socket of its own, and leaves nothing behind, however it ends
//! (`sandbox`).

/// Checks a claim, a format string: `check!(stage, "claim {x}", arguments => condition)`. Ends the step if it fails.
macro_rules! check {
    ($stage:expr, $claim:literal $(, $argument:expr)* => $holds:expr) => {
        $stage.check(format_args!($claim $(, $argument)*), $holds)?
    };
}

mod beliefs;
mod erasure;
mod reading;
mod sandbox;
mod stage;
mod survival;

use std::io::Write;
use std::path::PathBuf;

use amem_client::{Brain, Change, Reader, Refusal, v1};
use amem_format::view::View;
use serde_json::Value;

use crate::connection::remote::Remote;
use crate::failure::Failure;
use crate::render::Style;
use beliefs::Correction;
use sandbox::{Daemon, Sandbox};
use stage::{Stage, Story, wrong};
use survival::Load;

/// The name of the brain.
const BRAIN: &str = "marina";

const INTRODUCTION: &str = "\
amemd keeps what AI agents observe, decide and correct. A memory, called a brain, is one file of events \
(what was learned) and edges (how events are related). Every change that amemd has answered is a commit: it has \
a number, and it is on the disk. This demo starts an amemd of its own, shows what it promises on a small invented \
memory of a marina, checks each promise (✓), and leaves nothing behind.";

type StepFn = fn(&mut Demo, &mut Stage<'_>) -> Result<(), Failure>;

/// The steps after the start of the daemon: the name, one line about what happens, and the code.
#[rustfmt::skip]
const STEPS: [(&str, &str, StepFn); 13] = [
    ("remember", "Two agents remember two sessions of a project. An answer means: it is on the disk.", Demo::remember),
    ("search", "A question finds events by words, by meaning, and by what stands next to them.", Demo::search),
    ("why", "What does a decision rest on? Its causes and its evidence, and what those rest on.", Demo::why),
    ("correct", "An agent learns better. The new belief replaces the old one, which stays as history.", Demo::correct),
    ("as of", "What was believed before that? Every earlier moment can be asked.", Demo::as_of),
    ("read", "Another process than the daemon maps the file and reads it. How fast is that?", Demo::read),
    ("follow", "This process sees a correction being made: in the file, and by subscription.", Demo::follow),
    ("compress", "A long session becomes one summary. Its events step back; none of them is lost.", Demo::compress),
    ("decay", "What is not used loses strength, and can be ranked by it. What is pinned does not.", Demo::decay),
    ("copy", "The file is copied with plain cp while writes go on. Each copy is a whole brain.", Demo::copy),
    ("kill -9", "The daemon is killed in the middle of these writes, and started again.", Demo::kill),
    ("erase", "A secret was remembered by mistake. Erased means: its bytes are in no file any more.", Demo::erase),
    ("stop", "The daemon ends when it is asked to. The file can be read without it.", Demo::stop),
];

/// Runs the demo and shows it on `out`.
pub(crate) fn run(out: &mut dyn Write, style: Style) -> Result<Story, Failure> {
    let mut stage = Stage::new(out, style);
    match play(&mut stage) {
        Ok(()) => stage.end(),
        Err(failure) => Err(stage.failed(failure)),
    }
}

fn play(stage: &mut Stage<'_>) -> Result<(), Failure> {
    stage.introduce(INTRODUCTION)?;
    let mut demo = Demo::start(stage, Sandbox::new()?)?;
    for (name, line, step) in STEPS {
        stage.step(name, line)?;
        step(&mut demo, stage)?;
    }
    let (folder, running) = demo.sandbox.clean();
    let gone = !folder.exists() && !running;
    check!(stage, "{} is gone, and so is every process of the demo", folder.display() => gone);
    Ok(())
}

/// The daemon, its brain, and what earlier steps leave to later ones.
struct Demo {
    sandbox: Sandbox,
    daemon: Daemon,
    remote: Remote,
    /// Asked by call: a direct read would count uses of events.
    brain: Brain,
    file: PathBuf,
    correction: Correction,
    load: Option<Load>,
}

impl Demo {
    fn start(stage: &mut Stage<'_>, sandbox: Sandbox) -> Result<Self, Failure> {
        stage.step(
            "start",
            "A daemon of our own, on a private folder and socket; no brain of yours is touched.",
        )?;
        let (daemon, remote) = Daemon::start(&sandbox)?;
        let status = remote.call(remote.client.admin().get_status(v1::GetStatusRequest {}))?;
        let (pid, folder) = (daemon.pid(), sandbox.folder().display());
        stage.show(format_args!(
            "amemd {} is process {pid}, in {folder}",
            status.version
        ))?;
        check!(stage, "the daemon that answers is ours" => status.pid == pid);
        sandbox.amemctl("brain create", &[BRAIN])?;
        let brain = remote.wait(remote.client.brain(BRAIN))?.by_call();
        check!(stage, "we may read the brain's file directly" => brain.opened().direct_read);
        let file = brain.opened().path.clone().into();
        let correction = Correction::default();
        Ok(Self {
            sandbox,
            daemon,
            remote,
            brain,
            file,
            correction,
            load: None,
        })
    }

    /// Shows a command and its output.
    fn show(&self, stage: &mut Stage<'_>, command: &str, text: &str) -> Result<(), Failure> {
        stage.row(format_args!(
            "$ amemctl {command} {}",
            if text.is_empty() { "" } else { "…" }
        ))?;
        let output = self
            .sandbox
            .amemctl(command, &[text][usize::from(text.is_empty())..])?;
        output.lines().try_for_each(|line| stage.row(line))
    }

    /// The data that a command prints with `--json`.
    fn json(&self, command: &str, texts: &[&str]) -> Result<Value, Failure> {
        let output = self.sandbox.amemctl(&format!("--json {command}"), texts)?;
        let answer = serde_json::from_str::<Value>(&output);
        let mut answer =
            answer.map_err(|e| wrong(format!("amemctl {command} answers in JSON: {e}")))?;
        Ok(answer["data"].take())
    }

    /// Has the daemon answer a question.
    fn ask<T>(&self, answer: impl Future<Output = Result<T, Refusal>>) -> Result<T, Failure> {
        Ok(self.remote.wait(answer)?)
    }

    /// Makes a change in the name of an agent.
    fn write<C: Change>(&self, agent: &str, mut change: C) -> Result<C::Answer, Failure> {
        change.options_mut().agent = agent.into();
        self.ask(self.brain.write(change))
    }

    /// The newest view of the file.
    fn view(&self) -> Result<View, Failure> {
        Ok(Reader::open(&self.file)?.view()?)
    }

    /// What is believed now in place of an event, and how that came.
    fn resolve(&self, event_id: u64) -> Result<v1::ResolveResponse, Failure> {
        self.ask(self.brain.resolve(event_id))
    }
}
