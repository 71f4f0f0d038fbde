//! The demo: shows what amemd promises and checks it, in a few seconds.
//!
//! `STEPS` lists the steps. Each runs commands of this program, calls the daemon or reads the brain's file, prints what
//! it sees and checks it. The first check that fails ends the demo.
//!
//! Promises: the demo uses a daemon, a folder and a socket of its own, and removes them however it ends (`sandbox`).

/// `check!(page, "claim {x}", arguments => condition)` ends the step if the condition is false.
macro_rules! check {
    ($page:expr, $claim:literal $(, $argument:expr)* => $holds:expr) => {
        $page.check(format_args!($claim $(, $argument)*), $holds)?
    };
}

mod beliefs;
mod demo_state;
mod erasure;
mod live;
mod sandbox;
mod transcript;
mod write_load;

use std::io::Write;

use crate::failure::Failure;
use crate::render::Style;
use demo_state::Demo;
use sandbox::Sandbox;
use transcript::{DemoReport, Transcript};

const INTRODUCTION: &str = "\
amemd keeps what AI agents observe, decide and correct. A memory, called a brain, is one file of events \
(what was learned) and edges (how events are related). Every change that amemd has answered is a commit: it has \
a number, and it is on the disk. This demo starts an amemd of its own, shows what it promises on a small invented \
memory of a marina, checks each promise (✓), and leaves nothing behind.";

type StepFn = fn(&mut Demo, &mut Transcript<'_>) -> Result<(), Failure>;

/// The steps after the start of the daemon: name, summary, code.
#[rustfmt::skip]
const STEPS: [(&str, &str, StepFn); 13] = [
    ("remember", "Two agents remember two sessions of a project. An answer means: it is on the disk.", beliefs::remember),
    ("search", "A question finds events by words, by meaning, and by the events next to them.", beliefs::search),
    ("why", "What does a decision rest on? Its causes and its evidence, and what those rest on.", beliefs::why),
    ("correct", "An agent learns better. The new belief replaces the old one, which stays as history.", beliefs::correct),
    ("as of", "What was believed before that? A query can ask for any earlier moment.", beliefs::as_of),
    ("read", "Another process than the daemon maps the file and reads it. How fast is that?", live::read),
    ("follow", "This process sees a correction being made: in the file, and by subscription.", live::follow),
    ("compress", "A long session becomes one summary. Its events leave the listings; none is lost.", beliefs::compress),
    ("decay", "What is not used loses strength, and can be ranked by it. What is pinned does not.", beliefs::decay),
    ("copy", "Plain cp copies the file while writes go on. Each copy is a whole brain.", live::copy),
    ("kill -9", "The daemon is killed in the middle of these writes, and started again.", live::kill),
    ("erase", "A secret was remembered by mistake. After an erase its bytes are in no file.", erasure::erase),
    ("stop", "The daemon ends on request. The file can be read without it.", live::stop),
];

/// Runs the demo and prints it to `out`.
pub(crate) fn run(out: &mut dyn Write, style: Style) -> Result<DemoReport, Failure> {
    let mut page = Transcript::new(out, style);
    match run_steps(&mut page) {
        Ok(()) => page.end(),
        Err(failure) => Err(page.failed(failure)),
    }
}

fn run_steps(page: &mut Transcript<'_>) -> Result<(), Failure> {
    page.introduce(INTRODUCTION)?;
    let mut demo = Demo::start(page, Sandbox::new()?)?;
    for (name, line, step) in STEPS {
        page.step(name, line)?;
        step(&mut demo, page)?;
    }
    let gone = demo.sandbox.clean();
    let folder = demo.sandbox.folder.display();
    check!(page, "{folder} is gone, and so is every process of the demo" => gone);
    Ok(())
}
