//! `amemctl query`: events that match filters, in an order.

use amem_client::v1;
use clap::{Args, ValueEnum};

use crate::args::selection::{MomentArgs, SelectionArgs};
use crate::brain::opened::BrainHandle;
use crate::brain::target::{self, BrainTarget};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::listing::{self, TimeAxis};
use crate::output::context::CommandContext;
use crate::render::plural;
use crate::when;

#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl query work
  amemctl query work --type decision --type skill --limit 10
  amemctl query work --session standup --order oldest
  amemctl query work --since \"2 days ago\" --axis happened
  amemctl query work --keyword database --where '{{\"speaker\":{{\"eq\":\"Ada\"}}}}'

{}", when::HELP))]
pub(crate) struct QueryArgs {
    #[arg(help = target::HELP)]
    brain: BrainTarget,
    /// The time that --since, --until and the order refer to.
    #[arg(long, value_enum, default_value_t = TimeAxis::Recorded)]
    axis: TimeAxis,
    /// The order.
    #[arg(long, value_enum, default_value_t = QueryOrder::Newest)]
    order: QueryOrder,
    /// At most this many.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Continue after a page, with the token at its end.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    #[command(flatten)]
    looking: MomentArgs,
    #[command(flatten)]
    conditions: SelectionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum QueryOrder {
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
    /// Strongest first.
    Strongest,
}

impl QueryArgs {
    pub(crate) fn run(&self, cx: &mut CommandContext) -> Result<Exit, Failure> {
        let opened = BrainHandle::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let order = match self.order {
            QueryOrder::Newest => v1::Order::Newest,
            QueryOrder::Oldest => v1::Order::Oldest,
            QueryOrder::Strongest => v1::Order::Strongest,
        };
        let request = v1::PatternRequest {
            selection: Some(selection),
            order: order.into(),
            axis: self.axis.axis().into(),
            page_size: self.limit,
            page_token: self.after.clone().unwrap_or_default(),
            as_of: self.looking.as_of(),
            ..Default::default()
        };
        let answer = opened.ask(cx, request)?;
        let moment = answer.moment.as_ref();
        cx.message(Some(&opened.named(moment)), &answer, |page| {
            listing::table(&answer.events, self.axis, page);
            page.aside(plural(answer.events.len() as u64, "event"));
            listing::write_next(&answer.next_page_token, page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}
