//! `amemctl similar`: events with vectors near that of an event, or near a given one.

use std::path::PathBuf;

use amem_client::v1;
use amem_client::v1::similar_request::Like;
use clap::Args;

use crate::args::event_id::EventId;
use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::args::text;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::command::hits::{HitTable, ask_and_print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::TimeAxis;
use crate::output::context::CommandContext;
use crate::render::TextPage;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  amemctl similar work 12
  amemctl similar work last --min-similarity 0.5
  amemctl similar work --vector question.json     a JSON array of numbers, of the brain's own model")]
pub(crate) struct SimilarArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The event to compare with: its id, or "last".
    #[arg(required_unless_present = "vector", conflicts_with = "vector")]
    id: Option<EventId>,
    /// A vector to compare with, as a JSON array in a file; `-` reads stdin.
    #[arg(long, value_name = "FILE")]
    vector: Option<PathBuf>,
    /// The time that --since and --until filter.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    /// At most this many.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only events of at least this similarity.
    #[arg(long, value_name = "-1..1", allow_negative_numbers = true)]
    min_similarity: Option<f32>,
    /// Only events of at least this relevance, on a scale that is about the same for every model.
    #[arg(long, value_name = "0..1", value_parser = text::parse_unit)]
    min_relevance: Option<f32>,
    /// Answer sooner on large brains; about one in a hundred of the best may be missed.
    #[arg(long)]
    approximate: bool,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

impl SimilarArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let like = match (&self.vector, self.id) {
            (Some(path), _) => Like::Vector(v1::Vector {
                values: text::vector(path)?,
                space: String::new(),
            }),
            (None, Some(id)) => Like::EventId(id.number_at(cx, &opened, self.looking.as_of())?),
            (None, None) => {
                return Err(Failure::argument(
                    "no event and no vector to compare with",
                    "name an event, or give --vector",
                ));
            }
        };
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::SimilarRequest {
            like: Some(like),
            selection: Some(selection),
            limit: self.limit,
            min_similarity: self.min_similarity,
            min_relevance: self.min_relevance,
            as_of: self.looking.as_of(),
            approximate: self.approximate,
            ..Default::default()
        };
        ask_and_print(cx, opened, request, write)
    }
}

fn write(answer: &v1::SimilarResponse, page: &mut TextPage) {
    let mut table = HitTable::new(["relevance", "similarity"]);
    for hit in &answer.hits {
        table.row(&[hit.relevance, hit.similarity], "", hit.event.as_ref());
    }
    table.write(page);
    if answer.hits.is_empty() {
        page.aside("no other event has a vector that is near enough");
    }
}
