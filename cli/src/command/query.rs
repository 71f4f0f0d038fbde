//! `amemctl query`: events that meet conditions, in an order.

use amem_client::v1;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::args::selection::{Conditions, Looking};
use crate::brain::opened::Opened;
use crate::brain::target::{self, Target};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::json::event::EventJson;
use crate::listing::{self, By};
use crate::output::context::Context;
use crate::render::plural;
use crate::when;

/// Options.
#[derive(Debug, Args)]
#[command(after_help = format!("Examples:
  amemctl query work
  amemctl query work --type decision --type skill --limit 10
  amemctl query work --session standup --order oldest
  amemctl query work --since \"2 days ago\" --axis happened
  amemctl query work --keyword database --where '{{\"speaker\":{{\"eq\":\"Ada\"}}}}'

{}", when::HELP))]
pub(crate) struct Query {
    #[arg(help = target::HELP)]
    brain: Target,
    /// The time that --since, --until and the order are about.
    #[arg(long, value_enum, default_value_t = By::Recorded)]
    axis: By,
    /// The order.
    #[arg(long, value_enum, default_value_t = Ordered::Newest)]
    order: Ordered,
    /// At most this many.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    /// Continue behind a page, with the token that it ended with.
    #[arg(long, value_name = "TOKEN")]
    after: Option<String>,
    #[command(flatten)]
    looking: Looking,
    #[command(flatten)]
    conditions: Conditions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ordered {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
    /// The strongest first.
    Strongest,
}

#[derive(Serialize)]
struct Told {
    as_of_lsn: Option<u64>,
    events: Vec<EventJson>,
    next: Option<String>,
}

impl Query {
    pub(crate) fn run(&self, cx: &mut Context) -> Result<Exit, Failure> {
        let opened = Opened::open(cx, &self.brain)?;
        let selection = self
            .conditions
            .selection(cx, &opened, &self.looking, self.axis)?;
        let order = match self.order {
            Ordered::Newest => v1::Order::Newest,
            Ordered::Oldest => v1::Order::Oldest,
            Ordered::Strongest => v1::Order::Strongest,
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
        let told = Told {
            as_of_lsn: self.looking.answered(moment),
            events: answer
                .events
                .iter()
                .map(EventJson::of)
                .collect::<Result<_, _>>()?,
            next: listing::next(&answer.next_page_token),
        };
        cx.answer(Some(&opened.named(moment)), &told, |page| {
            listing::table(&told.events, self.axis, page);
            page.aside(plural(told.events.len() as u64, "event"));
            listing::write_next(told.next.as_deref(), page);
            opened.write_notes(page);
        })?;
        opened.close(cx);
        Ok(Exit::Ok)
    }
}
