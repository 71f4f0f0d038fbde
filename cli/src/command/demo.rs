//! `amemctl demo`: shows what amemd promises, and checks it.

use std::io;

use clap::Args;

use crate::demo;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(
    after_help = "It starts the amemd beside this program, or the one that the variable AMEMD names, on a
private folder and socket, and touches none of your brains. Every step checks itself: the
exit code is 0 if all checks held. Nothing is left behind."
)]
pub(crate) struct DemoArgs {}

impl DemoArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let style = cx.page().style();
        if cx.is_json() {
            let story = demo::run(&mut io::sink(), style)?;
            cx.answer(None, &story, |_| {})?;
        } else {
            demo::run(cx.stream(), style)?;
        }
        Ok(Exit::Ok)
    }
}
