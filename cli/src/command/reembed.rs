//! `amemctl reembed`: gives a brain the vectors of another embedder.

use std::time::Duration;

use amem_client::v1;
use clap::{Args, ValueEnum};
use tonic::Code;

use crate::brain::target::{self, BrainTarget};
use crate::brain::writable::Writable;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::output::progress::{Progress, Unit};
use crate::render::plural;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl reembed work                        by the embedder of amemd's file of models
  amemctl reembed work --embedder builtin     by the one that needs no model

The brain is written and searched meanwhile, with the vectors that it has; the new ones take their place at once, in
a new generation. What is embedded is kept: after Ctrl-C or a restart, the same command goes on where it stopped. An
erase ends that, and everything is embedded again. With the embedder that the brain has already, events without
vectors get theirs, as after a time when it was away.")]
pub(crate) struct ReembedArgs {
    #[arg(help = target::NAME_HELP)]
    brain: BrainTarget,
    /// That of the file of models, or the built-in one; the first if amemd has one.
    #[arg(long, value_enum)]
    embedder: Option<EmbedderName>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum EmbedderName {
    /// That of amemd's file of models (`models.file`).
    Model,
    /// The built-in one.
    Builtin,
}

/// Calls that bring nothing, one after the other, such as while something is erased.
const IDLE_CALLS_MAX: u32 = 60;
const IDLE_PAUSE: Duration = Duration::from_millis(500);

fn stuck(answer: &v1::ReembedBrainResponse) -> Failure {
    let message = format!(
        "{} of {} are embedded, and the new generation does not come in place",
        answer.embedded,
        plural(answer.events, "event")
    );
    let remedy = "`amemctl status` shows what hinders it; then run the same command again";
    Failure::new(Exit::Unavailable, "reembed", message, remedy)
}

impl ReembedArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let brain = Writable::open(cx, &self.brain)?;
        let served = brain.opened.served()?;
        let embedder = match self.embedder {
            None => v1::Embedder::Unspecified,
            Some(EmbedderName::Model) => v1::Embedder::Model,
            Some(EmbedderName::Builtin) => v1::Embedder::Builtin,
        };
        let request = v1::ReembedBrainRequest {
            brain: served.brain.name().to_owned(),
            embedder: embedder.into(),
        };
        let mut progress = Progress::new(cx, Unit::Things("events"));
        let (mut embedded, mut idle) = (0, 0);
        let answer = loop {
            let remote = cx.daemon()?;
            let asked = remote.call(remote.client.brains().reembed_brain(request.clone()));
            let answer = match asked {
                // The end of a call that was given up.
                Err(failure) if failure.code() == Code::Aborted && idle < IDLE_CALLS_MAX => {
                    idle += 1;
                    std::thread::sleep(IDLE_PAUSE);
                    continue;
                }
                answer => answer?,
            };
            if answer.done {
                break answer;
            }
            progress.show(answer.embedded, answer.events);
            if answer.embedded <= embedded {
                idle += 1;
                if idle == IDLE_CALLS_MAX {
                    return Err(stuck(&answer));
                }
                std::thread::sleep(IDLE_PAUSE);
            } else {
                idle = 0;
            }
            embedded = answer.embedded;
        };
        drop(progress);
        let mut named = brain.opened.named(answer.moment.as_ref());
        named.generation = Some(answer.generation);
        cx.changed(Some(&named), &answer, |page| {
            page.line(format!(
                "generation {} has vectors of {} numbers for {}",
                answer.generation,
                answer.dimension,
                plural(answer.events, "event"),
            ));
        })?;
        Ok(Exit::Ok)
    }
}
