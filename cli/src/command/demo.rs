//! `amemctl demo`: what amemd is for, shown and checked.

use std::io;

use clap::Args;

use crate::context::Context;
use crate::demo::{self, DemoError};
use crate::exit::Exit;
use crate::failure::Failure;

/// Options.
#[derive(Debug, Args)]
#[command(
    after_help = "It starts the amemd beside this program, or the one that the variable AMEMD names, on a
private folder and socket, and touches no brain of yours. Every step checks itself: the
exit code is 0 if all of them held. Nothing is left behind."
)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let style = cx.page().style();
        let story = if cx.is_json() {
            demo::run(&mut io::sink(), style)?
        } else {
            demo::run(cx.stream(), style)?
        };
        if cx.is_json() {
            cx.answer(None, &story, |_| {})?;
        }
        Ok(Exit::Ok)
    }
}

impl From<DemoError> for Failure {
    fn from(error: DemoError) -> Self {
        match error {
            DemoError::Wrong(claim) => Self::new(
                Exit::Findings,
                "demo",
                format!("this should hold and does not: {claim}"),
                "report it, with what was shown before",
            ),
            DemoError::NoDaemon(why) => Self::new(
                Exit::Unavailable,
                "no_daemon",
                why,
                "build amemd beside this program with `cargo build --release`, or set AMEMD to its path",
            ),
            DemoError::Output(error) => Self::output(&error),
            DemoError::Io { action, source } => Self::new(
                Exit::Io,
                "io",
                format!("cannot {action}: {source}"),
                "see what the system says of it; TMPDIR names the folder for temporary files",
            ),
            DemoError::Remote(error) => error.into(),
            DemoError::Core(error) => error.into(),
        }
    }
}
