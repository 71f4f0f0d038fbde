//! `amemctl why`, `impact` and `traverse`: what can be reached from an event along its edges.

use amem_client::{Question, v1};
use amem_format::types::EdgeType;
use clap::{Args, ValueEnum};
use prost::{Message, Name};

use super::side_edges::{self, SideEdges};
use super::walk_tree::{self, EdgeArrows};
use crate::args::event_id::EventId;
use crate::args::selection::MomentArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::context::{CommandContext, message_json};
use crate::types::{edge_type_numbers, parse_edge_type};

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl why work 12
  amemctl why work last --depth 3")]
pub(crate) struct WhyArgs {
    #[command(flatten)]
    from: WalkStart,
    /// How many edges away, at most.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// At most this many events.
    #[arg(long, default_value_t = 1_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    moment: MomentArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl impact work 3               what to reconsider if event 3 is wrong
  amemctl impact work 3 --parts       with what is a part of any of it")]
pub(crate) struct ImpactArgs {
    #[command(flatten)]
    from: WalkStart,
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
    moment: MomentArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl traverse work 12
  amemctl traverse work 12 --direction both --depth 2
  amemctl traverse work 12 --edge supports --edge caused-by")]
pub(crate) struct TraverseArgs {
    #[command(flatten)]
    from: WalkStart,
    /// Only along edges of this type; may be repeated.
    #[arg(long = "edge", value_name = "TYPE", value_parser = parse_edge_type)]
    edges: Vec<EdgeType>,
    /// Which way edges are followed.
    #[arg(long, value_enum, default_value_t = WalkDirection::Outgoing)]
    direction: WalkDirection,
    /// How many edges away, at most.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    /// At most this many events.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    moment: MomentArgs,
}

#[derive(Debug, Args)]
struct WalkStart {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The event: its id, or "last".
    id: EventId,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WalkDirection {
    /// From their source to their target.
    Outgoing,
    /// From their target to their source.
    Incoming,
    /// Either way.
    Both,
}

impl WalkDirection {
    pub(crate) fn follow(self) -> i32 {
        match self {
            Self::Outgoing => v1::Follow::Outgoing,
            Self::Incoming => v1::Follow::Incoming,
            Self::Both => v1::Follow::Both,
        }
        .into()
    }
}

/// How a walk is shown.
struct WalkStyle {
    arrows: EdgeArrows,
    /// The text for an event from which no edge leads on.
    alone: &'static str,
    /// The types whose edges between the steps are shown beside the tree, and whether the walk goes against them.
    side_edges: Option<(&'static [EdgeType], bool)>,
}

const REASONS: &[EdgeType] = &[EdgeType::CAUSED_BY, EdgeType::SUPPORTS];

impl WhyArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let style = WalkStyle {
            arrows: EdgeArrows::One,
            alone: "it rests on nothing that was recorded",
            side_edges: Some((REASONS, false)),
        };
        let question = |event_id| v1::WhyRequest {
            event_id,
            depth: self.depth,
            limit: self.limit,
            as_of: self.moment.as_of(),
            include_forgotten: self.moment.include_forgotten,
            ..Default::default()
        };
        let answer = |answer: &v1::WhyResponse| (answer.steps.clone(), answer.truncated);
        self.from.walk(cx, &self.moment, &style, question, answer)
    }
}

impl ImpactArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let style = WalkStyle {
            arrows: EdgeArrows::One,
            alone: "nothing that was recorded rests on it",
            side_edges: Some((REASONS, true)),
        };
        let question = |event_id| v1::ImpactRequest {
            event_id,
            include_parts: self.parts,
            depth: self.depth,
            limit: self.limit,
            as_of: self.moment.as_of(),
            include_forgotten: self.moment.include_forgotten,
            ..Default::default()
        };
        let answer = |answer: &v1::ImpactResponse| (answer.steps.clone(), answer.truncated);
        self.from.walk(cx, &self.moment, &style, question, answer)
    }
}

impl TraverseArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let style = WalkStyle {
            arrows: EdgeArrows::Each,
            alone: "no edge leads on from it",
            side_edges: None,
        };
        let question = |event_id| v1::TraverseRequest {
            event_id,
            types: edge_type_numbers(&self.edges),
            follow: self.direction.follow(),
            depth: self.depth,
            limit: self.limit,
            as_of: self.moment.as_of(),
            include_forgotten: self.moment.include_forgotten,
            ..Default::default()
        };
        let answer = |answer: &v1::TraverseResponse| (answer.steps.clone(), answer.truncated);
        self.from.walk(cx, &self.moment, &style, question, answer)
    }
}

/// The steps, and whether there are more.
type WalkAnswer = (Vec<v1::Step>, bool);

impl WalkStart {
    /// Asks for a walk and shows its steps.
    fn walk<Q: Question>(
        &self,
        cx: &mut CommandContext,
        moment: &MomentArgs,
        style: &WalkStyle,
        question: impl FnOnce(u64) -> Q,
        walked: impl FnOnce(&Q::Answer) -> WalkAnswer,
    ) -> Result<Exit, Failure>
    where
        Q::Answer: Message + Name,
    {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let id = self.id.number_at(cx, &opened, moment.as_of())?;
        let answer = opened.ask(cx, question(id))?;
        let ((steps, cut), at) = (walked(&answer), Q::moment(&answer));
        let side = match style.side_edges {
            None => SideEdges::default(),
            Some((types, is_backwards)) => {
                side_edges::look_up(cx, &opened, at, &steps, types, is_backwards)?
            }
        };
        let object = || {
            let mut data = message_json(&answer)?;
            side.add_to(&mut data);
            Ok(data)
        };
        cx.object(Some(&opened.named(at)), object, |page| {
            walk_tree::write_tree(&steps, style.arrows, &side, page);
            if steps.len() == 1 && !cut {
                page.aside(style.alone);
            }
            if cut {
                page.aside("there is more: --limit and --depth show it");
            }
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}
