//! `amemctl text`: events with the words of a question, by BM25 alone.

use amem_client::v1;
use clap::Args;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::args::text::TextArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::command::hits::{HitTable, ask_and_print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::TimeAxis;
use crate::output::context::CommandContext;
use crate::render::TextPage;
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl text work staging database
  amemctl text work \"build fails\" --type decision --since \"30 days ago\"

An event is found if it has one of the words, in any spelling and in any inflection of English; of other languages
also by words that begin alike. Words of no meaning (the, is) do not count if there are others.
`amemctl search` also uses meaning, neighbours and sessions.

{}", when::HELP))]
pub(crate) struct TextSearchArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    #[command(flatten)]
    question: TextArgs,
    /// The time that --since and --until filter.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    /// At most this many.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Only hits of at least this relevance, on a scale that is the same for every question.
    #[arg(long, value_name = "0..1", default_value_t = 0.0, hide_default_value = true, value_parser = crate::args::text::parse_unit)]
    min_relevance: f32,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

impl TextSearchArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.question.required("question")?;
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::TextRequest {
            text,
            selection: Some(selection),
            limit: self.limit,
            min_relevance: self.min_relevance,
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        ask_and_print(cx, opened, request, write)
    }
}

fn write(answer: &v1::TextResponse, page: &mut TextPage) {
    let mut table = HitTable::new(["relevance", "score"]);
    for hit in &answer.hits {
        table.row(&[hit.relevance, hit.score], "", hit.event.as_ref());
    }
    table.write(page);
    if answer.hits.is_empty() {
        page.aside("nothing found: use other words, fewer conditions, or `amemctl search`");
    }
}
