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
mod load;
mod reading;
mod sandbox;
mod state;
mod survival;
mod transcript;

use std::io::Write;

use crate::failure::Failure;
use crate::render::Style;
use sandbox::Sandbox;
use transcript::{Stage, Story};
use state::Demo;

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
