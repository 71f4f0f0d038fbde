//! `amemctl compress`: summarises a session as an episode.

use amem_client::v1;
use clap::Args;
use serde::Serialize;

use crate::args::selection::session;
use crate::args::text::TextArgs;
use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::commit::CommitJson;
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

#[derive(Serialize)]
struct CompressOutput {
    id: u64,
    session: u32,
    edges: u64,
    commit: CommitJson,
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
        let (answer, commit) = brain.write(cx, request)?;
        let output = CompressOutput {
            id: answer.event_id,
            session: found.id,
            edges: answer.edges,
            commit,
        };
        let is_quiet = cx.is_quiet();
        cx.answer(Some(&brain.named), &output, |page| {
            if is_quiet {
                page.line(output.id)
            } else {
                page.line(format!(
                    "event {} is the episode of {} of session {}",
                    output.id,
                    plural(output.edges, "event"),
                    output.session
                ))
            }
        })?;
        Ok(Exit::Ok)
    }
}
