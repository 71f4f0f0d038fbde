//! `amemctl path`: how two events are connected.

use amem_client::v1;
use amem_format::types::EdgeType;
use clap::Args;

use super::side_edges::SideEdges;
use super::walk::WalkDirection;
use super::walk_tree::{self, EdgeArrows};
use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::CommandContext;
use crate::types::{edge_type_numbers, parse_edge_type};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl path work 12 3
  amemctl path work 12 3 --direction outgoing --edge caused-by

The exit code is 0 with or without a path; `steps` in --json are those of the path.")]
pub(crate) struct PathArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The first event.
    from: EventId,
    /// The last event.
    to: EventId,
    /// Only along edges of this type; may be repeated.
    #[arg(long = "edge", value_name = "TYPE", value_parser = parse_edge_type)]
    edges: Vec<EdgeType>,
    /// Which way edges are followed.
    #[arg(long, value_enum, default_value_t = WalkDirection::Both)]
    direction: WalkDirection,
    /// At most this many edges.
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    #[command(flatten)]
    looking: MomentArgs,
}

impl PathArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let (from_id, to_id) = (
            self.from.number_at(cx, &opened, self.looking.as_of())?,
            self.to.number_at(cx, &opened, self.looking.as_of())?,
        );
        let request = v1::PathRequest {
            from_id,
            to_id,
            types: edge_type_numbers(&self.edges),
            follow: self.direction.follow(),
            depth: self.depth,
            as_of: self.looking.as_of(),
            include_forgotten: self.looking.include_forgotten,
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            if answer.steps.is_empty() {
                page.line(format!(
                    "no path of at most {} edges leads from {from_id} to {to_id}",
                    self.depth
                ));
            } else {
                walk_tree::write_tree(&answer.steps, EdgeArrows::Each, &SideEdges::default(), page);
            }
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}
