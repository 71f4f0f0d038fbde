//! `amemctl why`: what an event rests on.

use amem_client::v1;
use amem_format::EdgeType;
use clap::Args;

use super::walk;
use crate::args::event_id::Id;
use crate::args::selection::Looking;
use crate::brain::opened::Opened;
use crate::brain::target::{self, Target};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::Ways;
use crate::output::context::Context;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl why work 12
  amemctl why work last --depth 3")]
pub(crate) struct Why {
    #[arg(help = target::HELP)]
    brain: Target,
    /// The event: its id, or "last".
    id: Id,
    /// How many edges away, at most.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// At most this many events.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    looking: Looking,
}

impl Why {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let opened = Opened::open(cx, &self.brain)?;
        let request = v1::WhyRequest {
            event_id: self.id.number_at(cx, &opened, self.looking.as_of())?,
            depth: self.depth,
            limit: self.limit,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let words = walk::Words {
            ways: Ways::One,
            alone: "it rests on nothing that was recorded",
            ties: Some((&[EdgeType::CAUSED_BY, EdgeType::SUPPORTS], false)),
        };
        let walk = (&answer.steps[..], answer.truncated);
        walk::tell(
            cx,
            &opened,
            &self.looking,
            answer.moment.as_ref(),
            walk,
            words,
        )?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}
