//! `amemctl traverse`: what can be reached from an event.

use amem_client::v1;
use amem_format::types::EdgeType;
use clap::Args;

use super::walk::{self, Direction, parse_edge_type, type_numbers};
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
  amemctl traverse work 12
  amemctl traverse work 12 --direction both --depth 2
  amemctl traverse work 12 --edge supports --edge caused-by")]
pub(crate) struct Traverse {
    #[arg(help = target::HELP)]
    brain: Target,
    /// The event: its id, or "last".
    id: Id,
    /// Only along edges of this type; more than once for any of them.
    #[arg(long = "edge", value_name = "TYPE", value_parser = parse_edge_type)]
    edges: Vec<EdgeType>,
    /// Which way edges are followed.
    #[arg(long, value_enum, default_value_t = Direction::Outgoing)]
    direction: Direction,
    /// How many edges away, at most.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// At most this many events.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    looking: Looking,
}

impl Traverse {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let opened = Opened::open(cx, &self.brain)?;
        let request = v1::TraverseRequest {
            event_id: self.id.number_at(cx, &opened, self.looking.as_of())?,
            types: type_numbers(&self.edges),
            follow: self.direction.follow(),
            depth: self.depth,
            limit: self.limit,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let words = walk::Words {
            ways: Ways::Each,
            alone: "no edge leads on from it",
            ties: None,
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
