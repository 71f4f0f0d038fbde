//! `amemctl impact`: what rests on an event.

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
  amemctl impact work 3               what would have to be thought over if event 3 is wrong
  amemctl impact work 3 --parts       with what is a part of any of it")]
pub(crate) struct Impact {
    #[arg(help = target::HELP)]
    brain: Target,
    /// The event: its id, or "last".
    id: Id,
    /// Follow part-of edges, too.
    #[arg(long)]
    parts: bool,
    /// How many edges away, at most.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// At most this many events.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    looking: Looking,
}

impl Impact {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let opened = Opened::open(cx, &self.brain)?;
        let request = v1::ImpactRequest {
            event_id: self.id.number_at(cx, &opened, self.looking.as_of())?,
            include_parts: self.parts,
            depth: self.depth,
            limit: self.limit,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let words = walk::Words {
            ways: Ways::One,
            alone: "nothing that was recorded rests on it",
            ties: Some((&[EdgeType::CAUSED_BY, EdgeType::SUPPORTS], true)),
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
