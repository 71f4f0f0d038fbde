//! `amemctl compress`: summarises a session as an episode.

use amem_client::v1;
use clap::Args;

use crate::args::selection::session;
use crate::args::text::TextArgs;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::render::plural;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl compress work standup \"the deploy was moved to Friday, Ada looks after it\"
  summarise notes.txt | amemctl compress work 7 -
  amemctl compress work standup

TEXT is the text of the episode. Without it, amemd selects sentences of the session: the most central ones,
decisions and corrections. The events leave default listings and stay in the graph as parts of the episode:
`amemctl query work --session standup --compressed` shows them.")]
pub(crate) struct CompressArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// The session: its number or its key.
    session: String,
    #[command(flatten)]
    text: TextArgs,
    #[command(flatten)]
    writing: WriteArgs,
}

impl CompressArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.text.given()?;
        let mut brain = Writable::open(cx, &self.brain)?;
        let found = session(cx, &brain.opened, &self.session)?;
        let request = v1::CompressSessionRequest {
            options: Some(self.writing.options(cx)),
            session_id: found.id,
            text,
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        let is_quiet = cx.is_quiet();
        cx.message(Some(&brain.named), &answer, |page| {
            if is_quiet {
                page.line(answer.event_id)
            } else {
                page.line(format!(
                    "event {} is the episode of {} of session {}",
                    answer.event_id,
                    plural(answer.edges, "event"),
                    found.id
                ))
            }
        })?;
        Ok(Exit::Ok)
    }
}
