//! `amemctl context`: the most relevant events within a token budget, as text for a prompt.

use std::io::Write;

use amem_client::v1;
use clap::Args;

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::args::text::TextArgs;
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::TimeAxis;
use crate::output::context::CommandContext;
use crate::render::{count, plural};
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl context work --tokens 2000 \"what do we know about the backup job\"
  amemctl context work - < question.txt

The text never exceeds the budget; four ASCII characters count as a token, and so does any other character. Only
the text goes to stdout, for a prompt; a summary goes to stderr. Of long texts it shows the sentences that match.

{}", when::HELP))]
pub(crate) struct ContextArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    #[command(flatten)]
    question: TextArgs,
    /// The token budget.
    #[arg(long, default_value_t = 2000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tokens: u32,
    /// Print nothing unless a hit has this relevance; 0 for any hits [default: 0.65]
    #[arg(long, value_name = "0..1", value_parser = crate::args::text::parse_unit)]
    min_relevance: Option<f32>,
    /// Events to consider, at most [default: 200, and 1,000 for more than 4,000 tokens]
    #[arg(long, value_name = "N", hide_short_help = true)]
    candidates: Option<u32>,
    /// How many levels of reasons to include; 0 for none [default: the daemon's]
    #[arg(long, value_name = "N", hide_short_help = true)]
    reasons: Option<u32>,
    /// The time that --since and --until filter.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

impl ContextArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let text = self.question.required("question")?;
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let request = v1::ContextRequest {
            text,
            selection: Some(selection),
            budget_tokens: self.tokens,
            candidates: self.candidates.unwrap_or_default(),
            reasons_depth: self.reasons,
            min_relevance: self.min_relevance,
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        if cx.is_json() || cx.is_terminal() {
            cx.message(Some(&opened.named(moment)), &answer, |page| {
                answer.text.lines().for_each(|line| page.line(line));
            })?;
        } else {
            // A prompt gets the counted bytes exactly.
            let text = answer.text.as_bytes();
            let written = cx.stream().write_all(text);
            written.map_err(|e| Failure::output(&e))?;
        }
        if !cx.is_json() {
            cx.finish()?;
            cx.note(&summary(&answer, self.tokens));
        }
        opened.close(cx);
        Ok(Exit::Ok)
    }
}

fn summary(output: &v1::ContextResponse, budget: u32) -> String {
    let (events, left_out) = (output.items.len() as u64, output.left_out.len() as u64);
    let mut line = format!(
        "{} of {} tokens, {}",
        count(output.tokens.into()),
        count(budget.into()),
        plural(events, "event")
    );
    if left_out > 0 {
        line.push_str(&format!("; {} more did not fit", count(left_out)));
    } else if events == 0 && output.relevance > 0.0 {
        line.push_str(&format!(
            ": the best hit has a relevance of {:.2}; --min-relevance 0 shows what there is",
            output.relevance
        ));
    }
    line
}
