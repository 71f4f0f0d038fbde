//! `amemctl decay` and `amemctl checkpoint`: scheduled jobs, run now.

use amem_client::v1;
use clap::Args;

use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::{Writable, WriteArgs, write_commit};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl decay work
  amemctl fading work          what has almost faded

Strength falls with the time since an event was last used: faster for inferences than for facts, slower for
skills, not at all for pinned events. Nothing is deleted.")]
pub(crate) struct DecayArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    #[command(flatten)]
    writing: WriteArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl checkpoint work

Makes a new base from the journal: the brain opens faster, and its file is smaller. amemd does this itself when
the journal has grown.")]
pub(crate) struct CheckpointArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
}

impl DecayArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let mut brain = Writable::open(cx, &self.brain)?;
        let request = v1::DecayRequest {
            options: Some(self.writing.options(cx)),
            ..Default::default()
        };
        let answer = brain.write(cx, request)?;
        let commit = answer.commit.clone().unwrap_or_default();
        cx.changed(Some(&brain.named), &answer, |page| {
            page.line("strengths are computed as of now");
            write_commit(&commit, page);
        })?;
        Ok(Exit::Ok)
    }
}

impl CheckpointArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let brain = Writable::open(cx, &self.brain)?;
        let served = brain.opened.served()?;
        let request = v1::CheckpointBrainRequest {
            brain: served.brain.name().to_owned(),
        };
        let remote = cx.daemon()?;
        let answer = remote.call(remote.client.brains().checkpoint_brain(request))?;
        let mut named = brain.opened.named(answer.moment.as_ref());
        named.generation = Some(answer.generation);
        cx.changed(Some(&named), &answer, |page| {
            page.line(format!(
                "generation {} has everything up to LSN {}",
                answer.generation, named.lsn
            ));
        })?;
        Ok(Exit::Ok)
    }
}
